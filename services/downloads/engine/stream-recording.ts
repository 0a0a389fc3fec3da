import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { Problem } from '../../contracts/problem.ts';
import { ffmpeg, type FfmpegCall } from './ffmpeg.ts';

/**
 * Makes whole files of what was recorded of a live stream before it was stopped, and returns the largest. Such a part is
 * a transport stream that may end anywhere; ffmpeg gives it its container. `name` makes the last name of a file.
 */
export async function takeRecorded(
  { from, to }: { readonly from: string; readonly to: string },
  call: FfmpegCall | undefined,
  name: (file: string) => string = (file) => file,
): Promise<string | undefined> {
  const entries = await readdir(from, { recursive: true, withFileTypes: true }).catch(() => []);
  let largest: { readonly path: string; readonly size: number } | undefined;
  for (const entry of entries) {
    const part = join(entry.parentPath, entry.name);
    if (!entry.isFile() || !entry.name.endsWith('.part')) continue;
    const { size } = await stat(part);
    if (size === 0) continue;
    const whole = name(join(to, part.slice(from.length + 1, -'.part'.length)));
    await mkdir(dirname(whole), { recursive: true });
    await remux(part, whole, call);
    if (largest === undefined || size > largest.size) largest = { path: whole, size };
  }
  return largest?.path;
}

/** ` (before the break)` stands before the extension. */
export function beforeTheBreak(file: string): string {
  const end = extname(file);
  return `${file.slice(0, file.length - end.length)} (before the break)${end}`;
}

/** What cannot be given its container is kept as it is: better than nothing. */
async function remux(part: string, whole: string, call: FfmpegCall | undefined): Promise<void> {
  if (call === undefined) return await rename(part, whole);
  try {
    await ffmpeg(call, ['-fflags', '+discardcorrupt', '-i', part, '-map', '0', '-c', 'copy', '-ignore_unknown', whole]);
    await rm(part);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    await rename(part, whole);
  }
}
