import { describeActivity, type DownloadActivity } from '../../contracts/downloads/activity.ts';
import type { Download, DownloadState } from '../../contracts/downloads/api.ts';
import type { FailureCode, FailureParameters } from '../../contracts/downloads/causes.ts';
import type { Order, PlaylistEntry } from './order.ts';
import type { MediaDetails } from '../../contracts/downloads/media-details.ts';
import { cutToBytes } from './safe-names.ts';

/** Maximum size of a stored text in bytes of UTF-8. */
const maxTextBytes = 1000;

/** Stored download. */
export interface Item {
  readonly uid: string;
  /** The submitted address; downloads start from it, not from the target of redirects. */
  readonly url: string;
  readonly order: Order;
  readonly state: DownloadState;
  readonly title: string;
  /** The extractor's id of the video, or the address until it is known. */
  readonly videoId: string;
  readonly liveStatus: string | null;
  readonly playlist: PlaylistEntry | null;
  /** True after the extractor probed it; a playlist is replaced by its entries at that time. */
  readonly probed: boolean;
  /** Number of download attempts. */
  readonly attempts: number;
  readonly message: string | null;
  /** Cause of a failed download, if known. */
  readonly failure?: FailureCode | null;
  /** Values of the text of the cause. */
  readonly failureParameters?: FailureParameters | null | undefined;
  /** Path relative to the download folder. */
  readonly filename: string | null;
  readonly size: number | null;
  /** Files in addition to the main file: captions and chapters. */
  readonly otherFiles?: readonly OtherFile[];
  /** Nanoseconds since the epoch as decimal digits, too many for a number. */
  readonly addedNs: string;
  /** In ms since the epoch. */
  readonly createdAt: number;
  readonly finishedAt: number | null;
  /** Channel, length, height and codecs, as far as they are known. */
  readonly media?: MediaDetails | null;
  /** Address of the thumbnail. */
  readonly thumbnail: string | null;
  /** Start time of an upcoming stream in ms since the epoch; the download waits until then. */
  readonly startsAt?: number | null;
  /** True when it may run outside of the allowed hours. */
  readonly anyway?: boolean;
  /**
   * Batch of the downloads from one playlist or one check of a feed; a single notification reports all of them. Null
   * for a separate notification.
   */
  readonly batch?: string | null;
}

export interface OtherFile {
  /** Path relative to the download folder. */
  readonly filename: string;
  readonly size: number;
  readonly chapter: boolean;
}

/** Progress of a running download, which is not stored. */
export interface Progress {
  readonly percent: number | null;
  readonly stream: 'video' | 'audio' | null;
  /** In bytes per second. */
  readonly speed: number | null;
  /** In seconds. */
  readonly eta: number | null;
  readonly activity: DownloadActivity | null;
}

export const noProgress: Progress = { percent: null, stream: null, speed: null, eta: null, activity: null };

export const queueStates = ['waiting', 'preparing', 'downloading', 'postprocessing', 'paused'] as const;
export const runningStates = ['preparing', 'downloading', 'postprocessing'] as const;
export const doneStates = ['finished', 'failed'] as const;

export function isRunning(state: DownloadState): boolean {
  return (runningStates as readonly DownloadState[]).includes(state);
}

/** Returns the state of an item without a run. */
export function getIdleState({ order, attempts }: Pick<Item, 'order' | 'attempts'>): 'waiting' | 'pending' {
  return order.autoStart || attempts > 0 ? 'waiting' : 'pending';
}

/** Truncates a title or id: they come from untrusted sites and are sent to every page. */
export function truncateText<T extends string | null>(text: T): T {
  return (text === null ? null : cutToBytes(text, maxTextBytes)) as T;
}

/** Returns whether an item waits for the start of a stream. */
export function isScheduled({ state, startsAt }: Pick<Item, 'state' | 'startsAt'>): boolean {
  return state === 'waiting' && startsAt !== undefined && startsAt !== null;
}

/** Converts an item to a download of the app API. */
export function toDownload(item: Item, progress: Progress = noProgress): Download {
  const hasEnded = item.state === 'failed' || item.state === 'finished';
  const failure = hasEnded ? (item.failure ?? undefined) : undefined;
  return {
    uid: item.uid,
    url: item.url,
    title: item.title,
    state: item.state,
    kind: item.order.type,
    quality: item.order.quality,
    format: item.order.format,
    percent: item.state === 'finished' ? 100 : progress.percent,
    stream: progress.stream,
    speed: progress.speed,
    eta: progress.eta,
    size: item.size,
    ...(item.media ? { media: item.media } : {}),
    filename: item.filename,
    message: item.message ?? (progress.activity === null ? null : describeActivity(progress.activity)),
    ...(item.message === null && progress.activity !== null ? { activity: progress.activity } : {}),
    ...(failure === undefined ? {} : { failure }),
    ...(failure === undefined || !item.failureParameters ? {} : { failureParameters: item.failureParameters }),
    thumbnail: item.thumbnail !== null,
    ...(item.anyway === true ? { anyway: true } : {}),
    ...(item.liveStatus === 'is_live' ? { live: true } : {}),
    ...(isScheduled(item) ? { startsAt: item.startsAt ?? 0 } : {}),
    createdAt: item.createdAt,
    finishedAt: item.finishedAt,
  };
}
