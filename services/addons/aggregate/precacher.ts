import type { AddonConfig } from '../domain/config.ts';
import { wantedOf, type Wanted } from '../domain/pipeline/title-request.ts';
import type { ResourceRequest } from '../domain/resource-path.ts';
import type { ParsedStream } from '../domain/stream.ts';
import { LruMap } from '../domain/lru-map.ts';
import type { PlaybackLinks } from '../playback/links.ts';
import type { Player } from '../playback/player.ts';
import type { Context } from '../../contracts/service.ts';
import { forSandbox, type Sandbox } from '../sandbox/sandbox.ts';
import type { Aggregator } from './aggregator.ts';
import type { Asker } from './request-context.ts';
import type { Titles } from './titles.ts';

/** Selects torrents for download only when nothing is available without one. */
const usualSelector = 'count(cached(streams)) == 0 ? uncached(streams) : []';

/** Maximum number of torrents that are added for one episode, whatever the selector returns. */
const mostAtOnce = 3;

/** Returns the request for the following episode, or undefined for titles without episodes. */
function nextEpisode(
  { type, id, ...rest }: ResourceRequest,
  { season, episode, anime, facts }: Wanted,
): ResourceRequest | undefined {
  if (episode === undefined || (type !== 'series' && !anime)) return undefined;
  const base = id.split(':').slice(0, anime ? 2 : 1);
  if (anime) return { ...rest, type, id: [...base, episode + 1].join(':') };
  if (season === undefined) return undefined;
  const listed = facts?.episodes.filter((one) => one.season > 0) ?? [];
  const at = listed.findIndex((one) => one.season === season && one.episode === episode);
  const next = at === -1 ? { season, episode: episode + 1 } : listed[at + 1];
  return next === undefined ? undefined : { ...rest, type, id: [...base, next.season, next.episode].join(':') };
}

/** Selects the streams of the next episode that a service downloads now. */
async function toPrecache(
  sandbox: Sandbox,
  streams: readonly ParsedStream[],
  config: AddonConfig,
  wanted: Wanted,
): Promise<{ readonly streams: readonly ParsedStream[]; readonly sentence?: string }> {
  const { precacheSelector, precacheCondition, alwaysPrecache } = config;
  const source =
    precacheSelector ||
    (precacheCondition ? `(${precacheCondition}) ? uncached(streams) : []` : '') ||
    (alwaysPrecache === true ? 'uncached(streams)' : usualSelector);
  const answer = await sandbox.run({ kind: 'select', source, wanted, streams: forSandbox(streams) });
  const sentence = answer === undefined ? 'The expression takes too long.' : answer.sentence;
  if (sentence !== undefined) return { streams: [], sentence: `Nothing is fetched ahead. ${sentence}` };
  const chosen = (answer?.indexes ?? []).flatMap((index) => streams[index] ?? []);
  return { streams: config.precacheSingleStream === false ? chosen.slice(0, mostAtOnce) : chosen.slice(0, 1) };
}

const hour = 3_600_000;

export interface PrecacherOptions {
  readonly context: Context;
  readonly aggregator: Aggregator;
  readonly titles: Titles;
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
  readonly #done = new LruMap<string, number>(500);

  constructor(options: PrecacherOptions) {
    this.#options = options;
  }

  /** Starts in the background after a stream request. */
  follow(asker: Asker, request: ResourceRequest): void {
    if (asker.config.precacheNextEpisode !== true || request.resource !== 'stream') return;
    const { log } = this.#options.context;
    this.#fetch(asker, request).catch((error: unknown) => log.warn('episode precache failed', { error }));
  }

  async #fetch(asker: Asker, request: ResourceRequest): Promise<void> {
    const { context, aggregator, titles, links, player, sandbox } = this.#options;
    const { clock, log } = context;
    const wanted = wantedOf(request.type, request.id);
    if (wanted.episode === undefined) return;
    const { facts } = wanted.anime ? { facts: undefined } : await titles.find(wanted);
    const next = nextEpisode(request, { ...wanted, facts });
    if (next === undefined) return;
    const key = [asker.uuid ?? asker.revision, next.type, next.id].join(' ');
    if ((this.#done.get(key) ?? 0) > clock.now() - hour) return;
    this.#done.set(key, clock.now());
    const { shown } = await aggregator.search(asker, next);
    const names = { ...wantedOf(next.type, next.id), facts, now: clock.now() };
    const { streams, sentence } = await toPrecache(sandbox, shown, asker.config, names);
    if (sentence !== undefined) log.info('episode precache skipped', { reason: sentence });
    for (const { url = '' } of streams) {
      const asked = links.readUrl(url);
      if (asked !== undefined) await player.play({ ...asked, fallback: undefined }, undefined);
    }
  }
}
