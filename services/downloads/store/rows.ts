import type { DownloadState } from '../../contracts/downloads/api.ts';
import { FailureCode, FailureParameters } from '../../contracts/downloads/causes.ts';
import { MediaDetails } from '../../contracts/downloads/media-details.ts';
import { parseJson } from '../../contracts/parse-json.ts';
import type { Item, OtherFile } from '../domain/item.ts';
import { defaultOrderOptions, type Order, type PlaylistEntry } from '../domain/order.ts';

export interface DownloadRow {
  uid: string;
  /** Position in the queue. */
  position: number;
  url: string;
  /** JSON of an Order. */
  request: string;
  state: DownloadState;
  title: string;
  /** Title and address in lower case, for searches. */
  search: string;
  video_id: string;
  live_status: string | null;
  /** JSON of a PlaylistEntry. */
  playlist: string | null;
  probed: number;
  attempts: number;
  message: string | null;
  /** Code of a failed download. */
  failure: string | null;
  /** JSON of the values of the failure's text, or null. */
  failure_parameters: string | null;
  filename: string | null;
  size: number | null;
  /** JSON of OtherFiles, or null. */
  other_files: string | null;
  /** JSON of MediaDetails, or null. */
  media: string | null;
  added_ns: string;
  created_at: number;
  finished_at: number | null;
  /** Position in the history, oldest first. */
  finished_order: number | null;
  machine: string | null;
  host_process: string | null;
  host: string | null;
  lease_until: number | null;
  child_process: string | null;
  thumbnail: string | null;
  /** 1 when it may run outside of the allowed hours. */
  anyway: number | null;
  starts_at: number | null;
  batch: string | null;
}

export interface Tables {
  downloads: DownloadRow;
  /** Holds one row while the whole queue is paused. */
  downloads_pause: { id: number; since: number };
}

export function fromRow(row: DownloadRow): Item {
  return {
    uid: row.uid,
    url: row.url,
    order: { ...defaultOrderOptions, ...(JSON.parse(row.request) as Order) },
    state: row.state,
    title: row.title,
    videoId: row.video_id,
    liveStatus: row.live_status,
    playlist: row.playlist === null ? null : (JSON.parse(row.playlist) as PlaylistEntry),
    probed: row.probed === 1,
    attempts: row.attempts,
    message: row.message,
    // A code of a newer version is unknown.
    failure: FailureCode.safeParse(row.failure).data ?? null,
    failureParameters: parseFailureParameters(row.failure_parameters),
    filename: row.filename,
    size: row.size,
    ...(row.other_files === null ? {} : { otherFiles: JSON.parse(row.other_files) as readonly OtherFile[] }),
    ...(row.media === null ? {} : { media: MediaDetails.safeParse(parseJson(row.media)).data ?? null }),
    addedNs: row.added_ns,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    thumbnail: row.thumbnail,
    ...(row.starts_at === null ? {} : { startsAt: Number(row.starts_at) }),
    ...(row.anyway === 1 ? { anyway: true } : {}),
    batch: row.batch,
  };
}

/** Replaces NUL characters, which PostgreSQL does not accept in text. */
export function toStorableText<T extends string | null>(text: T): T {
  return (text === null ? null : text.replaceAll('\0', '\ufffd')) as T;
}

export function toRow(item: Item, position: number): DownloadRow {
  return {
    uid: item.uid,
    position,
    url: toStorableText(item.url),
    request: JSON.stringify(item.order),
    state: item.state,
    title: toStorableText(item.title),
    search: buildSearchText(item),
    video_id: toStorableText(item.videoId),
    live_status: item.liveStatus,
    playlist: item.playlist === null ? null : JSON.stringify(item.playlist),
    probed: item.probed ? 1 : 0,
    attempts: item.attempts,
    message: toStorableText(item.message),
    failure: item.failure ?? null,
    failure_parameters: serializeFailureParameters(item.failureParameters),
    filename: item.filename,
    size: item.size,
    other_files: serializeOtherFiles(item),
    media: serializeMediaDetails(item),
    added_ns: item.addedNs,
    created_at: item.createdAt,
    finished_at: item.finishedAt,
    finished_order: null,
    machine: null,
    host_process: null,
    host: null,
    lease_until: null,
    child_process: null,
    thumbnail: toStorableText(item.thumbnail),
    anyway: item.anyway === true ? 1 : null,
    starts_at: item.startsAt ?? null,
    batch: item.batch ?? null,
  };
}

/** Returns the column for the values of a failure's text. */
export function serializeFailureParameters(parameters: FailureParameters | null | undefined): string | null {
  // A NUL character is escaped in JSON, which PostgreSQL stores as text.
  return parameters ? JSON.stringify(parameters) : null;
}

/** Returns the values of a failure's text; null for none. */
export function parseFailureParameters(column: string | null): FailureParameters | null {
  return column === null ? null : (FailureParameters.safeParse(parseJson(column)).data ?? null);
}

export function serializeOtherFiles({ otherFiles }: Pick<Item, 'otherFiles'>): string | null {
  return otherFiles === undefined || otherFiles.length === 0 ? null : JSON.stringify(otherFiles);
}

/** Returns the column for channel, length and codecs; null when nothing is known. */
export function serializeMediaDetails({ media }: Pick<Item, 'media'>): string | null {
  return media && Object.keys(media).length > 0 ? toStorableText(JSON.stringify(media)) : null;
}

export function buildSearchText(item: Pick<Item, 'title' | 'url'>): string {
  return toStorableText(`${item.title} ${item.url}`.toLowerCase());
}
