import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import ssh2 from 'ssh2';
import type { Context } from '../../contracts/service.ts';
import { replaceFile } from '../../kit/platform/file-replacement.ts';
import type { Tables } from '../store/tables.ts';
import { buildUnreadableKeyProblem, loadOrCreateKey } from '../../kit/stored-key.ts';

/** Old clients do not support Ed25519. */
const keyTypes = [
  ['ed25519', undefined],
  ['rsa', { bits: 3072 }],
] as const;
type KeyKind = (typeof keyTypes)[number][0];

/** Storage of the keys. */
export type HostKeyContext = Pick<Context, 'clock' | 'commit' | 'db' | 'files' | 'log' | 'vault'>;

/**
 * Reads the host keys of this server, which are the same on all hosts: clients refuse a server whose key changed. They
 * are generated at the first start. Earlier versions stored them in files, which are moved to the table. If several hosts
 * had different keys, the one of the first host remains in use, and the others keep theirs in a renamed file.
 */
export async function readHostKeys(context: HostKeyContext): Promise<readonly string[]> {
  return Promise.all(keyTypes.map(([kind, options]) => readHostKey(context, kind, options)));
}

async function readHostKey(
  context: HostKeyContext,
  kind: KeyKind,
  options: { readonly bits: number } | undefined,
): Promise<string> {
  const path = join(context.files, `ssh_host_${kind}_key`);
  const name = `ssh-${kind}`;
  const isStored = await hasKey(context.db, name);
  const newKey = isStored ? undefined : ((await readFormerKey(path, kind)) ?? (await generateKey(kind, options)));
  const key = await loadOrCreateKey(context, { table: 'host_keys', name, purpose: `git.host-key.${kind}` }, () => {
    if (newKey === undefined) throw new Error(`the host key ${name} was removed`);
    return newKey;
  });
  await removeFormerFile(context, path, key);
  return key;
}

/** Removes the file of an earlier version. A different key is kept: clients may know this host by it. */
async function removeFormerFile({ clock, log }: HostKeyContext, path: string, key: string): Promise<void> {
  const text = await readFileIfExists(path);
  if (text === undefined) return;
  if (text === key) return rm(path, { force: true });
  const newPath = `${path}.replaced-${String(clock.now())}`;
  await replaceFile(path, newPath);
  log.warn('ssh host key replaced by the key of the other hosts', { file: newPath });
}

async function readFileIfExists(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}

async function hasKey(db: Kysely<Tables>, name: string): Promise<boolean> {
  return (await db.selectFrom('host_keys').select('name').where('name', '=', name).executeTakeFirst()) !== undefined;
}

/** Reads the file of an earlier version. @throws Problem `vault.key_unreadable` (503) */
async function readFormerKey(path: string, kind: KeyKind): Promise<string | undefined> {
  const text = await readFileIfExists(path);
  // The file is truncated or was changed. Clients verify the server by this key, so it is never replaced automatically.
  if (text !== undefined && ssh2.utils.parseKey(text) instanceof Error)
    throw buildUnreadableKeyProblem('git', `ssh-${kind}`);
  return text;
}

async function generateKey(kind: KeyKind, options: { readonly bits: number } | undefined): Promise<string> {
  for (;;) {
    const text = await new Promise<string>((resolve, reject) => {
      const callback = (error: Error | null, keys: { readonly private: string }): void => {
        if (error === null) resolve(keys.private);
        else reject(error);
      };
      if (kind === 'rsa') ssh2.utils.generateKeyPair('rsa', { bits: options?.bits ?? 3072 }, callback);
      else ssh2.utils.generateKeyPair('ed25519', callback);
    });
    // The library sometimes writes an Ed25519 key that it cannot read.
    if (!(ssh2.utils.parseKey(text) instanceof Error)) return text;
  }
}
