import type { Order, PlaylistPlace } from '../domain/order.ts';
import { selectionOf } from '../domain/selection.ts';

/** What holds for every call of yt-dlp. */
export interface CommandSettings {
  readonly cacheFolder: string;
  /** Seconds. */
  readonly socketTimeout: number;
  readonly retries: number;
  /** Who runs the scripts of sites. */
  readonly javaScript: readonly string[];
}

export interface DownloadCommand {
  readonly url: string;
  readonly order: Order;
  readonly playlist: PlaylistPlace | null;
  /** Filled by us as far as only we can. */
  readonly template: string;
  /** The job's own folder: everything unfinished, and below `out` what is finished. */
  readonly folder: string;
  /** What the probe found, in place of asking the site again. */
  readonly infoFile: string | undefined;
  readonly ffmpegPath: string | null;
}

const progressFields =
  'status,downloaded_bytes,total_bytes,total_bytes_estimate,speed,eta,fragment_index,fragment_count';

/** `-J`: one JSON object on stdout, the entries of a playlist unopened. */
export function probeArguments(
  url: string,
  order: Order,
  playlist: PlaylistPlace | null,
  settings: CommandSettings,
): readonly string[] {
  return [...common(settings), ...entryItem(playlist), ...limit(order, playlist), '-J', '--flat-playlist', '--', url];
}

/** Progress, stage and result arrive as lines that begin with P, Q, B and A; see progress.ts. */
export function downloadArguments(command: DownloadCommand, settings: CommandSettings): readonly string[] {
  const { order, folder, ffmpegPath, infoFile, url, playlist } = command;
  return [
    ...common(settings),
    ...['--newline', '--progress', '--quiet', '--progress-delta', '0.5'],
    ...['--progress-template', `download:P %(progress.{${progressFields}})j`],
    ...['--progress-template', 'postprocess:Q %(progress.{status,postprocessor})j'],
    ...['--print', 'before_dl:B %(.{id,title,ext,format_id,height,duration,live_status})j'],
    ...['--print', 'after_move:A %(.{id,title,filepath,height,ext})j'],
    ...['-P', `home:${folder}/out`, '-P', `temp:${folder}/part`, '-o', command.template],
    // With --print nothing would be written for captions and thumbnails, which skip the download.
    '--no-simulate',
    ...extras(order),
    ...selectionOf(order, { merge: ffmpegPath !== null }),
    ...(ffmpegPath === null ? [] : ['--ffmpeg-location', ffmpegPath]),
    ...(process.platform === 'win32' ? ['--windows-filenames'] : []),
    ...(infoFile === undefined ? [...entryItem(playlist), '--', url] : ['--load-info-json', infoFile]),
  ];
}

function common({ cacheFolder, socketTimeout, retries, javaScript }: CommandSettings): readonly string[] {
  return [
    ...['--ignore-config', '--no-plugin-dirs', '--no-color', '--no-playlist', '--cache-dir', cacheFolder],
    ...['--socket-timeout', String(socketTimeout), '--retries', String(retries), '--fragment-retries', String(retries)],
    ...['--file-access-retries', '3', ...javaScript],
  ];
}

function entryItem(playlist: PlaylistPlace | null): readonly string[] {
  return playlist?.byIndex === true ? ['--playlist-items', String(playlist.index)] : [];
}

function limit(order: Order, playlist: PlaylistPlace | null): readonly string[] {
  return order.itemLimit > 0 && playlist === null ? ['--playlist-items', `1:${order.itemLimit}`] : [];
}

function extras({ type, format }: Order): readonly string[] {
  if (type === 'captions') {
    const convert = ['srt', 'vtt'].includes(format) ? ['--convert-subs', format] : [];
    return [
      '--skip-download',
      '--write-subs',
      '--write-auto-subs',
      '--sub-langs',
      'en',
      '--sub-format',
      `${format}/best`,
      ...convert,
    ];
  }
  if (type === 'thumbnail') return ['--skip-download', '--write-thumbnail', '--convert-thumbnails', 'jpg'];
  return [];
}
