import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readFile, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { syncFolder } from '../../../services/kit/platform/sync-folder.ts';
import { hasFileModes } from '../../../services/kit/platform/file-systems.ts';
import { replaceFile } from '../../../services/kit/platform/file-replacement.ts';
import type { Log } from '../../../services/contracts/service.ts';
import { parseJson } from '../../../services/contracts/parse-json.ts';

/** Content of the key file: the data key itself, or the text in which an external key store wrapped it. */
export type StoredKey =
  | { readonly kind: 'plain'; readonly text: string }
  | { readonly kind: 'wrapped'; readonly by: string; readonly text: string };

const Wrapped = z.object({ wrapping: z.string().min(1), key: z.string().min(1) });

const systemHasModes = hasFileModes();

/** Returns undefined when the file does not exist. Removes permissions of other users. */
export async function readKeyFile(path: string, log: Log): Promise<StoredKey | undefined> {
  let text: string;
  try {
    if (systemHasModes) await tighten(path, log);
    text = (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  if (!text.startsWith('{')) return { kind: 'plain', text };
  const wrapped = Wrapped.safeParse(parseJson(text));
  return wrapped.success
    ? { kind: 'wrapped', by: wrapped.data.wrapping, text: wrapped.data.key }
    : { kind: 'plain', text };
}

/** Replaces the file atomically. */
export async function writeKeyFile(path: string, key: StoredKey): Promise<void> {
  const text = key.kind === 'plain' ? key.text : JSON.stringify({ wrapping: key.by, key: key.text });
  await replacePrivateFile(path, `${text}\n`);
}

/** Creates or replaces a file with mode 0600 atomically. */
export async function replacePrivateFile(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const unfinished = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const file = await open(unfinished, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await replaceFile(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  await syncFolder(folder);
}

async function tighten(path: string, log: Log): Promise<void> {
  const { mode } = await stat(path);
  if ((mode & 0o077) === 0) return;
  await chmod(path, 0o600);
  log.warn('vault key file permissions tightened', { path, was: (mode & 0o777).toString(8) });
}
