import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runCommand } from '../../main/host/cli/commands.ts';
import { openHost } from '../../main/host/host.ts';
import type { Host } from '../../main/host/running-host.ts';
import type { KeyWrapping } from '../../main/host/vault/vault.ts';
import { writeBackup } from '../../main/host/backup/write.ts';
import { restoreBackup } from '../../main/host/backup/restore.ts';
import { builtPages, testEnvironment } from '../support/host.ts';
import { MoodyService } from '../renderer/memory-services.ts';

/** Key store of one account of one computer: it opens only what it wrapped itself. */
class AccountKeyStore implements KeyWrapping {
  readonly name = 'safe-storage';
  readonly #account: string;
  constructor(account: string) {
    this.#account = account;
  }
  wrap(bytes: Uint8Array): Promise<string> {
    return Promise.resolve(`${this.#account} ${Buffer.from(bytes).toString('base64')}`);
  }
  unwrap(text: string): Promise<Uint8Array> {
    const [account, key = ''] = text.split(' ');
    if (account !== this.#account) return Promise.reject(new Error('Error while decrypting the ciphertext.'));
    return Promise.resolve(Buffer.from(key, 'base64'));
  }
}

let work: string;
beforeEach(() => void (work = mkdtempSync(join(tmpdir(), 'homeport-backup-keys-'))));
afterEach(() => rmSync(work, { recursive: true, force: true }));

/** Desktop app of one account with its data folder; a restore reopens the host. */
class Desktop implements AsyncDisposable {
  readonly dataDir: string;
  readonly #backups = join(work, 'backups');
  readonly #keyStore: KeyWrapping | undefined;
  restarts = 0;
  #host: Host | undefined;
  constructor(name: string, keyStore: KeyWrapping | undefined) {
    this.dataDir = join(work, name);
    mkdirSync(this.dataDir, { recursive: true });
    this.#keyStore = keyStore;
  }
  async open(): Promise<Host> {
    await this.#host?.[Symbol.asyncDispose]();
    const keyStore = this.#keyStore === undefined ? {} : { keyStore: { safe: true, wrapping: this.#keyStore } };
    this.#host = await openHost({
      dataDir: this.dataDir,
      descriptors: [new MoodyService().descriptor],
      pages: builtPages,
      environment: testEnvironment(this.dataDir, { environment: { HOMEPORT_BACKUP_FOLDER: this.#backups } }),
      logWrite: () => undefined,
      restartHost: () => void (this.restarts += 1),
      ...keyStore,
    });
    return this.#host;
  }
  keyFile(): string {
    return readFileSync(join(this.dataDir, 'vault.key'), 'utf8');
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#host?.[Symbol.asyncDispose]();
  }
}

async function getSealed(host: Host): Promise<string> {
  await host.control.changeSettings('moody', { name: 'restored' });
  return (await host.control.backups.create()).name;
}

describe('backup of a data folder whose key is in a key store', () => {
  it.each([
    ['another key store', new AccountKeyStore('linus')],
    ['no key store', undefined],
  ])('restores under %s', async (_title, keyStore) => {
    await using first = new Desktop('first', new AccountKeyStore('ada'));
    const name = await getSealed(await first.open());
    expect(first.keyFile()).toContain('safe-storage');

    await using second = new Desktop('second', keyStore);
    const host = await second.open();
    await host.control.backups.restore(name);
    await vi.waitFor(() => expect(second.restarts).toBe(1));
    const { control } = await second.open();
    const fields = control.settings().sections.find(({ id }) => id === 'moody')?.fields;
    expect(fields?.find(({ name: field }) => field === 'name')?.value).toBe('restored');
    expect(second.keyFile().includes('safe-storage')).toBe(keyStore !== undefined);
  });

  it('restores after the key store has lost the key', async () => {
    await using first = new Desktop('first', new AccountKeyStore('before'));
    const name = await getSealed(await first.open());
    await first[Symbol.asyncDispose]();
    await using forgetful = new Desktop('first', new AccountKeyStore('after'));
    await expect(forgetful.open()).rejects.toMatchObject({ code: 'vault.key_refused' });

    const restored = join(work, 'restored');
    mkdirSync(restored);
    await restoreBackup(restored, join(work, 'backups', name), { force: false });
    await using again = new Desktop('restored', new AccountKeyStore('after'));
    await again.open();
    expect(again.keyFile()).toContain('after');
  });
});

describe('backup with a key that does not open here', () => {
  /** Writes a backup as earlier versions did: with the wrapped key. */
  async function writeWrapped(account: string): Promise<string> {
    await using first = new Desktop('first', new AccountKeyStore(account));
    await first.open();
    await first[Symbol.asyncDispose]();
    mkdirSync(join(work, 'backups'), { recursive: true });
    await writeBackup(first.dataDir, join(work, 'backups', 'homeport-2026-01-01-000000.tar.gz'));
    return 'homeport-2026-01-01-000000.tar.gz';
  }

  it('is refused by a running host, which continues with its data', async () => {
    const name = await writeWrapped('ada');
    await using second = new Desktop('second', new AccountKeyStore('linus'));
    const { control } = await second.open();
    const keyFile = second.keyFile();
    await expect(control.backups.restore(name)).rejects.toMatchObject({ code: 'backup.key_unusable', status: 422 });
    expect(second.restarts).toBe(0);
    await second.open();
    expect(second.keyFile()).toBe(keyFile);
  });

  it('restores under the key store that wrapped the key', async () => {
    const name = await writeWrapped('ada');
    await using second = new Desktop('second', new AccountKeyStore('ada'));
    const { control } = await second.open();
    await control.backups.restore(name);
    await vi.waitFor(() => expect(second.restarts).toBe(1));
    await second.open();
  });

  it('is refused by the command, which has no key store', async () => {
    const name = await writeWrapped('ada');
    const target = join(work, 'target');
    mkdirSync(target);
    writeFileSync(join(target, 'homeport.yaml'), 'version: 1\n');
    await expect(restoreBackup(target, join(work, 'backups', name), { force: true })).rejects.toMatchObject({
      code: 'backup.key_unusable',
    });
    expect(readFileSync(join(target, 'homeport.yaml'), 'utf8')).toBe('version: 1\n');
  });

  it('is refused when its key is that of another folder', async () => {
    await using first = new Desktop('first', undefined);
    await first.open();
    await first[Symbol.asyncDispose]();
    writeFileSync(join(first.dataDir, 'vault.key'), `${Buffer.alloc(32, 7).toString('base64')}\n`);
    const file = join(work, 'foreign.tar.gz');
    await writeBackup(first.dataDir, file);
    const target = join(work, 'target');
    mkdirSync(target);
    await expect(restoreBackup(target, file, { force: false })).rejects.toMatchObject({ code: 'backup.key_unusable' });
  });

  it('is not written by the command', async () => {
    await using first = new Desktop('first', new AccountKeyStore('ada'));
    await first.open();
    await first[Symbol.asyncDispose]();
    const command = { name: 'backup', dataDir: first.dataDir, file: join(work, 'by-command.tar.gz') } as const;
    const location = {
      dataDir: first.dataDir,
      descriptors: [new MoodyService().descriptor],
    };
    await expect(runCommand(command, location)).rejects.toMatchObject({ code: 'backup.key_wrapped' });
  });
});
