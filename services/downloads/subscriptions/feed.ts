import { createRefusedProblem, createServiceFailure, DownloadProblem } from '../domain/failure.ts';
import type { Order } from '../domain/order.ts';
import type { ProbeTarget } from '../engine/driver.ts';
import { findPicture, type PlaylistEntryInfo, type Probe } from '../engine/probe-result.ts';
import type { UrlPolicy } from '../engine/url-policy.ts';
import { isList, type Prober } from '../run/prober.ts';

/** Current content of a channel, playlist or feed. */
export interface Feed {
  readonly id: string;
  readonly title: string;
  /** Videos in the order of the feed. */
  readonly entries: readonly PlaylistEntryInfo[];
  /** Picture of the feed; null when the site has none. */
  readonly picture: string | null;
}

const firstCheckFactor = 10;
/** Maximum number of tabs of a channel that are searched for videos. */
const maxTabs = 5;

/**
 * Returns the number of entries to read. The first check reads more, so that older entries that move up after a
 * deletion are not new.
 */
export function getReadLimit({ itemLimit }: Pick<Order, 'itemLimit'>, scan: number, isFirst: boolean): number {
  if (isFirst) return itemLimit > 0 ? itemLimit : scan * firstCheckFactor;
  return itemLimit > 0 ? Math.min(itemLimit, scan) : scan;
}

/** Returns whether an entry of the first check counts as seen: upcoming streams do not. */
export function isPublished({ live_status: status }: PlaylistEntryInfo): boolean {
  return status !== 'is_upcoming';
}

/**
 * Reads the first videos of a feed. For a channel with tabs, the first tab with videos is used.
 * @throws Problem `downloads.single_video` (422) with MeTube's message, `downloads.engine_failed`,
 * `downloads.engine_missing`
 */
export async function readFeed(
  { prober, urlPolicy }: { readonly prober: Prober; readonly urlPolicy: UrlPolicy },
  { url, order, limit }: Pick<ProbeTarget, 'url' | 'order'> & { readonly limit: number },
  signal: AbortSignal,
): Promise<Feed> {
  const probe = async (address: string): Promise<Probe> => {
    const checkedUrl = await urlPolicy(address);
    if ('msg' in checkedUrl) throw createRefusedProblem(403, checkedUrl);
    const target = { url: address, title: '', order: { ...order, itemLimit: limit }, playlist: null };
    return await prober.preview(target, signal);
  };
  const feed = await probe(url);
  if (feed.kind === 'video') throw singleVideoProblem;
  const videos = filterVideos(feed.entries);
  if (videos.length > 0 || feed.entries.length === 0) return { ...feed, entries: videos };
  for (const { url: tab } of feed.entries.slice(0, maxTabs)) {
    if (tab === undefined || tab === null) continue;
    const tabContent = await probe(tab);
    if (tabContent.kind === 'playlist' && filterVideos(tabContent.entries).length > 0) {
      const { id, picture } = feed;
      return { id, picture, title: feed.title || tabContent.title, entries: filterVideos(tabContent.entries) };
    }
  }
  return { ...feed, entries: [] };
}

/** Returns the picture of a feed, or that of its newest video with one. */
export function findFeedPicture({ picture, entries }: Feed): string | null {
  return picture ?? entries.map(findPicture).find((each) => each !== null) ?? null;
}

/** Returns the key of a seen entry: its id, otherwise its address without the extractor's internal data. */
export function getEntryKey(entry: PlaylistEntryInfo): string {
  const address = (entry.url ?? entry.webpage_url ?? '').replace(/#__youtubedl_smuggle=.*$/, '');
  return (entry.id ?? address).slice(0, 1000).replaceAll('\0', '\ufffd');
}

/** Returns videos with an address: only those can be recognized in later checks. */
function filterVideos(entries: readonly PlaylistEntryInfo[]): readonly PlaylistEntryInfo[] {
  return entries.filter((entry) => !isList(entry) && /^https?:/.test(entry.url ?? ''));
}

const singleVideoProblem = new DownloadProblem(
  'downloads.single_video',
  422,
  createServiceFailure('single_video', 'refused'),
);
