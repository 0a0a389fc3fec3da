import * as m from '#messages/host-problems';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Vault } from '../../../services/contracts/service.ts';
import { replacePrivateFile } from './key-file.ts';

const purpose = 'vault.check';
const checkText = 'homeport';
const checkName = 'vault.check';

/**
 * Verifies that the vault's key belongs to this data folder, by a text sealed at the first start. Otherwise the key
 * of another folder would be accepted, and new secrets would be sealed beside old ones that cannot be opened.
 * @throws Problem `vault.key_foreign` (500)
 */
export async function checkKey(vault: Vault, folder: string, keyFile: string): Promise<void> {
  const sealed = await readSealedCheck(folder);
  if (sealed === undefined) return replacePrivateFile(join(folder, checkName), `${vault.seal(checkText, purpose)}\n`);
  try {
    vault.open(sealed.trim(), purpose);
  } catch (cause) {
    if (!(cause instanceof Problem)) throw cause;
    const detail = (): string => m.keyMismatch({ keyFile });
    throw new Problem('vault.key_foreign', 500, detail, { cause, retryable: false });
  }
}

/** Returns the text that the vault's key has to open; undefined before the first start. */
export async function readSealedCheck(folder: string): Promise<string | undefined> {
  return await readFile(join(folder, checkName), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}
