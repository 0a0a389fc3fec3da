import type { Download, DownloadKind } from '../../../../services/contracts/downloads/api.ts';

/** Most links that are taken from one paste or drop. */
const mostLinks = 500;

export function isOver({ state }: Pick<Download, 'state'>): boolean {
  return state === 'finished' || state === 'failed';
}

/** The rows with some of them, in the order they are named, taken before another one; null: to the end. */
export function moved<Row extends { readonly uid: string }>(
  rows: readonly Row[],
  uids: readonly string[],
  before: string | null,
): readonly Row[] {
  const named = new Set(uids);
  const known = new Map(rows.flatMap((row) => (named.has(row.uid) ? [[row.uid, row] as const] : [])));
  const going = uids.flatMap((uid) => known.get(uid) ?? []);
  const rest = rows.filter(({ uid }) => !named.has(uid));
  const found = before === null ? -1 : rest.findIndex(({ uid }) => uid === before);
  const index = found < 0 ? rest.length : found;
  return [...rest.slice(0, index), ...going, ...rest.slice(index)];
}

/** The rows in an order that was remembered; those that came since stay behind. */
export function inOrder<Row extends { readonly uid: string }>(
  rows: readonly Row[],
  order: readonly string[],
): readonly Row[] {
  const places = new Map(order.map((uid, index) => [uid, index]));
  return rows.toSorted((a, b) => (places.get(a.uid) ?? Infinity) - (places.get(b.uid) ?? Infinity));
}

/** The rows with their changes taken out of `own`; rows that went to the other list are left out. */
export function renewed(
  rows: readonly Download[],
  own: Map<string, Download>,
  all: ReadonlyMap<string, Download>,
): readonly Download[] {
  return rows.flatMap((row) => {
    const next = own.get(row.uid);
    own.delete(row.uid);
    if (next !== undefined) return [next];
    return all.has(row.uid) ? [] : [row];
  });
}

/** A row of the queue as it will stand when it is paused or resumed; `uids`: those that are named, undefined for all. */
export function steered(download: Download, what: 'pause' | 'resume', uids: readonly string[] | undefined): Download {
  const { uid, state } = download;
  const named = uids?.includes(uid) ?? true;
  if (what === 'resume') return named && state === 'paused' ? { ...download, state: 'waiting' } : download;
  const running = ['preparing', 'downloading', 'postprocessing'].includes(state);
  if (!named || state === 'pending' || (uids === undefined && !running)) return download;
  return { ...download, state: 'paused', speed: null, eta: null, message: null };
}

/** What of the history is shown. */
export const historyFilters = [
  ['all', 'Everything'],
  ['finished', 'Finished'],
  ['failed', 'Failed'],
  ['video', 'Videos'],
  ['audio', 'Audio'],
  ['captions', 'Subtitles'],
  ['thumbnail', 'Pictures'],
] as const;
export type HistoryFilter = (typeof historyFilters)[number][0];

/** The filter in the words of the host. */
export function filterQuery(filter: HistoryFilter): { state?: 'finished' | 'failed'; kind?: DownloadKind } {
  if (filter === 'all') return {};
  return filter === 'finished' || filter === 'failed' ? { state: filter } : { kind: filter };
}

/** Whether a row of the history fits a search and a filter, as the host would say. */
export function fits({ title, url, state, kind }: Download, search: string, filter: HistoryFilter): boolean {
  if (filter !== 'all' && filter !== state && filter !== kind) return false;
  const text = `${title} ${url}`.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** Web addresses in a text, each once; without any the text itself, so that the host can say what is wrong with it. */
export function linksIn(text: string): readonly string[] {
  const words = text.split(/[\s<>"]+/).filter((word) => /^https?:\/\/./i.test(word));
  if (words.length > 0) return [...new Set(words)].slice(0, mostLinks);
  return text.trim() === '' ? [] : [text.trim()];
}

/** The address in a link file as desktops write them: `.url` and `.desktop` (a line `URL=`), `.webloc` (a property list), or text. */
export function linksInFile(text: string): readonly string[] {
  const line = /^URL=(https?:\/\/\S+)/im.exec(text)?.[1];
  if (line !== undefined) return [line];
  const listed = /<string>(https?:\/\/[^<]+)<\/string>/i.exec(text)?.[1];
  if (listed !== undefined) return [listed.replaceAll('&amp;', '&')];
  return linksIn(text).filter((link) => /^https?:/i.test(link));
}
