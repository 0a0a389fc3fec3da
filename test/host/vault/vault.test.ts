import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openVault, type KeyWrapping } from '../../../main/host/vault/vault.ts';
import type { Log } from '../../../services/contracts/service.ts';

let folder: string;
let warnings: string[];
let log: Log;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vault-'));
  warnings = [];
  log = { debug: () => {}, info: () => {}, warn: (message) => void warnings.push(message), error: () => {} };
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const keyFile = () => join(folder, 'vault.key');

/** Keyring that reverses the bytes. */
const keyring: KeyWrapping = {
  name: 'keyring',
  wrap: async (bytes) => Buffer.from(bytes).reverse().toString('hex'),
  unwrap: async (text) => Buffer.from(text, 'hex').reverse(),
};

describe('seal and open', () => {
  test('opens what it sealed, also after a restart', async () => {
    const sealed = (await openVault({ folder, create: true, log })).seal('Grüße \0 🔑', 'mail.password');
    expect(sealed).toMatch(/^v1\.[A-Za-z0-9_-]+$/);
    expect((await openVault({ folder, log })).open(sealed, 'mail.password')).toBe('Grüße \0 🔑');
  });

  test('seals empty text like any other', async () => {
    const vault = await openVault({ folder, create: true, log });
    expect(vault.open(vault.seal('', 'p'), 'p')).toBe('');
  });

  test('returns a different seal each time', async () => {
    const vault = await openVault({ folder, create: true, log });
    expect(vault.seal('same', 'p')).not.toBe(vault.seal('same', 'p'));
  });

  test('returns equal fingerprints only for the same text, purpose and key', async () => {
    const vault = await openVault({ folder, create: true, log });
    const mark = vault.fingerprint('word', 'p');
    expect(mark).toMatch(/^[0-9a-f]{64}$/);
    expect((await openVault({ folder, log })).fingerprint('word', 'p')).toBe(mark);
    expect([vault.fingerprint('word', 'q'), vault.fingerprint('words', 'p')]).not.toContain(mark);
    await rm(join(folder, 'vault.key'));
    expect((await openVault({ folder, create: true, log })).fingerprint('word', 'p')).not.toBe(mark);
  });

  test('rejects another purpose, another key and every changed character', async () => {
    const vault = await openVault({ folder, create: true, log });
    const sealed = vault.seal('secret', 'p');
    const refusal = expect.objectContaining({ code: 'vault.unreadable', status: 500 });
    expect(() => vault.open(sealed, 'q')).toThrow(refusal);
    await rm(keyFile());
    const other = await openVault({ folder, create: true, log });
    expect(() => other.open(sealed, 'p')).toThrow(refusal);
    for (let index = 0; index < sealed.length; index += 1) {
      const changed = sealed.slice(0, index) + (sealed[index] === 'A' ? 'B' : 'A') + sealed.slice(index + 1);
      expect(() => vault.open(changed, 'p'), `character ${index}`).toThrow(refusal);
    }
  });

  test.each(['', 'v1.', 'v1.AAAA', 'v2.AAAA', 'plain text', 'v1.!!!!', `v1.${'A'.repeat(100_000)}`])(
    'rejects %.20s',
    async (text) => {
      const vault = await openVault({ folder, create: true, log });
      expect(() => vault.open(text, 'p')).toThrow(expect.objectContaining({ code: 'vault.unreadable' }));
    },
  );

  test('omits the secret and the sealed text from errors', async () => {
    const vault = await openVault({ folder, create: true, log });
    const sealed = vault.seal('hunter2', 'p');
    expect(() => vault.open(sealed, 'q')).toThrow(
      expect.objectContaining({ detail: expect.not.stringContaining(sealed.slice(3)) as string }),
    );
  });
});

describe('key file', () => {
  test('is readable by its owner only and leaves no temporary file', async () => {
    await openVault({ folder, create: true, log });
    expect((await stat(keyFile())).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(['vault.key']);
    expect(Buffer.from(await readFile(keyFile(), 'utf8'), 'base64')).toHaveLength(32);
  });

  test('is reported and not created when missing in a known data folder', async () => {
    await expect(openVault({ folder, log })).rejects.toMatchObject({
      code: 'vault.key_missing',
      detail: expect.stringContaining('backup') as string,
    });
    expect(await readdir(folder)).toEqual([]);
  });

  test('is never replaced, even when told to create', async () => {
    const sealed = (await openVault({ folder, create: true, log })).seal('x', 'p');
    expect((await openVault({ folder, create: true, log })).open(sealed, 'p')).toBe('x');
  });

  test('is tightened and logged with open permissions', async () => {
    await openVault({ folder, create: true, log });
    await chmod(keyFile(), 0o644);
    await openVault({ folder, log });
    expect((await stat(keyFile())).mode & 0o777).toBe(0o600);
    expect(warnings).toHaveLength(1);
  });

  test.each(['', 'AAAA', '{"wrapping":', 'not base64 at all'])(
    'is reported and unchanged when damaged (%j)',
    async (text) => {
      await writeFile(keyFile(), text, { mode: 0o600 });
      await expect(openVault({ folder, create: true, log })).rejects.toMatchObject({ code: 'vault.key_damaged' });
      expect(await readFile(keyFile(), 'utf8')).toBe(text);
    },
  );
});

describe('wrapped key', () => {
  test('moves from key file to keyring and back', async () => {
    const vault = await openVault({ folder, create: true, log });
    const sealed = vault.seal('kept', 'p');
    const plainKey = (await readFile(keyFile(), 'utf8')).trim();

    expect((await openVault({ folder, wrapping: keyring, log })).open(sealed, 'p')).toBe('kept');
    expect(await readFile(keyFile(), 'utf8')).not.toContain(plainKey);
    expect((await openVault({ folder, wrapping: keyring, log })).open(sealed, 'p')).toBe('kept');

    expect((await openVault({ folder, formerWrapping: keyring, log })).open(sealed, 'p')).toBe('kept');
    expect((await readFile(keyFile(), 'utf8')).trim()).toBe(plainKey);
    expect((await stat(keyFile())).mode & 0o777).toBe(0o600);
  });

  test('moves from one keyring to another', async () => {
    const sealed = (await openVault({ folder, create: true, wrapping: keyring, log })).seal('kept', 'p');
    const next = { ...keyring, name: 'next' };
    expect((await openVault({ folder, wrapping: next, formerWrapping: keyring, log })).open(sealed, 'p')).toBe('kept');
    expect((await openVault({ folder, wrapping: next, log })).open(sealed, 'p')).toBe('kept');
  });

  test('is not opened without its keyring', async () => {
    await openVault({ folder, create: true, wrapping: keyring, log });
    await expect(openVault({ folder, log })).rejects.toMatchObject({
      code: 'vault.key_wrapped',
      detail: expect.stringContaining('keyring') as string,
    });
  });

  test('is unchanged when a keyring refuses or loses data', async () => {
    await openVault({ folder, create: true, log });
    const before = await readFile(keyFile(), 'utf8');
    const wrongKeyring = { ...keyring, unwrap: async () => Buffer.alloc(32) };
    await expect(openVault({ folder, wrapping: wrongKeyring, log })).rejects.toMatchObject({
      code: 'vault.key_refused',
    });
    expect(await readFile(keyFile(), 'utf8')).toBe(before);

    await openVault({ folder, wrapping: keyring, log });
    const locked = { ...keyring, unwrap: () => Promise.reject(new Error('locked')) };
    await expect(openVault({ folder, wrapping: locked, log })).rejects.toMatchObject({ code: 'vault.key_refused' });
  });
});
