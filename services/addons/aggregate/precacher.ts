import type { AddonConfig } from '../domain/config.ts';
import { parseTitleRequest, type TitleRequest } from '../domain/title-request.ts';
import type { ResourceRequest } from '../domain/resource-path.ts';
import type { ParsedStream } from '../domain/stream.ts';
import { LruMap } from '../../kit/lru-map.ts';
import type { PlaybackLinks } from '../playback/links.ts';
import type { Player } from '../playback/player.ts';
import type { Context } from '../../contracts/service.ts';
import { toSandboxStreams, type Sandbox } from '../sandbox/sandbox.ts';
import type { Aggregator } from './aggregator.ts';
import type { RequestContext } from './request-context.ts';
import type { TitleLookup } from './titles.ts';

/** Selects torrents for download only when nothing is available without one. */
const defaultSelector = 'count(cached(streams)) == 0 ? uncached(streams) : []';

/** Maximum number of torrents that are added for one episode, whatever the selector returns. */
const maxTorrents = 3;

/** Returns the request for the following episode, or undefined for titles without episodes. */
function findNextEpisode(
  { type, id, ...rest }: ResourceRequest,
  { season, episode, anime, facts }: TitleRequest,
): ResourceRequest | undefined {
  if (episode === undefined || (type !== 'series' && !anime)) return undefined;
  const idSegments = id.split(':').slice(0, anime ? 2 : 1);
  if (anime) return { ...rest, type, id: [...idSegments, episode + 1].join(':') };
  if (season === undefined) return undefined;
  const regularEpisodes = facts?.episodes.filter((episodeEntry) => episodeEntry.season > 0) ?? [];
  const episodeIndex = regularEpisodes.findIndex(
    (episodeEntry) => episodeEntry.season === season && episodeEntry.episode === episode,
  );
  const nextEntry = episodeIndex === -1 ? { season, episode: episode + 1 } : regularEpisodes[episodeIndex + 1];
  return nextEntry === undefined
    ? undefined
    : { ...rest, type, id: [...idSegments, nextEntry.season, nextEntry.episode].join(':') };
}

/** Selects the streams of the next episode that a service downloads now. */
async function selectPrecacheStreams(
  sandbox: Sandbox,
  streams: readonly ParsedStream[],
  config: AddonConfig,
  titleRequest: TitleRequest,
): Promise<{ readonly streams: readonly ParsedStream[]; readonly sentence?: string }> {
  const { precacheSelector, precacheCondition, alwaysPrecache } = config;
  const source =
    precacheSelector ||
    (precacheCondition ? `(${precacheCondition}) ? uncached(streams) : []` : '') ||
    (alwaysPrecache === true ? 'uncached(streams)' : defaultSelector);
  const result = await sandbox.run({ kind: 'select', source, titleRequest, streams: toSandboxStreams(streams) });
  const sentence = result === undefined ? 'expression too slow' : result.sentence;
  if (sentence !== undefined) return { streams: [], sentence };
  const selectedStreams = (result?.indexes ?? []).flatMap((index) => streams[index] ?? []);
  return {
    streams:
      config.precacheSingleStream === false ? selectedStreams.slice(0, maxTorrents) : selectedStreams.slice(0, 1),
  };
}

const hourMs = 3_600_000;

export interface PrecacherOptions {
  readonly context: Context;
  readonly aggregator: Aggregator;
  readonly titles: TitleLookup;
  readonly links: PlaybackLinks;
  readonly player: Player;
  readonly sandbox: Sandbox;
}

/**
 * Lets a debrid service download the next episode while the current one is watched, if the configuration enables it.
 */
export class Precacher {
  readonly #options: PrecacherOptions;
  /** Episodes that were processed in the last hour. */
  readonly #processedAt = new LruMap<string, number>(500);

  constructor(options: PrecacherOptions) {
    this.#options = options;
  }

  /** Starts in the background after a stream request. */
  precacheNextEpisode(requestContext: RequestContext, request: ResourceRequest): void {
    if (requestContext.config.precacheNextEpisode !== true || request.resource !== 'stream') return;
    const { log } = this.#options.context;
    this.#precache(requestContext, request).catch((error: unknown) => log.warn('episode precache failed', { error }));
  }

  async #precache(requestContext: RequestContext, request: ResourceRequest): Promise<void> {
    const { context, aggregator, titles, links, player, sandbox } = this.#options;
    const { clock, log } = context;
    const titleRequest = parseTitleRequest(request.type, request.id);
    if (titleRequest.episode === undefined) return;
    const { facts } = titleRequest.anime ? { facts: undefined } : await titles.findMetadata(titleRequest);
    const nextRequest = findNextEpisode(request, { ...titleRequest, facts });
    if (nextRequest === undefined) return;
    const key = [requestContext.uuid ?? requestContext.revision, nextRequest.type, nextRequest.id].join(' ');
    if ((this.#processedAt.get(key) ?? 0) > clock.now() - hourMs) return;
    this.#processedAt.set(key, clock.now());
    const { visible: visibleStreams } = await aggregator.search(requestContext, nextRequest);
    const nextTitleRequest = { ...parseTitleRequest(nextRequest.type, nextRequest.id), facts, now: clock.now() };
    const { streams, sentence } = await selectPrecacheStreams(
      sandbox,
      visibleStreams,
      requestContext.config,
      nextTitleRequest,
    );
    if (sentence !== undefined) log.info('episode precache skipped', { reason: sentence });
    for (const { url = '' } of streams) {
      const playbackRequest = links.parseUrl(url);
      if (playbackRequest !== undefined) await player.play({ ...playbackRequest, fallback: undefined }, undefined);
    }
  }
}
