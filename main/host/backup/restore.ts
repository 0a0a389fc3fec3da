import * as m from '#messages/host-problems';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { moveFolderSync, removeTreeSync } from '../../../services/kit/platform/file-replacement.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { KeyWrapping } from '../vault/vault.ts';
import { isExcluded, returning, staging, type Manifest } from './archive.ts';
import { checkRestoredKey } from './restored-key.ts';
import type { NameRules, RenamedFile } from './restored-names.ts';
import { setAsideName } from './set-aside.ts';
import { unpackBackup, type UnpackedBackup } from './unpack.ts';

/** Outcome of a restore for the caller. */
interface RestoreSummary {
  /** Folder of the former content; undefined for none. */
  readonly former: string | undefined;
  /** Location of the tables: `elsewhere` when the archive does not contain them. */
  readonly tables: Manifest['tables'];
  /** Files that this system cannot store under their names in the backup. */
  readonly renamed: readonly RenamedFile[];
}

/**
 * Replaces the content of the data folder by a backup. Everything is unpacked beside it and verified (hashes, and
 * each database's integrity check) before anything is replaced; the former content remains in a separate folder.
 * The caller must have the data folder's lock.
 * @throws Problem `backup.damaged`, `backup.missing`, `backup.key_unusable`, `backup.not_empty`.
 */
export async function restoreBackup(
  dataDir: string,
  file: string,
  options: { readonly force: boolean; readonly rules?: NameRules },
): Promise<RestoreSummary> {
  // Data that an earlier interrupted restore has set aside must not be deleted with its temporary files.
  finishRestore(dataDir);
  const present = readdirSync(dataDir).filter((name) => !isExcluded(name));
  if (present.length > 0 && !options.force) {
    throw new Problem('backup.not_empty', 409, () => m.dataFolderNotEmpty({ dataDir }));
  }
  const { manifest, renamed } = await stageRestore(dataDir, file, options.rules);
  return { former: finishRestore(dataDir), tables: manifest.tables, renamed };
}

/**
 * First half of a restore: unpacks and verifies a backup beside the data for the next start. A previously staged one is
 * discarded.
 * @throws Problem `backup.damaged`, `backup.missing`, `backup.key_unusable`.
 */
export async function stageRestore(dataDir: string, file: string, rules?: NameRules): Promise<UnpackedBackup> {
  const unpacked = await unpackStaged(dataDir, file, rules);
  await completeStaged(dataDir, undefined);
  return unpacked;
}

/**
 * Unpacks a backup beside the data, which works in a thread of a running host. The next start discards it unless
 * {@link completeStaged} accepts it.
 * @throws Problem `backup.damaged`, `backup.missing`.
 */
export async function unpackStaged(dataDir: string, file: string, rules?: NameRules): Promise<UnpackedBackup> {
  const folder = join(dataDir, staging);
  // Removed first, so that a partly removed folder does not count as complete.
  rmSync(join(folder, 'complete'), { force: true });
  removeTreeSync(folder);
  const content = join(folder, 'content');
  mkdirSync(content, { recursive: true, mode: 0o700 });
  try {
    return await unpackBackup(file, content, rules);
  } catch (error) {
    removeTreeSync(folder);
    throw error;
  }
}

/**
 * Accepts the unpacked backup for the next start if its vault opens here, and discards it otherwise.
 * @throws Problem `backup.key_unusable`.
 */
export async function completeStaged(dataDir: string, wrapping: KeyWrapping | undefined): Promise<void> {
  const folder = join(dataDir, staging);
  try {
    await checkRestoredKey(join(folder, 'content'), wrapping);
    writeFileSync(join(folder, 'complete'), '');
  } catch (error) {
    removeTreeSync(folder);
    throw error;
  }
}

/**
 * Second half of a restore: swaps the contents. Also called at each start, which completes an interrupted swap and
 * discards an interrupted unpacking.
 * @returns folder of the former content, undefined when there was none or nothing was restored.
 */
export function finishRestore(dataDir: string): string | undefined {
  const folder = join(dataDir, staging);
  const complete = join(folder, 'complete');
  if (!existsSync(complete)) removeTreeSync(folder);
  const stagingFolder = join(dataDir, returning);
  if (existsSync(join(stagingFolder, 'content')) && !existsSync(folder)) stageReturn(stagingFolder, folder);
  if (!existsSync(folder)) return undefined;
  const content = join(folder, 'content');
  const formerPath = join(folder, 'former');
  const replacedFolder = join(folder, 'set-aside');
  if (!existsSync(replacedFolder)) {
    mkdirSync(formerPath, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(dataDir)) {
      if (!isExcluded(name)) moveFolderSync(join(dataDir, name), join(formerPath, name));
    }
    writeFileSync(replacedFolder, '');
  }
  // Either folder may be missing after an interruption behind its last step. Names that a backup omits are preserved.
  const incomingNames = existsSync(content) ? readdirSync(content).filter((name) => !isExcluded(name)) : [];
  for (const name of incomingNames) moveFolderSync(join(content, name), join(dataDir, name));
  let formerFolder: string | undefined;
  if (existsSync(formerPath) && readdirSync(formerPath).length > 0) {
    formerFolder = join(dataDir, setAsideName(Date.now()));
    moveFolderSync(formerPath, formerFolder);
  }
  // Removed first: without it, everything else counts as leftovers after a crash.
  rmSync(complete);
  removeTreeSync(folder);
  return formerFolder;
}

/**
 * Makes the next start restore data that was set aside; the current data is set aside as well. After an interruption
 * the following start continues.
 */
export function stageFormer(dataDir: string, formerPath: string): void {
  const stagingFolder = join(dataDir, returning);
  mkdirSync(stagingFolder, { recursive: true, mode: 0o700 });
  moveFolderSync(formerPath, join(stagingFolder, 'content'));
}

function stageReturn(stagingFolder: string, folder: string): void {
  writeFileSync(join(stagingFolder, 'complete'), '');
  moveFolderSync(stagingFolder, folder);
}
