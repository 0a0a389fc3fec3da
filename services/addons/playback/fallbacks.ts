import type { FailoverLimits } from '../domain/config-failover.ts';
import { LruMap } from '../../kit/lru-map.ts';
import type { PipelineResult } from '../domain/pipeline/pipeline.ts';
import type { PlaybackLinks, PlaybackRequest } from './links.ts';

/** Maximum number of alternatives per title. */
const maxEntries = 300;
const maxLists = 200;
const maxWeight = 8_000_000;

interface FallbackEntry {
  readonly url: string;
  readonly cached: boolean;
}

interface FallbackList {
  readonly limits: FailoverLimits;
  readonly entries: readonly FallbackEntry[];
}

/** Streams that can be played instead of a stream. */
export interface FallbackStreams {
  readonly limits: FailoverLimits;
  /** The stream was listed as available without a download. */
  readonly wasAvailable: boolean;
  readonly requests: readonly PlaybackRequest[];
}

/**
 * Stores the other streams of a title, in case the selected stream does not play. The lists are only kept in memory, so
 * after a restart an address plays its own stream only.
 */
export class Fallbacks {
  readonly #links: PlaybackLinks;
  readonly #lists = new LruMap<string, FallbackList>(maxLists, {
    getWeight: ({ entries }) => entries.reduce((weight, { url }) => weight + url.length, 0),
    maxWeight,
  });

  constructor(links: PlaybackLinks) {
    this.#links = links;
  }

  /** Stores a list under a key that cannot be guessed, and adds the key to the stream addresses. */
  addFallbacks(key: string, limits: FailoverLimits, result: PipelineResult): PipelineResult {
    const duplicates = result.hidden.flatMap(({ stream, removal }) => (removal?.cause === 'duplicate' ? [stream] : []));
    const entries = [...result.visible, ...duplicates].flatMap(({ url, service }) =>
      url !== undefined && this.#links.isPlaybackUrl(url) ? [{ url, cached: service?.cached === true }] : [],
    );
    this.#lists.set(key, { limits, entries: entries.slice(0, maxEntries) });
    const linkedStreams = result.visible.map((stream) =>
      stream.url === undefined ? stream : { ...stream, url: this.#links.addFallback(stream.url, key) },
    );
    return { ...result, visible: linkedStreams };
  }

  /**
   * Returns the alternatives in the order of attempts: the same torrent at other services, because some services do not
   * report availability; then the streams that are available without a download, first the ones below the selected
   * stream and then the ones above it.
   */
  findFallbacks({ fallback, auth, file }: PlaybackRequest): FallbackStreams | undefined {
    const list = fallback === undefined ? undefined : this.#lists.get(fallback);
    if (list === undefined) return undefined;
    const entries = list.entries.flatMap(({ url, cached }) => {
      const request = this.#links.parseUrl(url);
      return request === undefined ? [] : [{ request, cached }];
    });
    const isSelected = ({ request }: (typeof entries)[number]): boolean =>
      request.auth === auth && request.file.hash === file.hash && request.file.index === file.index;
    const selectedIndex = entries.findIndex(isSelected);
    const remainingEntries = [
      ...entries.slice(selectedIndex + 1),
      ...entries.slice(0, Math.max(0, selectedIndex)),
    ].filter((entry) => !isSelected(entry));
    const isSameTorrent = ({ request }: (typeof entries)[number]): boolean => request.file.hash === file.hash;
    const orderedEntries = [
      ...remainingEntries.filter(isSameTorrent),
      ...remainingEntries.filter((entry) => entry.cached && !isSameTorrent(entry)),
    ];
    return {
      limits: list.limits,
      wasAvailable: entries[selectedIndex]?.cached === true,
      requests: orderedEntries.map(({ request }) => request),
    };
  }
}
