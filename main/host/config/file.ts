import { open, readdir, readFile, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { syncFolder } from '../../../services/kit/platform/sync-folder.ts';
import { replaceFile } from '../../../services/kit/platform/file-replacement.ts';

/** Called before each step of a write; tests stop the process or fail the step there. */
export type WriteStep = (step: string) => void;

/** Number of earlier versions beside the file, from `.1` (newest) to `.3`. */
const history = 3;

/** Returns the text of the file, undefined when it does not exist. */
export async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/**
 * Replaces the text of the file so that a reader, or a crash at any moment, finds either the complete old or the
 * complete new text. The old text becomes `<file>.1`, the previous one `.2`, and so on.
 */
export async function replaceText(file: string, text: string, step: WriteStep): Promise<void> {
  const temporaryFile = `${file}.new`;
  await writeSynced(temporaryFile, text, step);
  const old = await readText(file);
  if (old !== undefined) {
    const copyFile = `${file}.old`;
    await writeSynced(copyFile, old, step);
    for (let age = history - 1; age >= 1; age -= 1) {
      step(`move .${age} on`);
      await renameIfThere(`${file}.${age}`, `${file}.${age + 1}`);
    }
    step('keep the old text as .1');
    await replaceFile(copyFile, `${file}.1`);
  }
  step('put the new text in place');
  await replaceFile(temporaryFile, file);
  step('make the renames durable');
  await syncFolder(dirname(file));
}

/**
 * Saves a text beside the file as the first of `<file>.<name>`, `<file>.<name>.2`, … that is free or has the same
 * text.
 */
export async function saveCopy(file: string, name: string, text: string, step: WriteStep): Promise<string> {
  for (let number = 1; ; number += 1) {
    const copy = number === 1 ? `${file}.${name}` : `${file}.${name}.${number}`;
    const copyText = await readText(copy);
    if (copyText === text) return copy;
    if (copyText !== undefined) continue;
    await writeSynced(`${file}.old`, text, step);
    step(`keep a copy as .${name}`);
    await replaceFile(`${file}.old`, copy);
    await syncFolder(dirname(file));
    return copy;
  }
}

/** Replaces a text without saving the old one. */
export async function overwrite(file: string, text: string, step: WriteStep): Promise<void> {
  await writeSynced(`${file}.new`, text, step);
  step('put the new text in place');
  await replaceFile(`${file}.new`, file);
  await syncFolder(dirname(file));
}

/** Lists earlier versions and saved copies. */
export async function listCopies(file: string): Promise<string[]> {
  const name = basename(file);
  const copies = (await readdir(dirname(file))).filter(
    (each) => each.startsWith(`${name}.`) && /^\.(\d+|bad(\.\d+)?|v\d+(\.\d+)?)$/.test(each.slice(name.length)),
  );
  return copies.map((each) => join(dirname(file), each));
}

/** Removes temporary files of an interrupted write. */
export async function removeLeftovers(file: string): Promise<void> {
  await rm(`${file}.new`, { force: true });
  await rm(`${file}.old`, { force: true });
}

/** Settings may contain secrets, so only their owner may read them. */
async function writeSynced(file: string, text: string, step: WriteStep): Promise<void> {
  step('make a new file');
  await rm(file, { force: true });
  const handle = await open(file, 'wx', 0o600);
  try {
    step('write the text');
    await handle.writeFile(text);
    step('make the text durable');
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function renameIfThere(from: string, to: string): Promise<void> {
  try {
    await replaceFile(from, to);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
