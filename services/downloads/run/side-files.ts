import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Captions } from '../../contracts/downloads/api.ts';
import { findCaptionLanguage } from '../domain/caption-files.ts';
import { readCues } from '../domain/cues.ts';
import { resolveFile } from './resolve-file.ts';

const maxCaptionBytes = 4 * 1024 * 1024;
const maxLanguages = 40;
const maxCues = 20_000;

/** Reads the subtitle files next to a finished file. `filename` is relative to `root`. */
export async function readCaptionFiles(root: string, filename: string): Promise<readonly Captions[]> {
  const captions: Captions[] = [];
  for (const { language, path } of await findSubtitleFiles(root, filename)) {
    const size = (await stat(path).catch(() => undefined))?.size ?? Infinity;
    if (size > maxCaptionBytes || captions.length >= maxLanguages) continue;
    const cues = readCues(await readFile(path, 'utf8')).slice(0, maxCues);
    if (cues.length === 0) continue;
    captions.push({
      language,
      cues: cues.map(({ from, to, lines }) => ({ from: from / 1000, to: to / 1000, text: lines.join('\n') })),
    });
  }
  return captions;
}

/** Deletes a finished file and its subtitle files; missing files and links out of the folder are skipped. */
export async function deleteFile(root: string, filename: string): Promise<void> {
  const path = await resolveFile(root, filename.split('/'));
  for (const { path: subtitlePath } of await findSubtitleFiles(root, filename)) await rm(subtitlePath, { force: true });
  if (path !== undefined) await rm(path, { force: true });
}

async function findSubtitleFiles(
  root: string,
  filename: string,
): Promise<readonly { language: string; path: string }[]> {
  const parts = filename.split('/');
  const folder = join(root, dirname(filename));
  const names = await readdir(folder).catch((): string[] => []);
  const files: { language: string; path: string }[] = [];
  for (const name of names.toSorted()) {
    const language = findCaptionLanguage(parts.at(-1) ?? '', name);
    const path = language === undefined ? undefined : await resolveFile(root, [...parts.slice(0, -1), name]);
    if (language !== undefined && path !== undefined) files.push({ language, path });
  }
  return files;
}
