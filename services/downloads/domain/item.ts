import type { Download, DownloadState } from '../../contracts/downloads/api.ts';
import type { Order, PlaylistPlace } from './order.ts';
import { cutToBytes } from './safe-names.ts';

/** Bytes of UTF-8. */
const longestText = 1000;

/** One download as it is stored. */
export interface Item {
  readonly uid: string;
  /** As it was submitted: downloads start from here, not from where a page led to. */
  readonly url: string;
  readonly order: Order;
  readonly state: DownloadState;
  readonly title: string;
  /** The extractor's id of the video; the address until it is known. */
  readonly videoId: string;
  readonly liveStatus: string | null;
  readonly playlist: PlaylistPlace | null;
  /** True once the extractor has looked at it: a playlist has become its entries by then. */
  readonly probed: boolean;
  /** How often it was handed to the extractor for downloading. */
  readonly attempts: number;
  readonly message: string | null;
  /** Below the download folder. */
  readonly filename: string | null;
  readonly size: number | null;
  /** What came along with the main file: captions beside it, the files of its chapters. */
  readonly otherFiles?: readonly OtherFile[];
  /** Decimal digits, ns since the epoch; too long for a number. */
  readonly addedNs: string;
  /** ms since the epoch. */
  readonly createdAt: number;
  readonly finishedAt: number | null;
  /** Address of a small picture of it. */
  readonly thumbnail: string | null;
  /** A stream that has not begun: it waits until then, ms since the epoch. */
  readonly startsAt?: number | null;
  /** It runs outside the hours for downloads, too. */
  readonly anyway?: boolean;
  /** What one playlist, or one look at a feed, has brought: it is told of together. Null: told of by itself. */
  readonly batch?: string | null;
}

export interface OtherFile {
  /** Below the download folder. */
  readonly filename: string;
  readonly size: number;
  readonly chapter: boolean;
}

/** What is known of a running download only while it runs. */
export interface Progress {
  readonly percent: number | null;
  readonly stream: 'video' | 'audio' | null;
  /** Bytes a second. */
  readonly speed: number | null;
  /** Seconds. */
  readonly eta: number | null;
  readonly message: string | null;
}

export const noProgress: Progress = { percent: null, stream: null, speed: null, eta: null, message: null };

export const queueStates = ['waiting', 'preparing', 'downloading', 'postprocessing', 'paused'] as const;
export const runningStates = ['preparing', 'downloading', 'postprocessing'] as const;
export const doneStates = ['finished', 'failed'] as const;

export function isRunning(state: DownloadState): boolean {
  return (runningStates as readonly DownloadState[]).includes(state);
}

/** Where an item stands while nobody works on it and nothing holds it. */
export function idleState({ order, attempts }: Pick<Item, 'order' | 'attempts'>): 'waiting' | 'pending' {
  return order.autoStart || attempts > 0 ? 'waiting' : 'pending';
}

/** As much as is kept of a title or an id, which come from strangers and go to every page that looks on. */
export function keptText<T extends string | null>(text: T): T {
  return (text === null ? null : cutToBytes(text, longestText)) as T;
}

/** Whether an item waits for a stream to begin. */
export function isScheduled({ state, startsAt }: Pick<Item, 'state' | 'startsAt'>): boolean {
  return state === 'waiting' && startsAt !== undefined && startsAt !== null;
}

/** A download as our own pages see it. */
export function toDownload(item: Item, progress: Progress = noProgress): Download {
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
    filename: item.filename,
    message: item.message ?? progress.message,
    thumbnail: item.thumbnail !== null,
    ...(item.anyway === true ? { anyway: true } : {}),
    ...(item.liveStatus === 'is_live' ? { live: true } : {}),
    ...(isScheduled(item) ? { startsAt: item.startsAt ?? 0 } : {}),
    createdAt: item.createdAt,
    finishedAt: item.finishedAt,
  };
}
