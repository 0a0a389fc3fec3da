import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Problem } from '../../../services/contracts/problem.ts';
import { isLeftOut, returning, staging, type Manifest } from './archive.ts';
import { setAsideName } from './set-aside.ts';
import { unpackBackup } from './unpack.ts';

/**
 * Puts a backup in place of the data folder's content. Everything is unpacked beside it and verified (hashes, and each
 * database's own integrity check) before anything is replaced; what was there before stays in a folder of its own.
 * The caller holds the data folder's lock.
 * @returns `former`: where the former content is, undefined when there was none; `tables`: whether the archive holds them.
 * @throws Problem `backup.damaged`, `backup.missing`, `backup.not_empty`.
 */
export async function restoreBackup(
  dataDir: string,
  file: string,
  options: { readonly force: boolean },
): Promise<{ readonly former: string | undefined; readonly tables: Manifest['tables'] }> {
  // What an earlier one that was cut off has set aside must not go with its leftovers.
  finishRestore(dataDir);
  const present = readdirSync(dataDir).filter((name) => !isLeftOut(name));
  if (present.length > 0 && !options.force) {
    throw new Problem(
      'backup.not_empty',
      409,
      `${dataDir} is not empty. Add --force to replace its content; it is kept aside.`,
    );
  }
  const { tables } = await stageRestore(dataDir, file);
  return { former: finishRestore(dataDir), tables };
}

/**
 * The first half of a restore, which a running host can do: unpacks and verifies a backup beside the data, which the next
 * start puts in their place. One that was staged before is given up.
 * @throws Problem `backup.damaged`, `backup.missing`.
 */
export async function stageRestore(dataDir: string, file: string): Promise<Manifest> {
  const folder = join(dataDir, staging);
  // First of all: what is half removed must not be taken for whole.
  rmSync(join(folder, 'complete'), { force: true });
  rmSync(folder, { recursive: true, force: true });
  const content = join(folder, 'content');
  mkdirSync(content, { recursive: true, mode: 0o700 });
  try {
    const manifest = await unpackBackup(file, content);
    writeFileSync(join(folder, 'complete'), '');
    return manifest;
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/**
 * The second half of a restore: swaps the contents. Also called at each start, so that a swap that was cut off is
 * finished, and an unpacking that was cut off is thrown away.
 * @returns where the former content is, undefined when there was none or nothing was restored.
 */
export function finishRestore(dataDir: string): string | undefined {
  const folder = join(dataDir, staging);
  const complete = join(folder, 'complete');
  if (!existsSync(complete)) rmSync(folder, { recursive: true, force: true });
  const onItsWay = join(dataDir, returning);
  if (existsSync(join(onItsWay, 'content')) && !existsSync(folder)) stageReturn(onItsWay, folder);
  if (!existsSync(folder)) return undefined;
  const content = join(folder, 'content');
  const former = join(folder, 'former');
  const aside = join(folder, 'set-aside');
  if (!existsSync(aside)) {
    mkdirSync(former, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(dataDir)) {
      if (!isLeftOut(name)) renameSync(join(dataDir, name), join(former, name));
    }
    writeFileSync(aside, '');
  }
  // Either is gone when it was cut off behind its last step. What a backup leaves out, the folder has of its own.
  const arriving = existsSync(content) ? readdirSync(content).filter((name) => !isLeftOut(name)) : [];
  for (const name of arriving) renameSync(join(content, name), join(dataDir, name));
  let kept: string | undefined;
  if (existsSync(former) && readdirSync(former).length > 0) {
    kept = join(dataDir, setAsideName(Date.now()));
    renameSync(former, kept);
  }
  // First of all: without it the rest is leftovers, whatever of them a crash leaves.
  rmSync(complete);
  rmSync(folder, { recursive: true, force: true });
  return kept;
}

/**
 * Has the next start put back what a restore has set aside; what is in its place then is set aside in its turn. Cut off
 * anywhere, the start after goes on with it.
 */
export function stageFormer(dataDir: string, former: string): void {
  const onItsWay = join(dataDir, returning);
  mkdirSync(onItsWay, { recursive: true, mode: 0o700 });
  renameSync(former, join(onItsWay, 'content'));
}

function stageReturn(onItsWay: string, folder: string): void {
  writeFileSync(join(onItsWay, 'complete'), '');
  renameSync(onItsWay, folder);
}
