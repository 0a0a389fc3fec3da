import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Log, Vault } from '../../../services/contracts/service.ts';
import { readKeyFile, writeKeyFile, type KeptKey } from './key-file.ts';

/** An outside key store (a desktop's keyring) that keeps the data key for us. */
export interface KeyWrapping {
  /** Stored beside the wrapped key, to tell which store can open it. */
  readonly name: string;
  wrap(bytes: Uint8Array): Promise<string>;
  unwrap(text: string): Promise<Uint8Array>;
  /** Whether what was unwrapped last should be wrapped anew, since the store has a newer key or a safer one. */
  readonly outdated?: () => boolean;
}

export interface VaultOptions {
  /** Holds `vault.key`. */
  readonly folder: string;
  /** How the key is kept from now on; without it in plain text in the key file, which only its owner may read. */
  readonly wrapping?: KeyWrapping;
  /** A key store that may still keep the key and is to be left: opening moves the key to `wrapping` or to the key file. */
  readonly formerly?: KeyWrapping;
  /** Make a key when there is none. Only for a new data folder: a new key cannot open old secrets. */
  readonly create?: boolean;
  readonly log: Log;
}

const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const version = 'v1.';

/**
 * Opens the vault: AES-256-GCM under one random data key.
 * @throws Problem `vault.key_missing`, `vault.key_wrapped` (another key store keeps it), `vault.key_refused` (the key
 * store failed), `vault.key_damaged`; all 500 and not retryable.
 */
export async function openVault(options: VaultOptions): Promise<Vault> {
  const path = join(options.folder, 'vault.key');
  const kept = await readKeyFile(path, options.log);
  if (kept === undefined && options.create !== true) {
    throw keyProblem(
      'vault.key_missing',
      `The vault's key ${path} is missing, so stored secrets cannot be read. Put the file back from a backup, or restore the whole backup.`,
    );
  }
  // The nonces and the key come from node:crypto on purpose: GCM breaks when a random source repeats itself.
  const key = kept === undefined ? randomBytes(keyBytes) : await release(kept, path, options);
  const keptRight = kept !== undefined && (kept.kind === 'plain' ? undefined : kept.by) === options.wrapping?.name;
  if (!keptRight || options.wrapping?.outdated?.() === true) {
    await writeKeyFile(path, await keep(key, options.wrapping));
    options.log.info(kept === undefined ? 'vault key made' : keptRight ? 'vault key wrapped anew' : 'vault key moved', {
      keptBy: options.wrapping?.name ?? 'key file',
    });
  }
  return vaultUnder(key);
}

async function release(kept: KeptKey, path: string, { wrapping, formerly }: VaultOptions): Promise<Buffer> {
  if (kept.kind === 'plain') return checkedKey(decodeExactly(kept.text, 'base64'), path);
  const keeper = [wrapping, formerly].find((one) => one?.name === kept.by);
  if (keeper === undefined) {
    throw keyProblem(
      'vault.key_wrapped',
      `The vault's key is kept by "${kept.by}", which is not available here. Start Homeport as the desktop app, or restore a backup with its key.`,
    );
  }
  let bytes: Uint8Array;
  try {
    bytes = await keeper.unwrap(kept.text);
  } catch (cause) {
    throw keyProblem(
      'vault.key_refused',
      `"${kept.by}" did not give the vault's key. Unlock it and start Homeport again.`,
      cause,
    );
  }
  return checkedKey(Buffer.from(bytes), path);
}

async function keep(key: Buffer, wrapping: KeyWrapping | undefined): Promise<KeptKey> {
  if (wrapping === undefined) return { kind: 'plain', text: key.toString('base64') };
  const text = await wrapping.wrap(key);
  // A key store that gives back something else would lose every secret for good, so it is asked before the old key goes.
  if (!key.equals(await wrapping.unwrap(text))) {
    throw keyProblem(
      'vault.key_refused',
      `"${wrapping.name}" does not give back what it is given; the vault's key was left as it is.`,
    );
  }
  return { kind: 'wrapped', by: wrapping.name, text };
}

function checkedKey(key: Buffer | undefined, path: string): Buffer {
  if (key?.length === keyBytes) return key;
  throw keyProblem('vault.key_damaged', `The vault's key ${path} is damaged. Put the file back from a backup.`);
}

function vaultUnder(key: Buffer): Vault {
  // A key of its own: the data key serves nothing but AES.
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

/** Node decodes leniently; a text that is not exactly what encoding would give was changed. */
function decodeExactly(text: string, encoding: 'base64' | 'base64url'): Buffer | undefined {
  const bytes = Buffer.from(text, encoding);
  return bytes.toString(encoding) === text ? bytes : undefined;
}

function unreadable(cause?: unknown): Problem {
  return new Problem(
    'vault.unreadable',
    500,
    'A stored secret cannot be read: it was sealed under another key or changed. Enter it again.',
    {
      cause,
      retryable: false,
    },
  );
}

function keyProblem(code: string, detail: string, cause?: unknown): Problem {
  return new Problem(code, 500, detail, { cause, retryable: false });
}
