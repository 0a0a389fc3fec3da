import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { usableServices, type AddonConfig, type ConfiguredService } from '../domain/config.ts';
import { debridService } from '../domain/debrid-services.ts';
import { budgetOf } from '../domain/expression/value.ts';
import { formatterOf, type Formatter } from '../domain/format/predefined.ts';
import { LruMap } from '../domain/lru.ts';
import type { Activity } from '../activity.ts';
import { listCatalogs, mergeCatalogs } from '../domain/catalogs.ts';
import { mergeResources } from '../domain/manifest.ts';
import { toOutput } from '../domain/pipeline/output.ts';
import { compileFilter } from '../domain/pipeline/filter.ts';
import { runPipeline, type PipelineResult } from '../domain/pipeline/pipeline.ts';
import { wantedOf, type Wanted } from '../domain/pipeline/title-match.ts';
import type { ParsedStream } from '../domain/stream.ts';
import type { ReadStreams } from '../domain/read-stream.ts';
import type { ResourceRequest } from '../domain/resource-path.ts';
import type { PlaybackLinks } from '../playback/links.ts';
import type { ProviderPool } from '../providers/pool.ts';
import { wrapTorrents, type UsableService } from '../providers/wrap.ts';
import { defaultCredentials, type Settings } from '../settings.ts';
import type { PlayHistory } from '../store/plays.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { errorMeta, errorStream, readErrorMeta, type ShownError } from '../wire/error-items.ts';
import { keptAway } from '../wire/kept-away.ts';
import { statisticItems } from '../wire/statistics.ts';
import { addonsOf, requireAddons, type AddonsOfOptions, type ConfiguredAddons, type Self } from './addons-of.ts';
import type { DigitalReleases } from './digital-releases.ts';
import { gatherStreams, reach, type Gathered, type Reached } from './gather.ts';
import { gatherGroups, hasGroups } from './groups.ts';
import { answerCatalog, type CatalogParts } from './catalog.ts';
import { answerMeta, answerSubtitles, isHidden } from './other-resources.ts';
import type { Patterns } from './patterns.ts';
import { lookUp, type Looked } from './lookups.ts';
import { markRecommended, type SeaDex } from './seadex.ts';
import type { Titles } from './titles.ts';

const checkMs = 10_000;
const bodyKeptMs = 60_000;
const mostKeptWeight = 16_000_000;
const streamWeight = 1000;

/** Whose configuration is asked, and through which address. */
export interface Asker extends Self {
  readonly config: AddonConfig;
  /** Ids of the variants of it that the address names. */
  readonly variants?: string;
  /** Changes with the configuration. */
  readonly revision: string;
  /** Where the service answers, for addresses in the answer. */
  readonly baseUrl: string;
  /** Where the person can change things. */
  readonly configureUrl: string;
  /** What was read goes along with the streams. */
  readonly withData: boolean;
  /** The configuration was made on the page. */
  readonly trusted: boolean;
  /** Passes the built-in proxy. */
  readonly proxy: (result: PipelineResult) => PipelineResult;
}

export interface AggregatorOptions {
  readonly context: Context;
  readonly settings: Settings;
  readonly upstream: Upstream;
  readonly addons: AddonsOfOptions;
  readonly pool: ProviderPool;
  readonly links: PlaybackLinks;
  readonly history: PlayHistory;
  readonly patterns: Patterns;
  readonly titles: Titles;
  readonly digital: DigitalReleases;
  readonly seadex: SeaDex;
  readonly activity: Activity;
  readonly version: string;
}

interface KeptBody {
  readonly answers: readonly ReadStreams[];
  readonly text: string;
  readonly until: number;
}

/** What came of all addons for one title. */
export interface Searched extends PipelineResult {
  readonly gathered: Gathered;
  readonly errors: readonly ShownError[];
}

/** Many addons as one. */
export class Aggregator {
  readonly #options: AggregatorOptions;
  readonly #bodies = new LruMap<string, KeptBody>(100, {
    // The answers it is made of stay in memory with it.
    weigh: ({ text, answers }) =>
      answers.reduce((weight, { streams }) => weight + streams.length * streamWeight, text.length),
    mostWeight: mostKeptWeight,
  });
  /** Lists that were finished: services take turns from one to the next. */
  #turn = 0;
  readonly #formatters = new LruMap<string, Formatter>(50);

  constructor(options: AggregatorOptions) {
    this.#options = options;
  }

  configured(asker: Self & Pick<Asker, 'config'>): ConfiguredAddons {
    return addonsOf(asker.config, asker, this.#options.addons);
  }

  /** Asks every addon of a configuration now. @throws Problem `addons.invalid_config` (400) for the first that fails. */
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
    const { config, uuid } = asker;
    const { settings, upstream, version } = this.#options;
    const { addons } = await reach(this.configured(asker).addons, upstream);
    const sources = addons.map(({ addon: { instanceId }, manifest }) => ({ instanceId, manifest }));
    const resources = mergeResources(sources);
    const catalogs = mergeCatalogs(sources, config.catalogModifications ?? [], config.mergedCatalogs ?? []);
    return {
      ...this.#identity(config),
      id: [settings.addonId, (uuid ?? asker.revision).slice(0, 12), ...(asker.variants?.split(',') ?? [])].join('.'),
      version,
      catalogs,
      // Without catalogs there is no such resource either.
      resources: resources.filter(({ name }) => name !== 'catalog' || catalogs.length > 0),
      types: [...new Set([...resources.flatMap(({ types }) => types), ...catalogs.map(({ type }) => type)])],
      behaviorHints: { configurable: true, configurationRequired: false },
      addonCatalogs: listCatalogs(sources, 'addonCatalogs'),
    };
  }

  /** The manifest of an addon that nobody has configured. */
  unconfigured(): Record<string, unknown> {
    return {
      ...this.#identity(undefined),
      id: this.#options.settings.addonId,
      version: this.#options.version,
      catalogs: [],
      resources: [],
      types: [],
      behaviorHints: { configurable: true, configurationRequired: true },
      addonCatalogs: [],
    };
  }

  #identity(config: AddonConfig | undefined): Record<string, unknown> {
    return {
      name: config?.addonName || this.#options.settings.addonName,
      description: config?.addonDescription || 'Many addons as one, with keys kept at home.',
      ...(config?.addonLogo ? { logo: config.addonLogo } : {}),
      ...(config?.addonBackground ? { background: config.addonBackground } : {}),
    };
  }

  /** Text of the answer's JSON, and whether it may be kept by the client: never with an error in it. */
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

  /** Asks all addons and runs the pipeline; what was hidden, and why, comes along. */
  async search(asker: Asker, request: ResourceRequest): Promise<Searched> {
    const { addons, errors, problems } = await this.#reach(asker);
    const looked = this.#lookUp(request, asker.config);
    const gathered = await this.#gather({ addons, errors }, request, asker);
    return await this.#finish(asker, await looked(), gathered, problems);
  }

  async #streams(asker: Asker, request: ResourceRequest): Promise<string> {
    const { clock } = this.#options.context;
    const began = performance.now();
    const { addons, errors, problems } = await this.#reach(asker);
    const looked = this.#lookUp(request, asker.config);
    const gathered = await this.#gather({ addons, errors }, request, asker);
    this.#options.activity.listed([...gathered.reports, ...errors]);
    const key = JSON.stringify([
      ...[asker.uuid, asker.revision, asker.foreign === true, asker.baseUrl, asker.withData],
      ...[request.type, request.id],
    ]);
    const kept = gathered.errors.length === 0 && problems.length === 0 ? this.#bodies.get(key) : undefined;
    if (kept !== undefined && kept.until > clock.now() && isSame(kept.answers, gathered.answers)) return kept.text;
    const result = await this.#finish(asker, await looked(), gathered, problems);
    const { config } = asker;
    const output = {
      config,
      addonId: this.#options.settings.addonId,
      addonName: this.#nameOf(config),
      formatter: this.#formatter(config),
      withData: asker.withData,
    };
    const items = result.shown.map((stream) => toOutput(stream, output));
    const failed = isHidden(config, 'stream')
      ? []
      : result.errors.map((error) => errorStream(error, asker.configureUrl));
    const statistics = statisticItems(
      { reports: gathered.reports, hidden: result.hidden, tookMs: performance.now() - began },
      config.statistics,
      asker.configureUrl,
    );
    const top = config.statistics?.position === 'top';
    const streams = [...(top ? statistics : []), ...items, ...failed, ...(top ? [] : statistics)];
    const text = JSON.stringify({ streams });
    const isKept = this.#options.settings.streamCacheSeconds > 0;
    if (isKept && result.errors.length === 0 && statistics.length === 0 && gathered.answers.length > 0)
      this.#bodies.set(key, { answers: gathered.answers, text, until: clock.now() + bodyKeptMs });
    return text;
  }

  async #reach(asker: Asker) {
    const configured = this.configured(asker);
    const { addons, errors } = await reach(configured.addons, this.#options.upstream);
    return { addons, errors, problems: configured.problems.map(({ name, sentence }) => ({ title: name, sentence })) };
  }

  /** All addons at once, or group after group. */
  async #gather(reached: Reached, request: ResourceRequest, asker: Asker): Promise<Gathered> {
    const { context, upstream, settings } = this.#options;
    const { config } = asker;
    const wanted = wantedOf(request.type, request.id);
    const ready = (streams: readonly ParsedStream[]) => this.#ready(asker, wanted, streams);
    const budget = budgetOf();
    const gather = (part: Reached, deadlineMs: number) =>
      gatherStreams(part, request, { ...{ context, upstream, config, deadlineMs, wanted, ready, budget } });
    const deadlineMs = config.deadline ?? settings.deadline;
    if (!hasGroups(config)) return await gather(reached, deadlineMs);
    return await gatherGroups(reached, {
      ...{ context, config, wanted, deadlineMs, ready, budget },
      gather: (addons, ms) => gather({ addons, errors: [] }, ms),
    });
  }

  /** Streams as conditions look at them: with what the services have, and without what is filtered anyway. */
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
    return lookUp(request, config, { ...{ titles, digital, seadex, deadlineMs }, clock: context.clock });
  }

  async #finish(
    asker: Asker,
    { wanted, recommended }: Looked,
    gathered: Gathered,
    problems: readonly ShownError[],
  ): Promise<Searched> {
    const { config } = asker;
    const { patterns } = this.#options;
    this.#turn += 1;
    const wrapped = await this.#wrap(asker, wanted, gathered.streams);
    const marked = markRecommended(wrapped.streams, recommended);
    const matched = await patterns.match(config, marked, asker);
    const result = asker.proxy(runPipeline(marked, { config, wanted, patterns: matched.matches }));
    const own = [wrapped.streams.length === 0 ? undefined : recommended.sentence, matched.sentence, ...result.problems];
    const errors = [
      ...problems,
      ...keptAway(result.hidden, this.#nameOf(config)),
      ...[...gathered.errors, ...wrapped.errors].map(({ addon, sentence }) => ({ title: addon, sentence })),
      ...own.flatMap((sentence) => (sentence === undefined ? [] : [{ title: this.#nameOf(config), sentence }])),
    ];
    return { ...result, gathered, errors };
  }

  /** Services of a configuration with credentials: its own, or those of the settings, which a page of another site does not get to use. */
  services(config: AddonConfig, { foreign = false }: Pick<Self, 'foreign'>): readonly UsableService[] {
    return usableServices(config, (service) => this.#credentials(service, foreign)).filter(({ id }) =>
      this.#options.pool.knows(id),
    );
  }

  #credentials({ id, credentials }: ConfiguredService, foreign: boolean): Readonly<Record<string, string>> | undefined {
    const service = debridService(id);
    if (service === undefined) return undefined;
    const defaults = foreign ? {} : defaultCredentials(this.#options.settings, service);
    const found: Record<string, string> = {};
    for (const { id: name, required } of service.credentials) {
      const own = credentials[name];
      const given = defaults[name];
      const value = own === null || own === undefined || own === '' ? given : own;
      if (typeof value === 'string' && value !== '') found[name] = value;
      else if (required && name !== 'clientId') return undefined;
    }
    return found;
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

function isSame(one: readonly ReadStreams[], other: readonly ReadStreams[]): boolean {
  return one.length === other.length && one.every((answer, at) => answer === other[at]);
}
