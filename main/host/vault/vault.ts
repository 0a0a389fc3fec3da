import * as m from '#messages/host-problems';
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Log, Vault } from '../../../services/contracts/service.ts';
import { readKeyFile, writeKeyFile, type StoredKey } from './key-file.ts';
import type { ProvidedKey } from './provided-key.ts';

/** External key store (a desktop's keyring) that stores the data key. */
export interface KeyWrapping {
  /** Stored beside the wrapped key, to identify the store that can open it. */
  readonly name: string;
  wrap(bytes: Uint8Array): Promise<string>;
  unwrap(text: string): Promise<Uint8Array>;
  /** Returns whether the last unwrapped key should be wrapped again, since the store has a newer or more secure key. */
  readonly outdated?: () => boolean;
}

export interface VaultOptions {
  /** Folder of `vault.key`. */
  readonly folder: string;
  /**
   * Key store to use from now on; by default the key is in plain text in the key file, which only its owner may read.
   */
  readonly wrapping?: KeyWrapping;
  /** Former key store that may still have the key: opening moves the key to `wrapping` or to the key file. */
  readonly formerWrapping?: KeyWrapping;
  /** Creates a key if there is none. Only for a new data folder, since a new key cannot open old secrets. */
  readonly create?: boolean;
  /** Key from outside of the data folder, which is used instead of the key file and is not stored. */
  readonly provided?: ProvidedKey | undefined;
  readonly log: Log;
}

/** Keys of the open vaults. The vault itself does not expose its key, since every service receives it. */
const keys = new WeakMap<Vault, Buffer>();

const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const version = 'v1.';

/**
 * Opens the vault: AES-256-GCM with one random data key.
 * @throws Problem `vault.key_missing`, `vault.key_wrapped` (another key store has it), `vault.key_refused` (the key
 * store failed), `vault.key_damaged`; all 500 and not retryable.
 */
export async function openVault(options: VaultOptions): Promise<Vault> {
  const key = options.provided === undefined ? await loadOrCreateKey(options) : parseProvidedKey(options.provided);
  const vault = createVault(key);
  keys.set(vault, key);
  return vault;
}

function parseProvidedKey({ text, source }: ProvidedKey): Buffer {
  const key = decodeExactly(text, 'base64');
  if (key?.length === keyBytes) return key;
  throw buildKeyProblem('vault.key_damaged', () => m.keyInvalid({ source, bytes: String(keyBytes) }));
}

async function loadOrCreateKey(options: VaultOptions): Promise<Buffer> {
  const path = join(options.folder, 'vault.key');
  const storedKey = await readKeyFile(path, options.log);
  if (storedKey === undefined && options.create !== true) {
    throw buildKeyProblem('vault.key_missing', () => m.keyMissing({ path }));
  }
  // Nonces and key come directly from node:crypto: GCM is insecure when a random source repeats.
  const key = storedKey === undefined ? randomBytes(keyBytes) : await loadKey(storedKey, path, options);
  const isStoredCorrectly =
    storedKey !== undefined && (storedKey.kind === 'plain' ? undefined : storedKey.by) === options.wrapping?.name;
  if (!isStoredCorrectly || options.wrapping?.outdated?.() === true) {
    await writeKeyFile(path, await storeKey(key, options.wrapping));
    const keptBy = options.wrapping?.name ?? 'key file';
    if (storedKey === undefined) options.log.info('vault key created', { event: 'vault_key_created', keptBy });
    else options.log.info(isStoredCorrectly ? 'vault key rewrapped' : 'vault key moved', { keptBy });
  }
  return key;
}

/** Returns the content of a key file with the unwrapped key of a vault, which opens on every computer. */
export function exportKeyFile(vault: Vault): string {
  const key = keys.get(vault);
  if (key === undefined) throw new Error('the key of this vault is unknown');
  return `${key.toString('base64')}\n`;
}

async function loadKey(
  storedKey: StoredKey,
  path: string,
  { wrapping, formerWrapping }: VaultOptions,
): Promise<Buffer> {
  if (storedKey.kind === 'plain') return checkedKey(decodeExactly(storedKey.text, 'base64'), path);
  const keyStore = [wrapping, formerWrapping].find((one) => one?.name === storedKey.by);
  if (keyStore === undefined) {
    throw buildKeyProblem('vault.key_wrapped', () => m.keyStoreUnavailable({ store: storedKey.by }));
  }
  let bytes: Uint8Array;
  try {
    bytes = await keyStore.unwrap(storedKey.text);
  } catch (cause) {
    throw buildKeyProblem('vault.key_refused', () => m.keyStoreRefused({ store: storedKey.by }), cause);
  }
  return checkedKey(Buffer.from(bytes), path);
}

async function storeKey(key: Buffer, wrapping: KeyWrapping | undefined): Promise<StoredKey> {
  if (wrapping === undefined) return { kind: 'plain', text: key.toString('base64') };
  const text = await wrapping.wrap(key);
  // A key store that returns something else would lose every secret, so it is tested before the old key is removed.
  if (!key.equals(await wrapping.unwrap(text))) {
    throw buildKeyProblem('vault.key_refused', () => m.keyStoreUnreliable({ store: wrapping.name }));
  }
  return { kind: 'wrapped', by: wrapping.name, text };
}

function checkedKey(key: Buffer | undefined, path: string): Buffer {
  if (key?.length === keyBytes) return key;
  throw buildKeyProblem('vault.key_damaged', () => m.keyDamaged({ path }));
}

function createVault(key: Buffer): Vault {
  // Derived key, so that the data key is used for AES only.
  const marking = Buffer.from(hkdfSync('sha256', key, '', 'homeport fingerprint', keyBytes));
  return {
    seal(text, purpose) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
      cipher.setAAD(Buffer.from(version + purpose));
      const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return version + sealed.toString('base64url');
    },

    open(sealed, purpose) {
      const bytes = sealed.startsWith(version) ? decodeExactly(sealed.slice(version.length), 'base64url') : undefined;
      if (bytes === undefined || bytes.length < nonceBytes + tagBytes) throw unreadable();
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes), {
          authTagLength: tagBytes,
        });
        decipher.setAAD(Buffer.from(version + purpose));
        decipher.setAuthTag(bytes.subarray(-tagBytes));
        return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()]).toString(
          'utf8',
        );
      } catch (cause) {
        throw unreadable(cause);
      }
    },

    fingerprint: (text, purpose) => createHmac('sha256', marking).update(`${version}${purpose}\0${text}`).digest('hex'),
  };
}

/** Node decodes leniently; text that is not exactly the canonical encoding was modified. */
function decodeExactly(text: string, encoding: 'base64' | 'base64url'): Buffer | undefined {
  const bytes = Buffer.from(text, encoding);
  return bytes.toString(encoding) === text ? bytes : undefined;
}

function unreadable(cause?: unknown): Problem {
  return new Problem('vault.unreadable', 500, m.secretUnreadable, {
    cause,
    retryable: false,
  });
}

function buildKeyProblem(code: string, detail: () => string, cause?: unknown): Problem {
  return new Problem(code, 500, detail, { cause, retryable: false });
}
