import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Captions } from '../../contracts/downloads/api.ts';
import { captionLanguage } from '../domain/caption-files.ts';
import { readCues } from '../domain/cues.ts';
import { fileInside } from '../metube-api/files.ts';

const largestCaptions = 4 * 1024 * 1024;
const mostLanguages = 40;
const mostCues = 20_000;

/** The subtitles that stand as files beside a finished one. `filename` is below `root`. */
export async function captionsBeside(root: string, filename: string): Promise<readonly Captions[]> {
  const found: Captions[] = [];
  for (const { language, path } of await subtitles(root, filename)) {
    const size = (await stat(path).catch(() => undefined))?.size ?? Infinity;
    if (size > largestCaptions || found.length >= mostLanguages) continue;
    const cues = readCues(await readFile(path, 'utf8')).slice(0, mostCues);
    if (cues.length === 0) continue;
    found.push({
      language,
      cues: cues.map(({ from, to, lines }) => ({ from: from / 1000, to: to / 1000, text: lines.join('\n') })),
    });
  }
  return found;
}

/** Deletes a finished file and the subtitles beside it; what is not there, or led out of the folder, is passed over. */
export async function deleteFile(root: string, filename: string): Promise<void> {
  const path = await fileInside(root, filename.split('/'));
  for (const { path: beside } of await subtitles(root, filename)) await rm(beside, { force: true });
  if (path !== undefined) await rm(path, { force: true });
}

async function subtitles(root: string, filename: string): Promise<readonly { language: string; path: string }[]> {
  const parts = filename.split('/');
  const folder = join(root, dirname(filename));
  const names = await readdir(folder).catch((): string[] => []);
  const found: { language: string; path: string }[] = [];
  for (const name of names.toSorted()) {
    const language = captionLanguage(parts.at(-1) ?? '', name);
    const path = language === undefined ? undefined : await fileInside(root, [...parts.slice(0, -1), name]);
    if (language !== undefined && path !== undefined) found.push({ language, path });
  }
  return found;
}
