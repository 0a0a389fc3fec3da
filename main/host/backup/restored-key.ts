import * as m from '#messages/host-problems';
import { join } from 'node:path';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Log } from '../../../services/contracts/service.ts';
import { checkKey, readSealedCheck } from '../vault/key-check.ts';
import { readKeyFile } from '../vault/key-file.ts';
import { openVault, type KeyWrapping } from '../vault/vault.ts';

/** Messages about a key that opens nothing become the reason of the refusal. */
const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/**
 * Opens the vault of an unpacked backup with the key in it, before the backup replaces anything.
 * @param wrapping Key store of this desktop. Backups of earlier versions contain the key as a key store wrapped it, and
 * open only under the same one.
 * @throws Problem `backup.key_unusable` (422).
 */
export async function checkRestoredKey(content: string, wrapping: KeyWrapping | undefined): Promise<void> {
  const path = join(content, 'vault.key');
  const storedKey = await readKeyFile(path, silentLog);
  const folder = join(content, 'host');
  const sealed = await readSealedCheck(folder);
  if (sealed === undefined && storedKey?.kind !== 'wrapped') return;
  try {
    const isWrapped = storedKey?.kind === 'wrapped' && storedKey.by === wrapping?.name;
    const vault = await openVault({ folder: content, log: silentLog, ...(isWrapped && { wrapping }) });
    if (sealed !== undefined) await checkKey(vault, folder, path);
  } catch (cause) {
    if (!(cause instanceof Problem)) throw cause;
    throw new Problem('backup.key_unusable', 422, () => m.backupKeyUnusable({ reason: describe(storedKey?.kind) }), {
      cause,
    });
  }
}

function describe(kind: 'plain' | 'wrapped' | undefined): string {
  if (kind === undefined) return m.backupKeyMissing();
  if (kind === 'plain') return m.backupKeyWrong();
  return m.backupKeyLocked();
}

/**
 * Returns whether the vault's key can be read without the desktop's key store, so that a copy of the data folder can be
 * restored anywhere.
 */
export async function isKeyReadable(dataDir: string): Promise<boolean> {
  return (await readKeyFile(join(dataDir, 'vault.key'), silentLog))?.kind !== 'wrapped';
}
