import { currentPlatform } from '../../kit/platform/current-platform.ts';
import {
  buildCaptionArguments,
  buildSubtitleArguments,
  type CaptionsChoice,
  type SubtitleOptions,
} from '../domain/captions.ts';
import { buildSectionArguments, type SponsorBlock } from '../domain/section-arguments.ts';
import type { Order, PlaylistEntry } from '../domain/order.ts';
import type { Purpose } from '../domain/options.ts';
import { buildFieldArguments, type ListFields } from '../domain/template-fields.ts';
import { buildSelectionArguments } from '../domain/format-selection.ts';
import { buildNameLimit } from './name-limit.ts';

/** Settings of all calls of yt-dlp. */
export interface CommandSettings {
  readonly cacheFolder: string;
  /** In seconds. */
  readonly socketTimeout: number;
  readonly retries: number;
  /** Cookies of this run in the Netscape format. */
  readonly cookieFile?: string | undefined;
  readonly subtitles: SubtitleOptions;
  readonly sponsorblock: SponsorBlock;
  /** Returns the arguments for the options of settings, presets and request, which override others. */
  readonly buildOptionArguments: (order: Order, purpose: Purpose) => readonly string[];
  /** Returns whether these options may skip the download, which is reported. */
  readonly maySkip: (order: Order) => boolean;
  /** Arguments for the JavaScript runtime. */
  readonly javaScript: readonly string[];
}

export interface DownloadCommand {
  readonly url: string;
  readonly order: Order;
  readonly playlist: PlaylistEntry | null;
  /** Template with the fields filled that yt-dlp does not support. */
  readonly template: string;
  /** Template of chapter files. */
  readonly chapterTemplate: string;
  /** Work folder of the download: unfinished files, finished files in `out`, chapter files in `chapters`. */
  readonly folder: string;
  /** Captions of a caption download. */
  readonly captions: CaptionsChoice | undefined;
  /** True to re-encode streams that the container does not support. */
  readonly recode: boolean;
  /** Fields of the list that the download came from. */
  readonly fields: ListFields;
  /** Output of the probe, which avoids another request to the site. */
  readonly infoFile: string | undefined;
  readonly ffmpegPath: string | null;
}

const progressFields =
  'status,downloaded_bytes,total_bytes,total_bytes_estimate,speed,eta,fragment_index,fragment_count';

const coverOptions: ReadonlySet<string> = new Set(['--embed-thumbnail', '--no-write-thumbnail']);

/** Returns the arguments of a probe. `-J` prints one JSON object on stdout, with unopened playlist entries. */
export function buildProbeArguments(
  url: string,
  order: Order,
  playlist: PlaylistEntry | null,
  settings: CommandSettings,
): readonly string[] {
  const options = [...buildCommonArguments(settings), ...settings.buildOptionArguments(order, 'probe')];
  return [
    ...options,
    ...buildEntryArguments(playlist),
    ...buildLimitArguments(order, playlist),
    '-J',
    '--flat-playlist',
    '--',
    url,
  ];
}

/**
 * Returns the arguments that print the path of the template, relative to the folder of finished files, without a
 * download.
 */
export function buildNameArguments(command: DownloadCommand, settings: CommandSettings): readonly string[] {
  const { order, infoFile, playlist, template, url } = command;
  return [
    ...[
      ...buildCommonArguments(settings),
      ...buildFieldArguments(command.fields),
      '--quiet',
      '--simulate',
      '-o',
      template,
    ],
    ...['--print', 'N %(.{filename,ext})j'],
    ...buildSelectionArguments(order, { merge: command.ffmpegPath !== null, recode: command.recode }),
    ...settings.buildOptionArguments(order, 'download'),
    ...(infoFile === undefined ? [...buildEntryArguments(playlist), '--', url] : ['--load-info-json', infoFile]),
  ];
}

/**
 * Returns the arguments of a download. Progress, stage and result are printed as lines that begin with P, Q, B and A;
 * see progress.ts.
 */
export function buildDownloadArguments(
  command: DownloadCommand,
  settings: CommandSettings,
  platform: NodeJS.Platform = currentPlatform,
): readonly string[] {
  const { order, folder, ffmpegPath, infoFile, url, playlist } = command;
  return [
    ...buildCommonArguments(settings),
    ...['--newline', '--progress', settings.maySkip(order) ? '--no-quiet' : '--quiet', '--progress-delta', '0.5'],
    // Without this, an incomplete video would count as complete.
    '--abort-on-unavailable-fragments',
    ...['--progress-template', `download:P %(progress.{${progressFields}})j`],
    ...['--progress-template', 'postprocess:Q %(progress.{status,postprocessor})j'],
    ...['--print', 'before_dl:B %(.{id,title,ext,format_id,height,duration,live_status})j'],
    ...['--print', 'after_move:A %(.{id,title,filepath,height,ext})j'],
    ...buildFieldArguments(command.fields),
    ...['-P', `home:${folder}/out`, '-P', `temp:${folder}/part`, '-o', command.template],
    ...buildNameLimit(`${folder}/part/`, platform),
    // With --print alone, nothing is written for captions and thumbnails, which skip the download.
    '--no-simulate',
    ...buildTypeArguments(command, settings),
    ...buildSelectionArguments(order, { merge: ffmpegPath !== null, recode: command.recode }),
    ...(ffmpegPath === null ? [] : ['--ffmpeg-location', ffmpegPath]),
    // The cover of audio is embedded later, since the extractor does not support every format.
    ...settings
      .buildOptionArguments(order, 'download')
      .filter((option) => order.type !== 'audio' || !coverOptions.has(option)),
    ...(infoFile === undefined ? [...buildEntryArguments(playlist), '--', url] : ['--load-info-json', infoFile]),
  ];
}

function buildCommonArguments({
  cacheFolder,
  socketTimeout,
  retries,
  javaScript,
  cookieFile,
}: CommandSettings): readonly string[] {
  return [
    ...['--ignore-config', '--no-plugin-dirs', '--no-color', '--no-playlist', '--cache-dir', cacheFolder],
    ...['--socket-timeout', String(socketTimeout), '--retries', String(retries), '--fragment-retries', String(retries)],
    ...['--file-access-retries', '3', ...javaScript],
    ...(cookieFile === undefined ? [] : ['--cookies', cookieFile]),
  ];
}

function buildEntryArguments(playlist: PlaylistEntry | null): readonly string[] {
  return playlist?.byIndex === true ? ['--playlist-items', String(playlist.index)] : [];
}

function buildLimitArguments(order: Order, playlist: PlaylistEntry | null): readonly string[] {
  return order.itemLimit > 0 && playlist === null ? ['--playlist-items', `1:${order.itemLimit}`] : [];
}

function buildTypeArguments(command: DownloadCommand, { subtitles, sponsorblock }: CommandSettings): readonly string[] {
  const { order, captions, folder, ffmpegPath, chapterTemplate: template } = command;
  if (captions !== undefined) return buildCaptionArguments(order.format, captions, { convert: ffmpegPath !== null });
  if (order.type === 'captions') return ['--skip-download'];
  if (order.type === 'thumbnail') return ['--skip-download', '--write-thumbnail', '--convert-thumbnails', 'jpg'];
  if (ffmpegPath === null) return [];
  const sections = buildSectionArguments(order, { template, folder: `${folder}/chapters`, sponsorblock });
  if (order.type === 'video') return [...buildSubtitleArguments(order.format, subtitles), ...sections];
  // The picture is embedded as the cover at the end; WAV files do not support one.
  const cover = order.format === 'wav' ? [] : ['--write-thumbnail', '--convert-thumbnails', 'jpg'];
  // The tags contain the page; the login in its address is removed.
  const tags = ['--embed-metadata', '--replace-in-metadata', 'webpage_url', '://[^/@]*@', '://'];
  return [...tags, ...cover, ...sections];
}
