import { captionsArguments, subtitleArguments, type CaptionsChoice, type SubtitleOptions } from '../domain/captions.ts';
import { cutArguments, type SponsorBlock } from '../domain/section-arguments.ts';
import type { Order, PlaylistPlace } from '../domain/order.ts';
import type { Purpose } from '../domain/options.ts';
import { fieldArguments, type ListFields } from '../domain/template-fields.ts';
import { selectionOf } from '../domain/format-selection.ts';

/** What holds for every call of yt-dlp. */
export interface CommandSettings {
  readonly cacheFolder: string;
  /** Seconds. */
  readonly socketTimeout: number;
  readonly retries: number;
  /** With the cookies of this run, in the Netscape format. */
  readonly cookieFile?: string | undefined;
  readonly subtitles: SubtitleOptions;
  readonly sponsorblock: SponsorBlock;
  /** Arguments for the options of settings, presets and request; the last word is theirs. */
  readonly optionsOf: (order: Order, purpose: Purpose) => readonly string[];
  /** Whether these options may leave nothing to do, which is said then. */
  readonly maySkip: (order: Order) => boolean;
  /** Who runs the scripts of sites. */
  readonly javaScript: readonly string[];
}

export interface DownloadCommand {
  readonly url: string;
  readonly order: Order;
  readonly playlist: PlaylistPlace | null;
  /** Filled by us as far as only we can. */
  readonly template: string;
  /** The same for the files of chapters. */
  readonly chapterTemplate: string;
  /** The job's own folder: everything unfinished, below `out` what is finished, below `chapters` the files of chapters. */
  readonly folder: string;
  /** For captions alone: which ones. */
  readonly captions: CaptionsChoice | undefined;
  /** The streams do not fit the container: they are encoded anew. */
  readonly recode: boolean;
  /** Fields of the list that the download came from. */
  readonly fields: ListFields;
  /** What the probe found, in place of asking the site again. */
  readonly infoFile: string | undefined;
  readonly ffmpegPath: string | null;
}

const progressFields =
  'status,downloaded_bytes,total_bytes,total_bytes_estimate,speed,eta,fragment_index,fragment_count';

const pictures: ReadonlySet<string> = new Set(['--embed-thumbnail', '--no-write-thumbnail']);

/** `-J`: one JSON object on stdout, the entries of a playlist unopened. */
export function probeArguments(
  url: string,
  order: Order,
  playlist: PlaylistPlace | null,
  settings: CommandSettings,
): readonly string[] {
  const options = [...common(settings), ...settings.optionsOf(order, 'probe')];
  return [...options, ...entryItem(playlist), ...limit(order, playlist), '-J', '--flat-playlist', '--', url];
}

/** Asks for the path that the template gives, relative to the folder of what is finished, and downloads nothing. */
export function nameArguments(command: DownloadCommand, settings: CommandSettings): readonly string[] {
  const { order, infoFile, playlist, template, url } = command;
  return [
    ...[...common(settings), ...fieldArguments(command.fields), '--quiet', '--simulate', '-o', template],
    ...['--print', 'N %(.{filename,ext})j'],
    ...selectionOf(order, { merge: command.ffmpegPath !== null, recode: command.recode }),
    ...settings.optionsOf(order, 'download'),
    ...(infoFile === undefined ? [...entryItem(playlist), '--', url] : ['--load-info-json', infoFile]),
  ];
}

/** Progress, stage and result arrive as lines that begin with P, Q, B and A; see progress.ts. */
export function downloadArguments(command: DownloadCommand, settings: CommandSettings): readonly string[] {
  const { order, folder, ffmpegPath, infoFile, url, playlist } = command;
  return [
    ...common(settings),
    ...['--newline', '--progress', settings.maySkip(order) ? '--no-quiet' : '--quiet', '--progress-delta', '0.5'],
    // A video with holes in it would pass for the whole.
    '--abort-on-unavailable-fragments',
    ...['--progress-template', `download:P %(progress.{${progressFields}})j`],
    ...['--progress-template', 'postprocess:Q %(progress.{status,postprocessor})j'],
    ...['--print', 'before_dl:B %(.{id,title,ext,format_id,height,duration,live_status})j'],
    ...['--print', 'after_move:A %(.{id,title,filepath,height,ext})j'],
    ...fieldArguments(command.fields),
    ...['-P', `home:${folder}/out`, '-P', `temp:${folder}/part`, '-o', command.template],
    // With --print nothing would be written for captions and thumbnails, which skip the download.
    '--no-simulate',
    ...extras(command, settings),
    ...selectionOf(order, { merge: ffmpegPath !== null, recode: command.recode }),
    ...(ffmpegPath === null ? [] : ['--ffmpeg-location', ffmpegPath]),
    // The cover of sound is put in later, since the extractor cannot do it for every format.
    ...settings.optionsOf(order, 'download').filter((option) => order.type !== 'audio' || !pictures.has(option)),
    ...(process.platform === 'win32' ? ['--windows-filenames'] : []),
    ...(infoFile === undefined ? [...entryItem(playlist), '--', url] : ['--load-info-json', infoFile]),
  ];
}

function common({ cacheFolder, socketTimeout, retries, javaScript, cookieFile }: CommandSettings): readonly string[] {
  return [
    ...['--ignore-config', '--no-plugin-dirs', '--no-color', '--no-playlist', '--cache-dir', cacheFolder],
    ...['--socket-timeout', String(socketTimeout), '--retries', String(retries), '--fragment-retries', String(retries)],
    ...['--file-access-retries', '3', ...javaScript],
    ...(cookieFile === undefined ? [] : ['--cookies', cookieFile]),
  ];
}

function entryItem(playlist: PlaylistPlace | null): readonly string[] {
  return playlist?.byIndex === true ? ['--playlist-items', String(playlist.index)] : [];
}

function limit(order: Order, playlist: PlaylistPlace | null): readonly string[] {
  return order.itemLimit > 0 && playlist === null ? ['--playlist-items', `1:${order.itemLimit}`] : [];
}

function extras(command: DownloadCommand, { subtitles, sponsorblock }: CommandSettings): readonly string[] {
  const { order, captions, folder, ffmpegPath, chapterTemplate: template } = command;
  if (captions !== undefined) return captionsArguments(order.format, captions, { convert: ffmpegPath !== null });
  if (order.type === 'captions') return ['--skip-download'];
  if (order.type === 'thumbnail') return ['--skip-download', '--write-thumbnail', '--convert-thumbnails', 'jpg'];
  if (ffmpegPath === null) return [];
  const cuts = cutArguments(order, { template, folder: `${folder}/chapters`, sponsorblock });
  if (order.type === 'video') return [...subtitleArguments(order.format, subtitles), ...cuts];
  // The picture becomes the cover once all is there; a WAV file holds none.
  const cover = order.format === 'wav' ? [] : ['--write-thumbnail', '--convert-thumbnails', 'jpg'];
  // The tags name the page; a login in its address is none of theirs.
  const tags = ['--embed-metadata', '--replace-in-metadata', 'webpage_url', '://[^/@]*@', '://'];
  return [...tags, ...cover, ...cuts];
}
