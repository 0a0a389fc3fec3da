import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { AddonConfig } from '../domain/config.ts';
import { failoverOf } from '../domain/config-failover.ts';
import { formatContext, withDuration } from '../domain/format-context.ts';
import type { FormatContext } from '../domain/format/values.ts';
import { formatterOf, type Formatter } from '../domain/format/predefined.ts';
import { LruMap } from '../domain/lru-map.ts';
import type { Activity } from '../activity.ts';
import { toDownload, toOutput } from '../domain/pipeline/output.ts';
import { compileFilter } from '../domain/pipeline/filter.ts';
import type { PipelineResult } from '../domain/pipeline/pipeline.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { Conditions } from './conditions.ts';
import { filterStreams, hasExpressions } from './filter-streams.ts';
import { wantedOf, type Wanted } from '../domain/pipeline/title-request.ts';
import type { ParsedStream } from '../domain/stream.ts';
import type { ResourceRequest } from '../domain/resource-path.ts';
import type { Fallbacks } from '../playback/fallbacks.ts';
import type { PlaybackLinks } from '../playback/links.ts';
import type { ProviderPool } from '../providers/provider-pool.ts';
import { wrapTorrents, type UsableService } from '../providers/wrap-torrents.ts';
import type { Settings } from '../settings.ts';
import type { PlayHistory } from '../store/plays.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { errorMeta, errorStream, readErrorMeta, type ShownError } from './error-items.ts';
import { keptAway } from './hidden-title-errors.ts';
import { statisticItems } from './statistics-items.ts';
import { accountsOf } from './provider-accounts.ts';
import {
  addonsOf,
  requireAddons,
  type AddonsOfOptions,
  type ConfiguredAddons,
  type Self,
} from './configured-addons.ts';
import type { Asker } from './request-context.ts';
import type { DigitalReleases } from './digital-releases.ts';
import { gatherStreams, reach, type Gathered, type Reached } from './gather-streams.ts';
import { gatherGroups, hasGroups } from './gather-groups.ts';
import { answerCatalog, type CatalogParts } from './catalog.ts';
import { installedManifest, unconfiguredManifest } from './installed-manifest.ts';
import { KeptLists, listKey } from './stream-list-cache.ts';
import { answerMeta, answerSubtitles, isHidden } from './other-resources.ts';
import type { Patterns } from './patterns.ts';
import { lookUp, type Looked } from './lookups.ts';
import { markRecommended, type SeaDex } from './seadex.ts';
import type { Titles } from './titles.ts';

const checkMs = 10_000;

export interface AggregatorOptions {
  readonly context: Context;
  readonly settings: Settings;
  readonly upstream: Upstream;
  readonly addons: AddonsOfOptions;
  readonly pool: ProviderPool;
  readonly links: PlaybackLinks;
  readonly fallbacks: Fallbacks;
  readonly history: PlayHistory;
  readonly patterns: Patterns;
  readonly sandbox: Sandbox;
  readonly titles: Titles;
  readonly digital: DigitalReleases;
  readonly seadex: SeaDex;
  readonly activity: Activity;
  readonly version: string;
}

/** Streams of all addons for one title, after the pipeline. */
export interface Searched extends PipelineResult {
  /** Values for formats that do not depend on the stream. */
  readonly formatContext: FormatContext;
  readonly gathered: Gathered;
  readonly errors: readonly ShownError[];
}

/** Combines several addons into one. */
export class Aggregator {
  readonly #options: AggregatorOptions;
  #lists = new KeptLists();
  /** Number of finished lists. Services with the same torrent take turns by it. */
  #turn = 0;
  readonly #formatters = new LruMap<string, Formatter>(50);

  constructor(options: AggregatorOptions) {
    this.#options = options;
  }

  /** Discards cached lists, because they may depend on changed settings. */
  forgetLists(): void {
    this.#lists = new KeptLists();
  }

  configured(asker: Self & Pick<Asker, 'config'>): ConfiguredAddons {
    return addonsOf(asker.config, asker, this.#options.addons);
  }

  /**
   * Requests the manifest of every addon.
   *
   * @throws Problem `addons.invalid_config` (400) for the first addon that fails.
   */
  async verify(asker: Self & Pick<Asker, 'config'>): Promise<void> {
    const addons = requireAddons(this.configured(asker));
    const told = await Promise.all(
      addons.map(async (addon) => ({
        addon,
        told: await this.#options.upstream.manifest(addon, { fresh: true, timeoutMs: checkMs }),
      })),
    );
    for (const { addon, told: answer } of told)
      if ('failure' in answer)
        throw new Problem(
          'addons.invalid_config',
          400,
          `Failed to fetch manifest for ${addon.name}: ${answer.failure.message}`,
        );
  }

  async manifest(asker: Asker): Promise<Record<string, unknown>> {
    const { addons } = await reach(this.configured(asker).addons, this.#options.upstream);
    return installedManifest(asker, addons, this.#options);
  }

  /** Returns the manifest without a configuration. */
  unconfigured(): Record<string, unknown> {
    return unconfiguredManifest(this.#options);
  }

  /** Returns the JSON text of a resource. */
  async resource(asker: Asker, request: ResourceRequest): Promise<{ readonly text: string; readonly status: number }> {
    const { resource } = request;
    if (resource === 'stream') return { text: await this.#streams(asker, request), status: 200 };
    if (resource === 'meta') {
      const card = readErrorMeta(request.id);
      if (card !== undefined) return { text: JSON.stringify({ meta: errorMeta(card, request.type) }), status: 200 };
    }
    const reached = await reach(this.configured(asker).addons, this.#options.upstream);
    const body =
      resource === 'catalog' || resource === 'addon_catalog'
        ? await answerCatalog(this.#catalogParts(), asker, request, reached.addons)
        : resource === 'meta'
          ? await answerMeta(this.#options.upstream, asker, request, reached.addons)
          : await answerSubtitles(this.#options.upstream, asker, request, reached.addons);
    return { text: JSON.stringify(body), status: 200 };
  }

  #catalogParts(): CatalogParts {
    const { context, upstream } = this.#options;
    return { upstream, now: context.clock.now(), luck: context.random.text(12) };
  }

  /** Requests all addons and runs the pipeline. The result includes hidden streams with the reason. */
  async search(asker: Asker, request: ResourceRequest): Promise<Searched> {
    const { addons, errors, problems } = await this.#reach(asker);
    const looked = this.#lookUp(request, asker.config);
    const gathered = await this.#gather({ addons, errors }, request, asker);
    return await this.#finish(asker, request, { looked: await looked(), gathered, problems });
  }

  async #streams(asker: Asker, request: ResourceRequest): Promise<string> {
    const { clock } = this.#options.context;
    const began = performance.now();
    const { addons, errors, problems } = await this.#reach(asker);
    const looked = this.#lookUp(request, asker.config);
    const gathered = await this.#gather({ addons, errors }, request, asker);
    this.#options.activity.listed([...gathered.reports, ...errors], asker);
    const key = listKey(asker, request);
    const isWhole = gathered.errors.length === 0 && problems.length === 0;
    const kept = isWhole ? this.#lists.get(key, gathered.answers, clock.now()) : undefined;
    if (kept !== undefined) return kept;
    const result = await this.#finish(asker, request, { looked: await looked(), gathered, problems });
    const { config } = asker;
    const output = {
      config,
      addonId: this.#options.settings.addonId,
      addonName: this.#nameOf(config),
      formatter: this.#formatter(config),
      withData: asker.withData,
      context: result.formatContext,
    };
    const items = result.shown.flatMap((stream) => [
      toOutput(stream, output),
      ...(config.externalDownloads === true ? toDownload(stream, output) : []),
    ]);
    const failed = isHidden(config, 'stream')
      ? []
      : result.errors.map((error) => errorStream(error, asker.configureUrl));
    const statistics = statisticItems(
      { reports: gathered.reports, hidden: result.hidden, shown: items.length, tookMs: performance.now() - began },
      config.statistics,
      asker.configureUrl,
    );
    const top = config.statistics?.position === 'top';
    const streams = [...(top ? statistics : []), ...items, ...failed, ...(top ? [] : statistics)];
    const text = JSON.stringify({ streams });
    const isKept = this.#options.settings.streamCacheSeconds > 0;
    if (isKept && result.errors.length === 0 && statistics.length === 0 && gathered.answers.length > 0)
      this.#lists.keep(key, { answers: gathered.answers, text }, clock.now());
    return text;
  }

  async #reach(asker: Asker) {
    const configured = this.configured(asker);
    const { addons, errors } = await reach(configured.addons, this.#options.upstream);
    return { addons, errors, problems: configured.problems.map(({ name, sentence }) => ({ title: name, sentence })) };
  }

  /** Requests all addons at the same time, or by groups. */
  async #gather(reached: Reached, request: ResourceRequest, asker: Asker): Promise<Gathered> {
    const { context, upstream, settings } = this.#options;
    const { config } = asker;
    const wanted = wantedOf(request.type, request.id);
    const ready = (streams: readonly ParsedStream[]) => this.#ready(asker, wanted, streams);
    const conditions = new Conditions(this.#options.sandbox, context.clock);
    // The process starts while the requests to the addons are running.
    if (needsSandbox(config)) this.#options.sandbox.warm();
    const gather = (part: Reached, deadlineMs: number) =>
      gatherStreams(part, request, { context, upstream, config, deadlineMs, wanted, ready, conditions });
    const deadlineMs = config.deadline ?? settings.deadline;
    if (!hasGroups(config)) return await gather(reached, deadlineMs);
    return await gatherGroups(reached, {
      context,
      config,
      wanted,
      deadlineMs,
      ready,
      conditions,
      gather: (addons, ms) => gather({ addons, errors: [] }, ms),
    });
  }

  /** Prepares streams for conditions: adds the availability at services and removes filtered streams. */
  async #ready(asker: Asker, wanted: Wanted, streams: readonly ParsedStream[]): Promise<readonly ParsedStream[]> {
    const { streams: wrapped } = await this.#wrap(asker, wanted, streams);
    const { config } = asker;
    const filter = compileFilter({ config, wanted, patterns: undefined });
    return wrapped.filter((stream, index) => filter(stream, index) === undefined);
  }

  async #wrap(asker: Asker, wanted: Wanted, streams: readonly ParsedStream[]) {
    const { pool, links, history } = this.#options;
    const { config, baseUrl } = asker;
    const services = this.services(config, asker);
    return await wrapTorrents(streams, { config, wanted, baseUrl, pool, links, history, services, turn: this.#turn });
  }

  #lookUp(request: ResourceRequest, config: AddonConfig): () => Promise<Looked> {
    const { context, settings, titles, digital, seadex } = this.#options;
    const deadlineMs = config.deadline ?? settings.deadline;
    return lookUp(request, config, { titles, digital, seadex, deadlineMs, clock: context.clock });
  }

  async #finish(
    asker: Asker,
    request: ResourceRequest,
    {
      looked: { wanted, recommended },
      gathered,
      problems,
    }: { readonly looked: Looked; readonly gathered: Gathered; readonly problems: readonly ShownError[] },
  ): Promise<Searched> {
    const { config } = asker;
    const { patterns, sandbox } = this.#options;
    this.#turn += 1;
    const wrapped = await this.#wrap(asker, wanted, gathered.streams);
    const marked = withDuration(markRecommended(wrapped.streams, recommended), wanted);
    const matched = await patterns.match(config, marked, asker);
    const listed = await filterStreams(sandbox, marked, { config, wanted, patterns: matched.matches });
    const result = asker.proxy(this.#withFallbacks(asker, request, listed));
    const own = [wrapped.streams.length === 0 ? undefined : recommended.sentence, matched.sentence, ...result.problems];
    const errors = [
      ...problems,
      ...keptAway(result.hidden, this.#nameOf(config)),
      ...[...gathered.errors, ...wrapped.errors].map(({ addon, sentence }) => ({ title: addon, sentence })),
      ...own.flatMap((sentence) => (sentence === undefined ? [] : [{ title: this.#nameOf(config), sentence }])),
    ];
    return { ...result, gathered, errors, formatContext: formatContext(config, wanted, result.shown) };
  }

  #withFallbacks(asker: Asker, request: ResourceRequest, result: PipelineResult): PipelineResult {
    const limits = failoverOf(asker.config.failover);
    if (limits === undefined) return result;
    const { context, fallbacks } = this.#options;
    const key = context.vault.fingerprint(listKey(asker, request), 'addons.fallbacks').slice(0, 32);
    return fallbacks.keep(key, limits, result);
  }

  /**
   * Returns the services of a configuration with credentials. Configurations created by another site do not use the
   * credentials of the settings.
   */
  services(config: AddonConfig, { foreign = false }: Pick<Self, 'foreign'>): readonly UsableService[] {
    const { settings, pool } = this.#options;
    return accountsOf(config, { settings, pool, foreign });
  }

  formatterFor(config: AddonConfig): Formatter {
    return this.#formatter(config);
  }

  #formatter({ formatter }: AddonConfig): Formatter {
    const key = JSON.stringify(formatter);
    const known = this.#formatters.get(key);
    if (known !== undefined) return known;
    const made = formatterOf(formatter);
    this.#formatters.set(key, made);
    return made;
  }

  #nameOf(config: AddonConfig): string {
    return config.addonName || this.#options.settings.addonName;
  }
}

function needsSandbox(config: AddonConfig): boolean {
  const { groups, dynamicAddonFetching, precacheNextEpisode } = config;
  const lists = ['included', 'excluded', 'required', 'preferred', 'ranked'] as const;
  return (
    lists.some((verb) => (config[`${verb}RegexPatterns`]?.length ?? 0) > 0) ||
    hasExpressions(config) ||
    groups?.groupings?.some(({ condition }) => Boolean(condition)) === true ||
    Boolean(dynamicAddonFetching?.condition) ||
    precacheNextEpisode === true
  );
}
