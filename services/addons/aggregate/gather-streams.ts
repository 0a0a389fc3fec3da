import type { Text } from '../../contracts/text.ts';
import * as t from '#messages/addons-texts';
import * as m from '#messages/addons-problems';
import type { Clock, Context } from '../../contracts/service.ts';
import type { AddonConfig } from '../domain/config.ts';
import type { Conditions } from './conditions.ts';
import { getQueryType } from '../domain/expression/variables.ts';
import { supportsResource, type UpstreamManifest } from '../domain/manifest.ts';
import type { ReadStreams } from '../domain/read-stream.ts';
import type { TitleRequest } from '../domain/title-request.ts';
import type { ResourceRequest } from '../domain/resource-path.ts';
import type { ParsedStream } from '../domain/stream.ts';
import { toUpstreamFailure, toSeconds, UpstreamFailure } from '../upstream/upstream-failure.ts';
import type { UpstreamClient } from '../upstream/upstream.ts';
import type { Addon } from '../upstream/addon.ts';

/** Problem of an addon that is shown to users. */
export interface AddonError {
  readonly addon: string;
  readonly sentence: Text;
}

/** Result of one addon for the statistics. */
export interface AddonReport {
  readonly addon: string;
  readonly count: number;
  readonly ms: number;
  readonly sentence: Text | undefined;
}

export interface GatheredStreams {
  readonly streams: readonly ParsedStream[];
  readonly errors: readonly AddonError[];
  readonly reports: readonly AddonReport[];
  /** Responses that the streams were read from. An unchanged list means that the cached result is still valid. */
  readonly responses: readonly ReadStreams[];
}

/** Addons with their manifests, and the errors of the addons without one. */
export interface ReachableAddons {
  readonly addons: readonly { readonly addon: Addon; readonly manifest: UpstreamManifest }[];
  readonly errors: readonly AddonError[];
}

/** Requests all manifests at the same time. */
export async function fetchManifests(addons: readonly Addon[], upstream: UpstreamClient): Promise<ReachableAddons> {
  const results = await Promise.all(
    addons.map(async (addon) => ({ addon, result: await upstream.getManifest(addon) })),
  );
  const reachable: { addon: Addon; manifest: UpstreamManifest }[] = [];
  const errors: AddonError[] = [];
  for (const { addon, result } of results) {
    if ('failure' in result) errors.push({ addon: addon.name, sentence: result.failure.text });
    else reachable.push({ addon, manifest: filterResources(result.value, addon) });
  }
  return { addons: reachable, errors };
}

function filterResources(manifest: UpstreamManifest, { resources }: Addon): UpstreamManifest {
  if (resources === undefined) return manifest;
  const resourceNames = new Set(resources);
  return {
    ...manifest,
    resources: manifest.resources.filter(({ name }) => resourceNames.has(name)),
    catalogs: resourceNames.has('catalog') ? manifest.catalogs : [],
    addonCatalogs: resourceNames.has('addon_catalog') ? manifest.addonCatalogs : [],
  };
}

/** Returns true when an addon offers streams for a title. */
export function offersStreams(addon: Addon, manifest: UpstreamManifest, { type, id }: ResourceRequest): boolean {
  if (!supportsResource(manifest, 'stream', type, id)) return false;
  if (addon.mediaTypes.length === 0) return true;
  const anime = /^(?:kitsu|mal|anilist|anidb):/.test(id);
  return addon.mediaTypes.includes(type) || (anime && addon.mediaTypes.includes('anime'));
}

export interface GatherStreamsOptions {
  readonly context: Context;
  readonly upstream: UpstreamClient;
  readonly config: AddonConfig;
  readonly deadlineMs: number;
  readonly titleRequest: TitleRequest;
  readonly conditions: Conditions;
  /** Prepares streams for conditions. */
  readonly prepareStreams: (streams: readonly ParsedStream[]) => Promise<readonly ParsedStream[]>;
}

/**
 * Requests all addons at the same time. Each request ends at the timeout of its addon. The function returns at the
 * deadline or when enough streams have arrived; later responses fill the cache.
 */
export async function gatherStreams(
  { addons, errors }: ReachableAddons,
  request: ResourceRequest,
  options: GatherStreamsOptions,
): Promise<GatheredStreams> {
  const { context, upstream, config, deadlineMs } = options;
  const { clock } = context;
  const startedAt = clock.now();
  const requestedAddons = addons.filter(({ addon, manifest }) => offersStreams(addon, manifest, request));
  const results = new Array<AddonResult>(requestedAddons.length);
  const earlyEnd = Promise.withResolvers<void>();
  const hasEnough = createEnoughTest(config);
  const conditionErrors: AddonError[] = [];
  using timers = new DisposableStack();
  const pendingRequests = requestedAddons.map(async ({ addon }, index) => {
    const requestedAt = clock.now();
    try {
      const response = upstream.getStreams(addon, request);
      const waitMs = Math.min(addon.timeoutMs, deadlineMs);
      const parsed =
        response instanceof Promise ? await waitForResponse(clock, response, waitMs, addon.name) : response;
      const { errorMessage: message } = parsed;
      results[index] =
        message === undefined
          ? { parsed, ms: clock.now() - requestedAt }
          : new UpstreamFailure('complaint', () => m.addonSays({ name: addon.name, message }));
    } catch (error) {
      results[index] = toUpstreamFailure(error, addon.name, Math.min(addon.timeoutMs, deadlineMs));
    }
    if (hasEnough(results) || (await isConditionMet())) earlyEnd.resolve();
  });

  /** Evaluates the condition of the configuration for the streams that have arrived so far. */
  async function isConditionMet(): Promise<boolean> {
    const { enabled, condition } = config.dynamicAddonFetching ?? {};
    if (enabled !== true || !condition) return false;
    const responses = results.flatMap((result, index) =>
      result === undefined ? [] : [{ name: requestedAddons[index]?.addon.name ?? '', result }],
    );
    const streams = responses.flatMap(({ result }) => ('parsed' in result ? result.parsed.streams : []));
    const { holds, sentence } = await options.conditions.evaluate(
      condition,
      {
        queryType: getQueryType(options.titleRequest),
        totalTimeTaken: clock.now() - startedAt,
        queriedAddons: responses.map(({ name }) => name),
      },
      { totalStreams: await options.prepareStreams(streams) },
    );
    if (sentence !== undefined && conditionErrors.length === 0)
      conditionErrors.push({ addon: t.earlyEnd(), sentence: m.conditionIgnored({ problem: sentence }) });
    return holds;
  }

  const allRequests = Promise.all(pendingRequests);
  timers.use(clock.after(deadlineMs + 50, () => earlyEnd.resolve()));
  await Promise.race([allRequests, earlyEnd.promise]);

  return collectResults(requestedAddons, results, [...errors, ...conditionErrors]);
}

/** Waits for the response of an addon until its timeout. A later response still fills the cache. */
async function waitForResponse(
  clock: Clock,
  response: Promise<ReadStreams>,
  waitMs: number,
  name: string,
): Promise<ReadStreams> {
  const timeout = Promise.withResolvers<never>();
  const text = (): string => m.addonTimeoutCached({ name, seconds: toSeconds(waitMs) });
  using _timer = clock.after(waitMs, () => timeout.reject(new UpstreamFailure('timeout', text)));
  response.catch(() => undefined);
  return await Promise.race([response, timeout.promise]);
}

type AddonResult = { readonly parsed: ReadStreams; readonly ms: number } | UpstreamFailure | undefined;

/** Combines the results that have arrived, in the order of the addons. */
function collectResults(
  requestedAddons: ReachableAddons['addons'],
  results: readonly AddonResult[],
  formerErrors: readonly AddonError[],
): GatheredStreams {
  const streams: ParsedStream[] = [];
  const responses: ReadStreams[] = [];
  const errors: AddonError[] = [...formerErrors];
  const reports: AddonReport[] = [];
  for (const [index, { addon }] of requestedAddons.entries()) {
    const result = results[index];
    if (result instanceof UpstreamFailure) {
      errors.push({ addon: addon.name, sentence: result.text });
      reports.push({ addon: addon.name, count: 0, ms: 0, sentence: result.text });
    } else if (result !== undefined) {
      responses.push(result.parsed);
      const { streams: parsedStreams, totalCount } = result.parsed;
      if (totalCount !== undefined)
        errors.push({
          addon: addon.name,
          sentence: () => m.addonStreamsPartial({ name: addon.name, total: totalCount, parsed: parsedStreams.length }),
        });
      for (const stream of parsedStreams) streams.push(stream);
      reports.push({ addon: addon.name, count: parsedStreams.length, ms: result.ms, sentence: undefined });
    }
  }
  return { streams, errors, reports, responses };
}

/**
 * Returns a function that decides whether the streams that have arrived are enough, if the configuration defines a
 * minimum.
 */
function createEnoughTest({
  dynamicAddonFetching: options,
}: AddonConfig): (results: readonly AddonResult[]) => boolean {
  if (options?.enabled !== true || options.condition) return () => false;
  const minResults = options.minResults ?? 20;
  return (results) => {
    let count = 0;
    for (const result of results) {
      if (result === undefined || result instanceof UpstreamFailure) continue;
      for (const { service, file } of result.parsed.streams)
        if (
          (options.cachedOnly !== true || service?.cached === true) &&
          (!options.resolution || file.resolution === options.resolution)
        )
          count += 1;
    }
    return count >= minResults;
  };
}
