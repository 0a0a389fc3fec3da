import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Log } from '../../contracts/service.ts';
import { withoutSecrets } from '../domain/address.ts';
import { createServiceFailure, DownloadProblem } from '../domain/failure.ts';
import { readCues, writeCues } from '../domain/cues.ts';
import type { Order } from '../domain/order.ts';
import { convertForApple } from './apple-conversion.ts';
import { embedCover } from './cover-art.ts';
import type { FfmpegCall } from './ffmpeg.ts';

export interface PostProcessing {
  readonly order: Order;
  /** `name:password` as written in the address. */
  readonly login: string | undefined;
  /** Folders of the extractor's files. */
  readonly folders: readonly string[];
  /** Folder of temporary files, from which nothing is delivered. */
  readonly scratch: string;
  /** The result file reported by the extractor. */
  readonly main: string | undefined;
  /** Undefined without ffmpeg. */
  readonly ffmpeg: FfmpegCall | undefined;
  readonly onStage: (name: string) => void;
  readonly log: Log;
}

/**
 * Applies conversions that the extractor does not support to its files. Returns the main file, which may have a new
 * name.
 */
export async function postProcess(options: PostProcessing): Promise<string | undefined> {
  const { order, ffmpeg, scratch } = options;
  await mkdir(scratch, { recursive: true });
  for (const file of await findFiles(options.folders, ['.json'])) {
    // It contains the requested address and its host, with the login and the secrets of the query.
    const text = withoutSecrets(await readFile(file, 'utf8'));
    await writeFile(file, options.login === undefined ? text : text.replaceAll(`${options.login}@`, ''));
  }
  if (order.type === 'captions') return await convertCaptions(options);
  if (order.type === 'audio') await embedCovers(options);
  if (order.type !== 'video' || order.format !== 'ios' || ffmpeg === undefined) return options.main;
  let { main } = options;
  options.onStage('VideoConvertor');
  for (const file of await findFiles(options.folders, videoExtensions)) {
    const converted = await convertForApple(ffmpeg, file, scratch);
    if (file === main) main = converted;
  }
  return main;
}

const videoExtensions = ['.mp4', '.mov', '.m4v', '.webm', '.mkv', '.flv', '.avi', '.3gp', '.ts'];

/** Converts captions to the requested format, unless the extractor already did. */
async function convertCaptions({ order, folders }: PostProcessing): Promise<string | undefined> {
  const targetExtension = `.${order.format}`;
  for (const file of await findFiles(folders, ['.vtt', '.srt', '.ttml', '.dfxp', '.json3', '.ass', '.lrc', '.xml'])) {
    const extension = extname(file);
    if (extension === targetExtension) continue;
    const isReadable = extension === '.vtt' || extension === '.srt';
    const text = isReadable
      ? writeCues(readCues(await readFile(file, 'utf8')), order.format, order.subtitleLanguage)
      : undefined;
    if (text === undefined) {
      const formats = { source: extension.slice(1), target: order.format };
      const failure = createServiceFailure('captions_not_convertible', 'format', formats);
      throw new DownloadProblem('downloads.captions_format', 502, failure);
    }
    await writeFile(`${file.slice(0, -extension.length)}${targetExtension}`, text);
    await rm(file);
  }
  return (await findFiles(folders, [targetExtension]))[0];
}

/** Embeds the picture into the audio files. A failure is logged: a file without a cover is still useful. */
async function embedCovers({ folders, scratch, main, ffmpeg, onStage, log }: PostProcessing): Promise<void> {
  const [picture] = await findFiles(folders.slice(0, 1), ['.jpg']);
  if (picture === undefined) return;
  try {
    if (ffmpeg === undefined) return;
    onStage('EmbedThumbnail');
    const files = await findFiles(folders, ['.mp3', '.m4a', '.flac', '.ogg', '.opus']);
    for (const file of main === undefined ? files : new Set([main, ...files]))
      await embedCover(ffmpeg, file, picture, scratch);
  } catch (error) {
    if (ffmpeg?.signal.aborted === true) throw error;
    log.warn('cover not embedded', { error });
  } finally {
    await rm(picture, { force: true });
  }
}

async function findFiles(folders: readonly string[], extensions: readonly string[]): Promise<readonly string[]> {
  const files = await Promise.all(
    folders.map(async (folder) => {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
      return entries
        .filter((entry) => entry.isFile() && !entry.name.startsWith('.') && extensions.includes(extname(entry.name)))
        .map((entry) => join(entry.parentPath, entry.name));
    }),
  );
  return files.flat().sort();
}
