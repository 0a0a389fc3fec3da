import type { Context } from '../../contracts/service.ts';
import type { AddonConfig } from '../domain/config.ts';
import type { Conditions } from './conditions.ts';
import { queryType } from '../domain/expression/variables.ts';
import { handles, type UpstreamManifest } from '../domain/manifest.ts';
import type { ReadStreams } from '../domain/read-stream.ts';
import type { Wanted } from '../domain/pipeline/title-request.ts';
import type { ResourceRequest } from '../domain/resource-path.ts';
import type { ParsedStream } from '../domain/stream.ts';
import { explainUpstream, inSeconds, UpstreamFailure } from '../upstream/upstream-failure.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { Addon } from './addon.ts';

/** Problem of an addon that is shown to users. */
export interface AddonError {
  readonly addon: string;
  readonly sentence: string;
}

/** Result of one addon for the statistics. */
export interface AddonReport {
  readonly addon: string;
  readonly count: number;
  readonly ms: number;
  readonly sentence: string | undefined;
}

export interface Gathered {
  readonly streams: readonly ParsedStream[];
  readonly errors: readonly AddonError[];
  readonly reports: readonly AddonReport[];
  /** Responses that the streams were read from. An unchanged list means that the cached result is still valid. */
  readonly answers: readonly ReadStreams[];
}

/** Addons with their manifests, and the errors of the addons without one. */
export interface Reached {
  readonly addons: readonly { readonly addon: Addon; readonly manifest: UpstreamManifest }[];
  readonly errors: readonly AddonError[];
}

/** Requests all manifests at the same time. */
export async function reach(addons: readonly Addon[], upstream: Upstream): Promise<Reached> {
  const told = await Promise.all(addons.map(async (addon) => ({ addon, told: await upstream.manifest(addon) })));
  const reached: { addon: Addon; manifest: UpstreamManifest }[] = [];
  const errors: AddonError[] = [];
  for (const { addon, told: answer } of told) {
    if ('failure' in answer) errors.push({ addon: addon.name, sentence: answer.failure.message });
    else reached.push({ addon, manifest: withoutUnwanted(answer.value, addon) });
  }
  return { addons: reached, errors };
}

function withoutUnwanted(manifest: UpstreamManifest, { resources }: Addon): UpstreamManifest {
  if (resources === undefined) return manifest;
  const wanted = new Set(resources);
  return {
    ...manifest,
    resources: manifest.resources.filter(({ name }) => wanted.has(name)),
    catalogs: wanted.has('catalog') ? manifest.catalogs : [],
    addonCatalogs: wanted.has('addon_catalog') ? manifest.addonCatalogs : [],
  };
}

/** Returns true when an addon offers streams for a title. */
export function isAsked(addon: Addon, manifest: UpstreamManifest, { type, id }: ResourceRequest): boolean {
  if (!handles(manifest, 'stream', type, id)) return false;
  if (addon.mediaTypes.length === 0) return true;
  const anime = /^(?:kitsu|mal|anilist|anidb):/.test(id);
  return addon.mediaTypes.includes(type) || (anime && addon.mediaTypes.includes('anime'));
}

export interface GatherOptions {
  readonly context: Context;
  readonly upstream: Upstream;
  readonly config: AddonConfig;
  readonly deadlineMs: number;
  readonly wanted: Wanted;
  readonly conditions: Conditions;
  /** Prepares streams for conditions. */
  readonly ready: (streams: readonly ParsedStream[]) => Promise<readonly ParsedStream[]>;
}

/**
 * Requests all addons at the same time. Each request ends at the timeout of its addon. The function returns at the
 * deadline or when enough streams have arrived; later responses fill the cache.
 */
export async function gatherStreams(
  { addons, errors }: Reached,
  request: ResourceRequest,
  options: GatherOptions,
): Promise<Gathered> {
  const { context, upstream, config, deadlineMs } = options;
  const { clock } = context;
  const began = clock.now();
  const asked = addons.filter(({ addon, manifest }) => isAsked(addon, manifest, request));
  const results = new Array<{ readonly read: ReadStreams; readonly ms: number } | UpstreamFailure | undefined>(
    asked.length,
  );
  const enough = Promise.withResolvers<void>();
  const isEnough = enoughFor(config);
  const complaints: AddonError[] = [];
  using timers = new DisposableStack();
  const each = asked.map(async ({ addon }, index) => {
    const askedAt = clock.now();
    try {
      const answer = upstream.streams(addon, request);
      const waitMs = Math.min(addon.timeoutMs, deadlineMs);
      const read = answer instanceof Promise ? await patiently(answer, waitMs, addon.name) : answer;
      results[index] =
        read.complaint === undefined
          ? { read, ms: clock.now() - askedAt }
          : new UpstreamFailure('complaint', `${addon.name} says: ${read.complaint}`);
    } catch (error) {
      results[index] = explainUpstream(error, addon.name, Math.min(addon.timeoutMs, deadlineMs));
    }
    if (isEnough(results) || (await isMet())) enough.resolve();
  });

  async function patiently(answer: Promise<ReadStreams>, waitMs: number, name: string): Promise<ReadStreams> {
    const late = Promise.withResolvers<never>();
    const sentence = `${name} did not answer within ${inSeconds(waitMs)}. It will be faster next time if it answers at all.`;
    using _timer = clock.after(waitMs, () => late.reject(new UpstreamFailure('timeout', sentence)));
    // A response after the timeout still fills the cache.
    answer.catch(() => undefined);
    return await Promise.race([answer, late.promise]);
  }

  /** Evaluates the condition of the configuration for the streams that have arrived so far. */
  async function isMet(): Promise<boolean> {
    const { enabled, condition } = config.dynamicAddonFetching ?? {};
    if (enabled !== true || !condition) return false;
    const there = results.flatMap((result, at) =>
      result === undefined ? [] : [{ name: asked[at]?.addon.name ?? '', result }],
    );
    const streams = there.flatMap(({ result }) => ('read' in result ? result.read.streams : []));
    const { holds, sentence } = await options.conditions.evaluate(
      condition,
      {
        queryType: queryType(options.wanted),
        totalTimeTaken: clock.now() - began,
        queriedAddons: there.map(({ name }) => name),
      },
      { totalStreams: await options.ready(streams) },
    );
    if (sentence !== undefined && complaints.length === 0)
      complaints.push({ addon: 'Early end', sentence: `The condition has no effect. ${sentence}` });
    return holds;
  }

  const all = Promise.all(each);
  timers.use(clock.after(deadlineMs + 50, () => enough.resolve()));
  await Promise.race([all, enough.promise]);

  const streams: ParsedStream[] = [];
  const answers: ReadStreams[] = [];
  const told: AddonError[] = [...errors, ...complaints];
  const reports: AddonReport[] = [];
  for (const [index, { addon }] of asked.entries()) {
    const result = results[index];
    if (result instanceof UpstreamFailure) {
      told.push({ addon: addon.name, sentence: result.message });
      reports.push({ addon: addon.name, count: 0, ms: 0, sentence: result.message });
    } else if (result !== undefined) {
      answers.push(result.read);
      const { streams: looked, cutFrom } = result.read;
      if (cutFrom !== undefined)
        told.push({
          addon: addon.name,
          sentence: `${addon.name} answered with ${String(cutFrom)} streams, more than anybody looks through; ${String(looked.length)} of them are here.`,
        });
      for (const stream of result.read.streams) streams.push(stream);
      reports.push({ addon: addon.name, count: result.read.streams.length, ms: result.ms, sentence: undefined });
    }
  }
  return { streams, errors: told, reports, answers };
}

/**
 * Returns a function that decides whether the streams that have arrived are enough, if the configuration defines a
 * minimum.
 */
function enoughFor({
  dynamicAddonFetching: options,
}: AddonConfig): (results: readonly ({ readonly read: ReadStreams } | UpstreamFailure | undefined)[]) => boolean {
  if (options?.enabled !== true || options.condition) return () => false;
  const least = options.minResults ?? 20;
  return (results) => {
    let count = 0;
    for (const result of results) {
      if (result === undefined || result instanceof UpstreamFailure) continue;
      for (const { service, file } of result.read.streams)
        if (
          (options.cachedOnly !== true || service?.cached === true) &&
          (!options.resolution || file.resolution === options.resolution)
        )
          count += 1;
    }
    return count >= least;
  };
}
