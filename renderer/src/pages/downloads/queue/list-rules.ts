import * as m from '#messages/downloads';
import type { Download, DownloadKind } from '../../../../../services/contracts/downloads/api.ts';

/** Maximum number of links that one paste or drop adds. */
const maxLinks = 500;

export function hasEnded({ state }: Pick<Download, 'state'>): boolean {
  return state === 'finished' || state === 'failed';
}

/** Moves rows, in the order of `uids`, before another row; `null` moves them to the end. */
export function moveRows<Row extends { readonly uid: string }>(
  rows: readonly Row[],
  uids: readonly string[],
  before: string | null,
): readonly Row[] {
  const selectedUids = new Set(uids);
  const rowsByUid = new Map(rows.flatMap((row) => (selectedUids.has(row.uid) ? [[row.uid, row] as const] : [])));
  const movedRows = uids.flatMap((uid) => rowsByUid.get(uid) ?? []);
  const rest = rows.filter(({ uid }) => !selectedUids.has(uid));
  const beforeIndex = before === null ? -1 : rest.findIndex(({ uid }) => uid === before);
  const index = beforeIndex < 0 ? rest.length : beforeIndex;
  return [...rest.slice(0, index), ...movedRows, ...rest.slice(index)];
}

/** Sorts rows by a saved order; rows that were added since then come last. */
export function sortByUids<Row extends { readonly uid: string }>(
  rows: readonly Row[],
  order: readonly string[],
): readonly Row[] {
  const positions = new Map(order.map((uid, index) => [uid, index]));
  return rows.toSorted((a, b) => (positions.get(a.uid) ?? Infinity) - (positions.get(b.uid) ?? Infinity));
}

/**
 * Replaces rows by their changed versions and removes these from `own`. Rows that moved to the other list are left out.
 */
export function applyUpdates(
  rows: readonly Download[],
  updates: Map<string, Download>,
  allUpdates: ReadonlyMap<string, Download>,
): readonly Download[] {
  return rows.flatMap((row) => {
    const next = updates.get(row.uid);
    updates.delete(row.uid);
    if (next !== undefined) return [next];
    return allUpdates.has(row.uid) ? [] : [row];
  });
}

/**
 * Returns a row of the queue as it will be after it is paused or resumed.
 *
 * @param uids Rows that the action is for; undefined means the whole queue.
 */
export function applyQueueAction(
  download: Download,
  action: 'pause' | 'resume',
  uids: readonly string[] | undefined,
): Download {
  const { uid, state } = download;
  const isSelected = uids?.includes(uid) ?? true;
  if (action === 'resume') return isSelected && state === 'paused' ? { ...download, state: 'waiting' } : download;
  const running = ['preparing', 'downloading', 'postprocessing'].includes(state);
  if (!isSelected || state === 'pending' || (uids === undefined && !running)) return download;
  return { ...download, state: 'paused', speed: null, eta: null, message: null, activity: undefined };
}

/** Returns the filters of the history, with their labels. */
export const getHistoryFilters = () =>
  [
    ['all', m.everything()],
    ['finished', m.finishedDownloads()],
    ['failed', m.failedDownloads()],
    ['video', m.videos()],
    ['audio', m.audio()],
    ['captions', m.subtitles()],
    ['thumbnail', m.pictures()],
  ] as const;
export type HistoryFilter = ReturnType<typeof getHistoryFilters>[number][0];

/** Converts a filter to query parameters of the API. */
export function toFilterQuery(filter: HistoryFilter): { state?: 'finished' | 'failed'; kind?: DownloadKind } {
  if (filter === 'all') return {};
  return filter === 'finished' || filter === 'failed' ? { state: filter } : { kind: filter };
}

/** Checks a row of the history against a search and a filter by the rules of the API. */
export function matchesFilter({ title, url, state, kind }: Download, search: string, filter: HistoryFilter): boolean {
  if (filter !== 'all' && filter !== state && filter !== kind) return false;
  const text = `${title} ${url}`.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/**
 * Extracts the distinct web addresses of a text. Without any, returns the text itself, so that the API can report what is
 * wrong with it.
 */
export function extractLinks(text: string): readonly string[] {
  const urls = text.split(/[\s<>"]+/).filter((word) => /^https?:\/\/./i.test(word));
  if (urls.length > 0) return [...new Set(urls)].slice(0, maxLinks);
  return text.trim() === '' ? [] : [text.trim()];
}

/**
 * Extracts the addresses of a link file: `.url` and `.desktop` (a line `URL=`), `.webloc` (a property list), or plain text.
 */
export function extractFileLinks(text: string): readonly string[] {
  const shortcutUrl = /^URL=(https?:\/\/\S+)/im.exec(text)?.[1];
  if (shortcutUrl !== undefined) return [shortcutUrl];
  const plistUrl = /<string>(https?:\/\/[^<]+)<\/string>/i.exec(text)?.[1];
  if (plistUrl !== undefined) return [plistUrl.replaceAll('&amp;', '&')];
  return extractLinks(text).filter((link) => /^https?:/i.test(link));
}
