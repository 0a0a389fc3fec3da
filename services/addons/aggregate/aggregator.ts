import { readText, type Text } from '../../contracts/text.ts';
import * as m from '#messages/addons-problems';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { AddonConfig } from '../domain/config.ts';
import { getFailoverLimits } from '../domain/config-failover.ts';
import { buildFormatContext, addDuration } from '../domain/format-context.ts';
import { compileFormat, type Formatter } from '../domain/format/predefined.ts';
import { LruMap } from '../../kit/lru-map.ts';
import { isKnownPreset } from '../domain/presets.ts';
import type { Activity } from '../activity.ts';
import { compileFilter } from '../domain/pipeline/filter.ts';
import type { PipelineResult } from '../domain/pipeline/pipeline.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { Conditions } from './conditions.ts';
import { filterStreams, needsSandbox } from './filter-streams.ts';
import { parseTitleRequest, type TitleRequest } from '../domain/title-request.ts';
import type { ParsedStream } from '../domain/stream.ts';
import type { ResourceRequest } from '../domain/resource-path.ts';
import type { Playback } from '../playback/playback.ts';
import type { ProviderPool } from '../providers/provider-pool.ts';
import { wrapTorrents, type UsableService } from '../playback/wrap-torrents.ts';
import type { Settings } from '../settings.ts';
import type { UpstreamClient } from '../upstream/upstream.ts';
import { buildErrorMeta, parseErrorMeta, type ErrorItem } from './error-items.ts';
import { buildHiddenTitleErrors } from './hidden-title-errors.ts';
import { buildListItems, type SearchResult } from './list-items.ts';
import { getProviderAccounts } from './provider-accounts.ts';
import {
  resolveAddons,
  requireAddons,
  type ResolveAddonsOptions,
  type ConfiguredAddons,
  type ConfigurationIdentity,
} from './configured-addons.ts';
import type { RequestContext } from './request-context.ts';
import type { Metadata } from './metadata.ts';
import type { Addon } from '../upstream/addon.ts';
import { gatherStreams, fetchManifests, type GatheredStreams, type ReachableAddons } from './gather-streams.ts';
import { gatherGroups, hasGroups } from './gather-groups.ts';
import { getCatalog, type CatalogContext } from './catalog.ts';
import { buildManifest, buildUnconfiguredManifest } from './installed-manifest.ts';
import { StreamListCache, buildListKey } from './stream-list-cache.ts';
import { getMeta, getSubtitles } from './other-resources.ts';
import { PatternMatcher } from './patterns.ts';
import { startLookups, type LookupResults } from './lookups.ts';
import { markRecommended } from './seadex.ts';

const manifestTimeoutMs = 10_000;

export interface AggregatorOptions {
  readonly upstream: UpstreamClient;
  readonly addons: ResolveAddonsOptions;
  readonly pool: ProviderPool;
  readonly playback: Pick<Playback, 'fallbacks' | 'history' | 'links'>;
  readonly metadata: Metadata;
  readonly sandbox: Sandbox;
  readonly activity: Activity;
}

/** Combines several addons into one. */
export class Aggregator {
  readonly #context: Context;
  readonly #settings: Settings;
  readonly #options: AggregatorOptions;
  readonly #patterns: PatternMatcher;
  #lists = new StreamListCache();
  /** Number of finished lists. Services with the same torrent take turns by it. */
  #finishedLists = 0;
  readonly #formatters = new LruMap<string, Formatter>(50);

  constructor(context: Context, settings: Settings, options: AggregatorOptions) {
    this.#context = context;
    this.#settings = settings;
    this.#options = options;
    this.#patterns = new PatternMatcher(options.sandbox, () => settings.regexFilterAccess);
  }

  /** Discards cached lists, because they may depend on changed settings. */
  clearLists(): void {
    this.#lists = new StreamListCache();
  }

  resolveAddons(requestContext: ConfigurationIdentity & Pick<RequestContext, 'config'>): ConfiguredAddons {
    return resolveAddons(requestContext.config, requestContext, this.#options.addons);
  }

  /**
   * Requests the manifest of every addon.
   *
   * @throws Problem `addons.invalid_config` (400) for the first addon that fails.
   */
  async verifyAddons(requestContext: ConfigurationIdentity & Pick<RequestContext, 'config'>): Promise<void> {
    const [failure] = await this.#findManifestFailures(requireAddons(this.resolveAddons(requestContext)));
    if (failure !== undefined)
      throw new Problem('addons.invalid_config', 400, () =>
        m.manifestNotFetched({ name: failure.addon.name, reason: readText(failure.text) }),
      );
  }

  /** Requests the manifest of every addon. Returns a message for each addon that cannot be used. */
  async findAddonProblems(
    requestContext: ConfigurationIdentity & Pick<RequestContext, 'config'>,
  ): Promise<readonly string[]> {
    const { addons, problems } = this.resolveAddons(requestContext);
    const failures = await this.#findManifestFailures(addons);
    return [
      ...problems.filter(({ preset }) => isKnownPreset(preset)).map(({ sentence }) => sentence),
      ...failures.map(({ text }) => readText(text)),
    ];
  }

  async #findManifestFailures(
    addons: readonly Addon[],
  ): Promise<readonly { readonly addon: Addon; readonly text: Text }[]> {
    const failures = await Promise.all(
      addons.map(async (addon) => {
        const options = { bypassCache: true, timeoutMs: manifestTimeoutMs };
        const result = await this.#options.upstream.getManifest(addon, options);
        return 'failure' in result ? [{ addon, text: result.failure.text }] : [];
      }),
    );
    return failures.flat();
  }

  async getManifest(requestContext: RequestContext): Promise<Record<string, unknown>> {
    const { addons } = await fetchManifests(this.resolveAddons(requestContext).addons, this.#options.upstream);
    return buildManifest(requestContext, addons, this.#settings);
  }

  /** Returns the manifest without a configuration. */
  getUnconfiguredManifest(): Record<string, unknown> {
    return buildUnconfiguredManifest(this.#settings);
  }

  /** Returns the JSON text of a resource. */
  async getResource(
    requestContext: RequestContext,
    request: ResourceRequest,
  ): Promise<{ readonly text: string; readonly status: number }> {
    const { resource } = request;
    if (resource === 'stream') return { text: await this.#streams(requestContext, request), status: 200 };
    if (resource === 'meta') {
      const card = parseErrorMeta(request.id);
      if (card !== undefined)
        return { text: JSON.stringify({ meta: buildErrorMeta(card, request.type) }), status: 200 };
    }
    const reachable = await fetchManifests(this.resolveAddons(requestContext).addons, this.#options.upstream);
    const body =
      resource === 'catalog' || resource === 'addon_catalog'
        ? await getCatalog(this.#buildCatalogContext(), requestContext, request, reachable.addons)
        : resource === 'meta'
          ? await getMeta(this.#options.upstream, requestContext, request, reachable.addons)
          : await getSubtitles(this.#options.upstream, requestContext, request, reachable.addons);
    return { text: JSON.stringify(body), status: 200 };
  }

  #buildCatalogContext(): CatalogContext {
    const { clock, random } = this.#context;
    return { upstream: this.#options.upstream, now: clock.now(), randomSeed: random.text(12) };
  }

  /** Requests all addons and runs the pipeline. The result includes hidden streams with the reason. */
  async search(requestContext: RequestContext, request: ResourceRequest): Promise<SearchResult> {
    const { gatheredStreams, lookups, problems } = await this.#fetchStreams(requestContext, request);
    return await this.#runPipeline(requestContext, request, { lookups: await lookups(), gatheredStreams, problems });
  }

  async #streams(requestContext: RequestContext, request: ResourceRequest): Promise<string> {
    const { clock } = this.#context;
    const startedAt = performance.now();
    const { errors, gatheredStreams, lookups, problems } = await this.#fetchStreams(requestContext, request);
    this.#options.activity.recordList([...gatheredStreams.reports, ...errors], requestContext);
    const key = buildListKey(requestContext, request);
    const isComplete = gatheredStreams.errors.length === 0 && problems.length === 0;
    const cachedText = isComplete ? this.#lists.get(key, gatheredStreams.responses, clock.now()) : undefined;
    if (cachedText !== undefined) return cachedText;
    const result = await this.#runPipeline(requestContext, request, {
      lookups: await lookups(),
      gatheredStreams,
      problems,
    });
    const { config } = requestContext;
    const { streams, hasStatistics } = buildListItems(result, requestContext, {
      addonId: this.#settings.addonId,
      addonName: this.#getAddonName(config),
      formatter: this.getFormatter(config),
      durationMs: performance.now() - startedAt,
    });
    const text = JSON.stringify({ streams });
    const isCacheable = this.#settings.streamCacheSeconds > 0;
    if (isCacheable && result.errors.length === 0 && !hasStatistics && gatheredStreams.responses.length > 0)
      this.#lists.set(key, { responses: gatheredStreams.responses, text }, clock.now());
    return text;
  }

  /** Requests all addons of a configuration while the title is looked up. */
  async #fetchStreams(requestContext: RequestContext, request: ResourceRequest) {
    const configured = this.resolveAddons(requestContext);
    const reachable = await fetchManifests(configured.addons, this.#options.upstream);
    const lookups = this.#lookUp(request, requestContext.config);
    return {
      gatheredStreams: await this.#gather(reachable, request, requestContext),
      errors: reachable.errors,
      problems: configured.problems.map(({ name, sentence }) => ({ title: name, sentence })),
      lookups,
    };
  }

  /** Requests all addons at the same time, or by groups. */
  async #gather(
    reachable: ReachableAddons,
    request: ResourceRequest,
    requestContext: RequestContext,
  ): Promise<GatheredStreams> {
    const context = this.#context;
    const { upstream } = this.#options;
    const { config } = requestContext;
    const titleRequest = parseTitleRequest(request.type, request.id);
    const prepare = (streams: readonly ParsedStream[]) =>
      this.#prepareForConditions(requestContext, titleRequest, streams);
    const conditions = new Conditions(this.#options.sandbox, context.clock);
    // The process starts while the requests to the addons are running.
    if (needsSandbox(config)) this.#options.sandbox.warm();
    const gather = (part: ReachableAddons, deadlineMs: number) =>
      gatherStreams(part, request, {
        context,
        upstream,
        config,
        deadlineMs,
        titleRequest,
        prepareStreams: prepare,
        conditions,
      });
    const deadlineMs = config.deadline ?? this.#settings.deadline;
    if (!hasGroups(config)) return await gather(reachable, deadlineMs);
    return await gatherGroups(reachable, {
      context,
      config,
      titleRequest,
      deadlineMs,
      prepareStreams: prepare,
      conditions,
      gather: (addons, ms) => gather({ addons, errors: [] }, ms),
    });
  }

  /** Prepares streams for conditions: adds the availability at services and removes filtered streams. */
  async #prepareForConditions(
    requestContext: RequestContext,
    titleRequest: TitleRequest,
    streams: readonly ParsedStream[],
  ): Promise<readonly ParsedStream[]> {
    const { streams: wrappedStreams } = await this.#wrap(requestContext, titleRequest, streams);
    const { config } = requestContext;
    const filter = compileFilter({ config, titleRequest, patterns: undefined });
    return wrappedStreams.filter((stream, index) => filter(stream, index) === undefined);
  }

  async #wrap(requestContext: RequestContext, titleRequest: TitleRequest, streams: readonly ParsedStream[]) {
    const { pool, playback } = this.#options;
    const { links, history } = playback;
    const { config, baseUrl } = requestContext;
    const services = this.getProviderAccounts(config, requestContext);
    return await wrapTorrents(streams, {
      config,
      titleRequest,
      baseUrl,
      pool,
      links,
      history,
      services,
      rotation: this.#finishedLists,
    });
  }

  #lookUp(request: ResourceRequest, config: AddonConfig): () => Promise<LookupResults> {
    const { clock } = this.#context;
    const deadlineMs = config.deadline ?? this.#settings.deadline;
    return startLookups(request, config, { ...this.#options.metadata, deadlineMs, clock });
  }

  async #runPipeline(
    requestContext: RequestContext,
    request: ResourceRequest,
    {
      lookups: { titleRequest, recommendations },
      gatheredStreams,
      problems,
    }: {
      readonly lookups: LookupResults;
      readonly gatheredStreams: GatheredStreams;
      readonly problems: readonly ErrorItem[];
    },
  ): Promise<SearchResult> {
    const { config } = requestContext;
    const { sandbox } = this.#options;
    this.#finishedLists += 1;
    const wrapResult = await this.#wrap(requestContext, titleRequest, gatheredStreams.streams);
    const markedStreams = addDuration(markRecommended(wrapResult.streams, recommendations), titleRequest);
    const patternResult = await this.#patterns.match(config, markedStreams, requestContext);
    const filteredResult = await filterStreams(sandbox, markedStreams, {
      config,
      titleRequest,
      patterns: patternResult.matches,
    });
    const result = requestContext.proxy(this.#withFallbacks(requestContext, request, filteredResult));
    const configurationErrors = [
      wrapResult.streams.length === 0 ? undefined : recommendations.sentence,
      patternResult.sentence,
      ...result.problems,
    ];
    const errors = [
      ...problems,
      ...buildHiddenTitleErrors(result.hidden, this.#getAddonName(config)),
      ...[...gatheredStreams.errors, ...wrapResult.errors].map(({ addon, sentence }) => ({
        title: addon,
        sentence: readText(sentence),
      })),
      ...configurationErrors.flatMap((sentence) =>
        sentence === undefined ? [] : [{ title: this.#getAddonName(config), sentence }],
      ),
    ];
    return {
      ...result,
      gatheredStreams,
      errors,
      formatContext: buildFormatContext(config, titleRequest, result.visible),
    };
  }

  #withFallbacks(requestContext: RequestContext, request: ResourceRequest, result: PipelineResult): PipelineResult {
    const limits = getFailoverLimits(requestContext.config.failover);
    if (limits === undefined) return result;
    const { fallbacks } = this.#options.playback;
    const key = this.#context.vault.fingerprint(buildListKey(requestContext, request), 'addons.fallbacks').slice(0, 32);
    return fallbacks.addFallbacks(key, limits, result);
  }

  /**
   * Returns the services of a configuration with credentials. Configurations created by another site do not use the
   * credentials of the settings.
   */
  getProviderAccounts(
    config: AddonConfig,
    { foreign = false }: Pick<ConfigurationIdentity, 'foreign'>,
  ): readonly UsableService[] {
    return getProviderAccounts(config, { settings: this.#settings, pool: this.#options.pool, foreign });
  }

  /** Returns the compiled format of a configuration. */
  getFormatter({ formatter }: AddonConfig): Formatter {
    const key = JSON.stringify(formatter);
    const cachedFormatter = this.#formatters.get(key);
    if (cachedFormatter !== undefined) return cachedFormatter;
    const newFormatter = compileFormat(formatter);
    this.#formatters.set(key, newFormatter);
    return newFormatter;
  }

  #getAddonName(config: AddonConfig): string {
    return config.addonName || this.#settings.addonName;
  }
}
