import type { FailoverLimits } from '../domain/config-failover.ts';
import { LruMap } from '../domain/lru-map.ts';
import type { PipelineResult } from '../domain/pipeline/pipeline.ts';
import type { PlaybackLinks, PlaybackRequest } from './links.ts';

/** Maximum number of alternatives per title. */
const mostKept = 300;
const mostLists = 200;
const mostWeight = 8_000_000;

interface Entry {
  readonly url: string;
  readonly cached: boolean;
}

interface List {
  readonly limits: FailoverLimits;
  readonly entries: readonly Entry[];
}

/** Streams that can be played instead of a stream. */
export interface Others {
  readonly limits: FailoverLimits;
  /** The stream was listed as available without a download. */
  readonly wasReady: boolean;
  readonly requests: readonly PlaybackRequest[];
}

/**
 * Stores the other streams of a title, in case the selected stream does not play. The lists are only kept in memory, so
 * after a restart an address plays its own stream only.
 */
export class Fallbacks {
  readonly #links: PlaybackLinks;
  readonly #lists = new LruMap<string, List>(mostLists, {
    weigh: ({ entries }) => entries.reduce((weight, { url }) => weight + url.length, 0),
    mostWeight,
  });

  constructor(links: PlaybackLinks) {
    this.#links = links;
  }

  /** Stores a list under a key that cannot be guessed, and adds the key to the stream addresses. */
  keep(key: string, limits: FailoverLimits, result: PipelineResult): PipelineResult {
    const twins = result.hidden.flatMap(({ stream, removal }) => (removal?.rule === 'Duplicate' ? [stream] : []));
    const entries = [...result.shown, ...twins].flatMap(({ url, service }) =>
      url !== undefined && this.#links.isOwn(url) ? [{ url, cached: service?.cached === true }] : [],
    );
    this.#lists.set(key, { limits, entries: entries.slice(0, mostKept) });
    const shown = result.shown.map((stream) =>
      stream.url === undefined ? stream : { ...stream, url: this.#links.withFallback(stream.url, key) },
    );
    return { ...result, shown };
  }

  /**
   * Returns the alternatives in the order of attempts: the same torrent at other services, because some services do not
   * report availability; then the streams that are available without a download, first the ones below the selected
   * stream and then the ones above it.
   */
  of({ fallback, auth, file }: PlaybackRequest): Others | undefined {
    const list = fallback === undefined ? undefined : this.#lists.get(fallback);
    if (list === undefined) return undefined;
    const entries = list.entries.flatMap(({ url, cached }) => {
      const request = this.#links.readUrl(url);
      return request === undefined ? [] : [{ request, cached }];
    });
    const isChosen = ({ request }: (typeof entries)[number]): boolean =>
      request.auth === auth && request.file.hash === file.hash && request.file.index === file.index;
    const at = entries.findIndex(isChosen);
    const rest = [...entries.slice(at + 1), ...entries.slice(0, Math.max(0, at))].filter((one) => !isChosen(one));
    const isSame = ({ request }: (typeof entries)[number]): boolean => request.file.hash === file.hash;
    const ordered = [...rest.filter(isSame), ...rest.filter((one) => one.cached && !isSame(one))];
    return {
      limits: list.limits,
      wasReady: entries[at]?.cached === true,
      requests: ordered.map(({ request }) => request),
    };
  }
}
