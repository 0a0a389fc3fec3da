import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Problem } from '../../contracts/problem.ts';
import type { Log } from '../../contracts/service.ts';
import { withoutSecrets } from '../domain/address.ts';
import { readCues, writeCues } from '../domain/cues.ts';
import type { Order } from '../domain/order.ts';
import { makeApple } from './apple-conversion.ts';
import { embedCover } from './cover-art.ts';
import type { FfmpegCall } from './ffmpeg.ts';

export interface Finishing {
  readonly order: Order;
  /** `name:password` as it stands in the address. */
  readonly login: string | undefined;
  /** Where the extractor left its files. */
  readonly folders: readonly string[];
  /** Where half-made files may lie; nothing is delivered from there. */
  readonly scratch: string;
  /** The file it named as its result. */
  readonly main: string | undefined;
  /** Undefined where there is no ffmpeg. */
  readonly ffmpeg: FfmpegCall | undefined;
  readonly onStage: (name: string) => void;
  readonly log: Log;
}

/** What the extractor cannot do, done to the files it left. Returns the main file, which may have another name now. */
export async function finish(finishing: Finishing): Promise<string | undefined> {
  const { order, ffmpeg, scratch } = finishing;
  await mkdir(scratch, { recursive: true });
  for (const file of await filesOf(finishing.folders, ['.json'])) {
    // The address that was asked for stands in it, and its host by itself, with the login and what is secret in its query.
    const text = withoutSecrets(await readFile(file, 'utf8'));
    await writeFile(file, finishing.login === undefined ? text : text.replaceAll(`${finishing.login}@`, ''));
  }
  if (order.type === 'captions') return await finishCaptions(finishing);
  if (order.type === 'audio') await finishCover(finishing);
  if (order.type !== 'video' || order.format !== 'ios' || ffmpeg === undefined) return finishing.main;
  let { main } = finishing;
  finishing.onStage('VideoConvertor');
  for (const file of await filesOf(finishing.folders, videoEnds)) {
    const made = await makeApple(ffmpeg, file, scratch);
    if (file === main) main = made;
  }
  return main;
}

const videoEnds = ['.mp4', '.mov', '.m4v', '.webm', '.mkv', '.flv', '.avi', '.3gp', '.ts'];

/** Captions in the format that is wanted; what the extractor has converted itself is so already. */
async function finishCaptions({ order, folders }: Finishing): Promise<string | undefined> {
  const wanted = `.${order.format}`;
  for (const file of await filesOf(folders, ['.vtt', '.srt', '.ttml', '.dfxp', '.json3', '.ass', '.lrc', '.xml'])) {
    const extension = extname(file);
    if (extension === wanted) continue;
    const readable = extension === '.vtt' || extension === '.srt';
    const text = readable
      ? writeCues(readCues(await readFile(file, 'utf8')), order.format, order.subtitleLanguage)
      : undefined;
    if (text === undefined) {
      const formats = `${extension.slice(1)}, which cannot be made into ${order.format}`;
      throw new Problem('downloads.captions_format', 502, `The site has its captions as ${formats}.`);
    }
    await writeFile(`${file.slice(0, -extension.length)}${wanted}`, text);
    await rm(file);
  }
  return (await filesOf(folders, [wanted]))[0];
}

/** A picture beside the sound goes into it; a file without its cover is better than none. */
async function finishCover({ folders, scratch, main, ffmpeg, onStage, log }: Finishing): Promise<void> {
  const [picture] = await filesOf(folders.slice(0, 1), ['.jpg']);
  if (picture === undefined) return;
  try {
    if (ffmpeg === undefined) return;
    onStage('EmbedThumbnail');
    const files = await filesOf(folders, ['.mp3', '.m4a', '.flac', '.ogg', '.opus']);
    for (const file of main === undefined ? files : new Set([main, ...files]))
      await embedCover(ffmpeg, file, picture, scratch);
  } catch (error) {
    if (ffmpeg?.signal.aborted === true) throw error;
    log.warn('a cover was left out', { error });
  } finally {
    await rm(picture, { force: true });
  }
}

async function filesOf(folders: readonly string[], ends: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    folders.map(async (folder) => {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
      return entries
        .filter((entry) => entry.isFile() && !entry.name.startsWith('.') && ends.includes(extname(entry.name)))
        .map((entry) => join(entry.parentPath, entry.name));
    }),
  );
  return found.flat().sort();
}
