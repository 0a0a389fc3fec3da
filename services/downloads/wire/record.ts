import { runInEnglish } from '../../kit/language.ts';
import { describeActivity } from '../../contracts/downloads/activity.ts';
import type { DownloadState } from '../../contracts/downloads/api.ts';
import { isScheduled, type Item, type Progress } from '../domain/item.ts';
import { splitFolder } from '../domain/template.ts';

/** MeTube's states. States that it does not have are passed on, since its clients show unknown states as text. */
const states: Readonly<Record<DownloadState, string>> = {
  pending: 'pending',
  waiting: 'pending',
  preparing: 'preparing',
  downloading: 'downloading',
  postprocessing: 'postprocessing',
  paused: 'paused',
  finished: 'finished',
  failed: 'error',
};

// ECMAScript's raw JSON text (JSON.parse source text access), not yet in TypeScript's library.
const { rawJSON } = JSON as typeof JSON & { rawJSON: (this: void, text: string) => unknown };

/** Converts a download to MeTube's format, with its fields in MeTube's order and the additional `uid` at the end. */
export function toRecord(item: Item, progress: Progress): Record<string, unknown> {
  const { order } = item;
  const isFailed = item.state === 'failed';
  const prefix = order.prefix !== '' && item.probed ? `${order.prefix}.` : '';
  return {
    id: prefix + item.videoId,
    title: prefix + item.title,
    url: item.url,
    quality: order.quality,
    download_type: order.type,
    codec: order.codec,
    format: order.format,
    folder: order.folder,
    custom_name_prefix: order.prefix,
    msg: item.message ?? describeProgress(progress),
    percent: item.state === 'finished' ? 100 : progress.percent,
    speed: progress.speed,
    eta: progress.eta,
    status: isScheduled(item) ? 'scheduled' : states[item.state],
    size: item.size,
    // Nanoseconds exceed the precision of a number: the digits are written as they are.
    timestamp: rawJSON(item.addedNs),
    error: isFailed ? item.message : null,
    playlist_item_limit: order.itemLimit,
    split_by_chapters: order.splitByChapters,
    sponsorblock: order.sponsorblock,
    chapter_template: order.chapterTemplate,
    subtitle_language: order.subtitleLanguage,
    subtitle_mode: order.subtitleMode,
    ytdl_options_presets: order.presets,
    ytdl_options_overrides: order.overrides,
    clip_start: order.clipStart,
    clip_end: order.clipEnd,
    live_status: item.liveStatus,
    live_release_timestamp: typeof item.startsAt === 'number' ? Math.floor(item.startsAt / 1000) : null,
    ...(item.filename === null ? {} : { filename: toRelativeName(item.filename, order.folder) }),
    ...chapterFiles(item),
    uid: item.uid,
  };
}

/** Describes the activity in English, as the clients of MeTube expect it. */
function describeProgress({ activity }: Progress): string | null {
  return activity === null ? null : runInEnglish(() => describeActivity(activity));
}

function chapterFiles({ otherFiles = [], order }: Item): Record<string, unknown> {
  const chapters = otherFiles.filter(({ chapter }) => chapter);
  if (chapters.length === 0) return {};
  return {
    chapter_files: chapters.map(({ filename, size }) => ({ filename: toRelativeName(filename, order.folder), size })),
  };
}

/** MeTube's file names are relative to the folder of the request. */
function toRelativeName(filename: string, folder: string | null): string {
  const start = [...(splitFolder(folder ?? '') ?? []), ''].join('/');
  return filename.startsWith(start) ? filename.slice(start.length) : filename;
}
