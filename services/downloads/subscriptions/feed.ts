import { Problem } from '../../contracts/problem.ts';
import type { Order } from '../domain/order.ts';
import type { Target } from '../engine/driver.ts';
import { pictureOf, type Entry, type Probe } from '../engine/probe-result.ts';
import type { UrlPolicy } from '../add/url-policy.ts';
import { isList, type Prober } from '../add/prober.ts';

/** A channel, playlist or feed as it is now. */
export interface Feed {
  readonly id: string;
  readonly title: string;
  /** Its videos, in its order. */
  readonly entries: readonly Entry[];
  /** Its own; null where the site gives none. */
  readonly picture: string | null;
}

const firstLook = 10;
/** Tabs of a channel that are tried for videos. */
const mostTabs = 5;

/** How far a look goes: the first one further, so that what moves up when another video is deleted is no news. */
export function depthOf({ itemLimit }: Pick<Order, 'itemLimit'>, scan: number, first: boolean): number {
  if (first) return itemLimit > 0 ? itemLimit : scan * firstLook;
  return itemLimit > 0 ? Math.min(itemLimit, scan) : scan;
}

/** Whether an entry that is there at the first look counts as seen: what is announced, but has not begun, is still to come. */
export function isThere({ live_status: status }: Entry): boolean {
  return status !== 'is_upcoming';
}

/**
 * Looks at the first videos of a feed. Of a channel that has its videos in tabs, the first tab with any is taken.
 * @throws Problem `downloads.single_video` (422) in the peer's words, `downloads.engine_failed`, `downloads.engine_missing`
 */
export async function readFeed(
  { prober, gate }: { readonly prober: Prober; readonly gate: UrlPolicy },
  { url, order, most }: Pick<Target, 'url' | 'order'> & { readonly most: number },
  signal: AbortSignal,
): Promise<Feed> {
  const look = async (address: string): Promise<Probe> => {
    const allowed = await gate(address);
    if ('msg' in allowed) throw new Problem('downloads.refused', 403, allowed.msg);
    const target = { url: address, title: '', order: { ...order, itemLimit: most }, playlist: null };
    return await prober.look(target, signal);
  };
  const found = await look(url);
  if (found.kind === 'video') throw singleVideo;
  const videos = videosOf(found.entries);
  if (videos.length > 0 || found.entries.length === 0) return { ...found, entries: videos };
  for (const { url: tab } of found.entries.slice(0, mostTabs)) {
    if (tab === undefined || tab === null) continue;
    const inside = await look(tab);
    if (inside.kind === 'playlist' && videosOf(inside.entries).length > 0) {
      const { id, picture } = found;
      return { id, picture, title: found.title || inside.title, entries: videosOf(inside.entries) };
    }
  }
  return { ...found, entries: [] };
}

/** The picture that stands for a feed: its own, else that of its newest video with one. */
export function faceOf({ picture, entries }: Feed): string | null {
  return picture ?? entries.map(pictureOf).find((each) => each !== null) ?? null;
}

/** What an entry is remembered by: its id with its site, else its address without the extractor's own notes. */
export function entryKey(entry: Entry): string {
  const address = (entry.url ?? entry.webpage_url ?? '').replace(/#__youtubedl_smuggle=.*$/, '');
  return (entry.id ?? address).slice(0, 1000).replaceAll('\0', '\ufffd');
}

/** Videos that can be opened by an address of their own: only those can be told apart from one look to the next. */
function videosOf(entries: readonly Entry[]): readonly Entry[] {
  return entries.filter((entry) => !isList(entry) && /^https?:/.test(entry.url ?? ''));
}

const singleVideo = new Problem(
  'downloads.single_video',
  422,
  'This URL points to a single video, not a channel or playlist. Use Download instead.',
);
