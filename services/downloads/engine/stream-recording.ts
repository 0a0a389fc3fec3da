import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { replaceFile } from '../../kit/platform/file-replacement.ts';
import { Problem } from '../../contracts/problem.ts';
import { ffmpeg, type FfmpegCall } from './ffmpeg.ts';

/**
 * Completes the recorded parts of a stopped live stream, and returns the largest file. A part is a transport stream
 * that may end anywhere; ffmpeg writes its container. `name` maps the name of a file.
 */
export async function finishRecording(
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
    const target = name(join(to, part.slice(from.length + 1, -'.part'.length)));
    await mkdir(dirname(target), { recursive: true });
    await remux(part, target, call);
    if (largest === undefined || size > largest.size) largest = { path: target, size };
  }
  return largest?.path;
}

/** Inserts ` (before the break)` before the extension. */
export function addBreakSuffix(file: string): string {
  const extension = extname(file);
  return `${file.slice(0, file.length - extension.length)} (before the break)${extension}`;
}

/** Keeps a part without a container if ffmpeg cannot convert it. */
async function remux(part: string, target: string, call: FfmpegCall | undefined): Promise<void> {
  if (call === undefined) return await replaceFile(part, target);
  try {
    await ffmpeg(call, [
      '-fflags',
      '+discardcorrupt',
      '-i',
      part,
      '-map',
      '0',
      '-c',
      'copy',
      '-ignore_unknown',
      target,
    ]);
    await rm(part);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    await replaceFile(part, target);
  }
}
