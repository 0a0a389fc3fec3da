import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runCommand } from '../../../main/host/cli/commands.ts';
import { push } from '../../../services/push/index.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { openPostgresDatabase } from '../../support/postgres.ts';

const key = randomBytes(32).toString('base64');
const otherKey = randomBytes(32).toString('base64');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'provided-key-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Starts a host with the push service, whose web push keys are sealed in its database. */
function start(environment: Readonly<Record<string, string>>, dataDir = join(folder, 'data')): Promise<TestHost> {
  return openTestHost({ services: [push], dataDir, environment });
}

async function readPublicKey(host: TestHost): Promise<string> {
  const reply = await fetch(`${host.url('push')}/v1/config`);
  const { web_push_public_key: publicKey } = (await reply.json()) as { readonly web_push_public_key: string };
  expect(publicKey).toMatch(/^[\w-]{80,}$/);
  return publicKey;
}

function writeKeyProgram(content: string): string {
  const file = join(folder, 'print-key');
  writeFileSync(file, `#!/bin/sh\n${content}\n`);
  chmodSync(file, 0o755);
  return file;
}

describe('key of the vault from the environment', () => {
  it('is used instead of a key file, from a variable, a file and a command', async () => {
    const file = join(folder, 'key');
    writeFileSync(file, `${key}\n`);
    const sources = [
      { HOMEPORT_VAULT_KEY: key },
      { HOMEPORT_VAULT_KEY_FILE: file },
      { HOMEPORT_VAULT_KEY_COMMAND: `${writeKeyProgram(`echo "$1"`)} ${key}` },
    ];
    const publicKeys = new Set<string>();
    for (const source of sources) {
      await using host = await start(source);
      publicKeys.add(await readPublicKey(host));
    }

    expect(publicKeys.size).toBe(1);
    expect(existsSync(join(folder, 'data', 'vault.key'))).toBe(false);
  });

  it('continues with the key of a former key file', async () => {
    const former = await start({});
    const publicKey = await readPublicKey(former);
    await former[Symbol.asyncDispose]();
    const formerKey = readFileSync(join(folder, 'data', 'vault.key'), 'utf8').trim();
    rmSync(join(folder, 'data', 'vault.key'));

    await using host = await start({ HOMEPORT_VAULT_KEY: formerKey });

    expect(await readPublicKey(host)).toBe(publicKey);
  });

  it.each([
    ['a key of another length', { HOMEPORT_VAULT_KEY: 'short' }, 'vault.key_damaged'],
    ['two sources', { HOMEPORT_VAULT_KEY: key, HOMEPORT_VAULT_KEY_FILE: '/nowhere' }, 'vault.key_unavailable'],
    ['a missing file', { HOMEPORT_VAULT_KEY_FILE: '/nowhere/key' }, 'vault.key_unavailable'],
    ['a missing program', { HOMEPORT_VAULT_KEY_COMMAND: '/nowhere/program' }, 'vault.key_unavailable'],
  ])('refuses %s', async (_, environment, code) => {
    await expect(start(environment)).rejects.toMatchObject({ code });
  });

  it('does not repeat the output of a failed command', async () => {
    const command = writeKeyProgram(`echo ${key}; echo ${key} >&2; exit 3`);

    const error: unknown = await start({ HOMEPORT_VAULT_KEY_COMMAND: command }).catch((reason: unknown) => reason);

    expect(error).toMatchObject({
      code: 'vault.key_unavailable',
      detail: expect.stringContaining('failed with code 3'),
    });
    expect(JSON.stringify(error)).not.toContain(key);
  });

  it('refuses another key than the one that the data folder was started with', async () => {
    const former = await start({ HOMEPORT_VAULT_KEY: key });
    await former[Symbol.asyncDispose]();

    await expect(start({ HOMEPORT_VAULT_KEY: otherKey })).rejects.toMatchObject({ code: 'vault.key_foreign' });
  });
});

describe('the command "backup"', () => {
  it('writes a key from the environment into the backup, which restores without it', async () => {
    const former = await start({ HOMEPORT_VAULT_KEY: key });
    const publicKey = await readPublicKey(former);
    await former[Symbol.asyncDispose]();
    const file = join(folder, 'backup.tar.gz');
    const restored = join(folder, 'restored');
    vi.stubEnv('HOMEPORT_VAULT_KEY', key);
    await runCommand(
      { name: 'backup', dataDir: undefined, file },
      { dataDir: join(folder, 'data'), descriptors: [push] },
    );
    vi.unstubAllEnvs();

    const command = { name: 'restore', dataDir: undefined, file, force: false } as const;
    await runCommand(command, { dataDir: restored, descriptors: [push] });

    await using host = await start({}, restored);
    expect(await readPublicKey(host)).toBe(publicKey);
  });
});

describe('a host that shares a database', () => {
  it('shares stored keys with hosts that have the same key of the vault', async () => {
    await using database = await openPostgresDatabase();
    const environment = { HOMEPORT_DATABASE_URL: database.url, HOMEPORT_VAULT_KEY: key };

    await using first = await start(environment, join(folder, 'first'));
    await using second = await start(environment, join(folder, 'second'));

    expect(await readPublicKey(second)).toBe(await readPublicKey(first));
  });

  it('refuses to start with another key, and keeps what the others stored', async () => {
    await using database = await openPostgresDatabase();
    const url = { HOMEPORT_DATABASE_URL: database.url };
    await using first = await start({ ...url, HOMEPORT_VAULT_KEY: key }, join(folder, 'first'));
    const publicKey = await readPublicKey(first);

    const refusal = start({ ...url, HOMEPORT_VAULT_KEY: otherKey }, join(folder, 'second'));

    await expect(refusal).rejects.toMatchObject({
      code: 'vault.key_foreign',
      detail: expect.stringContaining('HOMEPORT_VAULT_KEY'),
    });
    await using third = await start({ ...url, HOMEPORT_VAULT_KEY: key }, join(folder, 'third'));
    expect(await readPublicKey(third)).toBe(publicKey);
  });
});
