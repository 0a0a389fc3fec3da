import * as m from '#messages/addons-problems';
import type { Context } from '../../contracts/service.ts';
import { exceedsDepth } from '../../kit/json-depth.ts';
import { parseManifest, type UpstreamManifest } from '../domain/manifest.ts';
import { readStreams, type ReadRelease, type ReadStreams } from '../domain/read-stream.ts';
import { buildResourcePath, type ResourceRequest } from '../domain/resource-path.ts';
import type { Addon } from './addon.ts';
import { MetricLabels, type AddonMetrics } from '../metrics.ts';
import { AddonViews } from './addon-views.ts';
import { ResponseCache } from './response-cache.ts';
import type { GuardedFetch } from './guarded-fetch.ts';
import { nestingLevel } from './nesting.ts';
import { toStatusFailure, toUpstreamFailure, UpstreamFailure } from './upstream-failure.ts';
import { parseJsonOrThrow } from '../../contracts/parse-json.ts';
import { isRecord } from '../../contracts/is-record.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Maximum duration of a request after its caller gave up. A late response fills the cache. */
const maxRequestMs = 30_000;
const maxResponseBytes = 8 * 1024 * 1024;
const manifestTimeoutMs = 3000;
const failureCacheMs = minuteMs;
const maxStreams = 5000;
/** Maximum nesting depth of a response. Responses of addons are less deep. */
const maxNestingDepth = 50;
/** Maximum processor time for reading stream names, in milliseconds. 5,000 names of films take about a third of it. */
const maxParseMs = 1500;
/** Memory use of a parsed stream in addition to its text. */
const streamBytes = 1500;
/**
 * Maximum size of cached responses by kind: about eight titles with 1,000 streams each, and several pages of catalogs.
 */
const maxCacheBytes = { streams: 16 * 1024 * 1024, resources: 16 * 1024 * 1024, manifests: 8 * 1024 * 1024 };

export interface UpstreamOptions {
  readonly context: Context;
  readonly guardedFetch: GuardedFetch;
  readonly metrics: AddonMetrics;
  readonly readRelease: ReadRelease;
  /** Settings that can change while the service runs. */
  readonly cacheSize: number;
  readonly streamCacheSeconds: number;
  readonly userAgent: string;
  /** Writes complete addresses, which may contain keys, into the log. */
  readonly logAddresses: boolean;
}

/** Parsed body and its length. */
interface SizedBody {
  readonly body: unknown;
  readonly bytes: number;
}

/** Result of a request to an addon. */
export type UpstreamResult<T> = { readonly value: T } | { readonly failure: UpstreamFailure };

/**
 * Sends requests to addons with timeouts and a cache. Simultaneous requests for one address share one upstream request.
 */
export class UpstreamClient {
  readonly #options: UpstreamOptions;
  readonly #manifests: ResponseCache<UpstreamManifest>;
  readonly #failures = new Map<string, { readonly failure: UpstreamFailure; readonly until: number }>();
  readonly #streams: ResponseCache<ReadStreams>;
  /** Length of the response that a value was parsed from, in bytes. */
  readonly #sizes = new WeakMap<object, number>();
  readonly #labels = new MetricLabels();
  readonly #views = new AddonViews();
  readonly #resources: ResponseCache<Readonly<Record<string, unknown>>>;

  constructor(options: UpstreamOptions) {
    this.#options = options;
    const { context } = options;
    const cacheSize = (): number => options.cacheSize;
    const { clock } = context;
    this.#manifests = new ResponseCache({
      clock,
      maxEntries: cacheSize,
      freshMs: 6 * hourMs,
      staleMs: 24 * hourMs,
      getWeight: (manifest) => this.#sizes.get(manifest) ?? 0,
      maxWeight: maxCacheBytes.manifests,
      isCacheable: () => true,
    });
    this.#streams = new ResponseCache<ReadStreams>({
      clock,
      maxEntries: cacheSize,
      get freshMs() {
        return options.streamCacheSeconds * 1000;
      },
      get staleMs() {
        return options.streamCacheSeconds === 0 ? 0 : 6 * hourMs;
      },
      getWeight: (parsed) => (this.#sizes.get(parsed) ?? 0) + parsed.streams.length * streamBytes,
      maxWeight: maxCacheBytes.streams,
      isCacheable: ({ streams, errorMessage }) =>
        options.streamCacheSeconds > 0 && errorMessage === undefined && streams.length > 0,
    });
    this.#resources = new ResponseCache({
      clock,
      maxEntries: cacheSize,
      freshMs: 5 * minuteMs,
      staleMs: hourMs,
      getWeight: (response) => this.#sizes.get(response) ?? 0,
      maxWeight: maxCacheBytes.resources,
      isCacheable: () => true,
    });
  }

  get cached(): number {
    return this.#streams.size + this.#resources.size + this.#manifests.size;
  }

  /**
   * Returns the manifest of an addon.
   *
   * @param options.bypassCache Bypasses the cache.
   */
  async getManifest(
    addon: Addon,
    { bypassCache = false, timeoutMs = manifestTimeoutMs } = {},
  ): Promise<UpstreamResult<UpstreamManifest>> {
    if (addon.builtIn !== undefined) return { value: addon.builtIn.manifest };
    const { clock } = this.#options.context;
    const url = addon.manifestUrl;
    const key = `${addon.trust} ${url}`;
    // The message contains the name of the addon, which each configuration chooses.
    const failureKey = `${addon.name} ${key}`;
    const cachedFailure = this.#failures.get(failureKey);
    if (!bypassCache && cachedFailure !== undefined && cachedFailure.until > clock.now())
      return { failure: cachedFailure.failure };
    const load = async (): Promise<UpstreamManifest> => {
      const { body, bytes } = await this.#fetchJson(addon, url, 'manifest', timeoutMs);
      const manifest = parseManifest(body);
      if (manifest === undefined)
        throw new UpstreamFailure('malformed', () => m.addonManifestInvalid({ name: addon.name }));
      this.#sizes.set(manifest, bytes);
      return manifest;
    };
    try {
      const value = await (bypassCache ? load() : this.#manifests.get(key, load).response);
      if (bypassCache) {
        this.#manifests.forget(key);
        void this.#manifests.get(key, () => Promise.resolve(value)).response;
      }
      this.#failures.delete(failureKey);
      return { value };
    } catch (error) {
      const { kind, message } = toUpstreamFailure(error, addon.name, timeoutMs);
      // The cause could keep the complete body in memory.
      const failure = new UpstreamFailure(kind, message);
      if (this.#failures.size > this.#options.cacheSize) this.#failures.clear();
      this.#failures.set(failureKey, { failure, until: clock.now() + failureCacheMs });
      return { failure };
    }
  }

  /**
   * Returns the parsed streams of an addon. The promise may take as long as the slowest response; callers apply their
   * own timeout.
   */
  getStreams(addon: Addon, request: ResourceRequest): ReadStreams | Promise<ReadStreams> {
    const load = async (): Promise<ReadStreams> => {
      const { body, bytes } = await this.#request(addon, request, maxRequestMs);
      const list = getList(body, 'streams', addon.name);
      const parsedItems = list.slice(0, maxStreams);
      const parsed = readStreams(parsedItems, addon.stream, this.#options.readRelease, createTimeLimit(maxParseMs));
      if (parsed.streams.length === 0 && parsed.invalid > 0 && parsed.errorMessage === undefined)
        throw new UpstreamFailure('malformed', () => m.addonItemsInvalid({ name: addon.name, count: parsed.invalid }));
      const result = list.length > parsedItems.length ? { ...parsed, totalCount: list.length } : parsed;
      this.#sizes.set(result, bytes);
      return result;
    };
    const key = buildCacheKey(addon, request);
    const { result, response } = this.#streams.get(key, load);
    this.#options.metrics.cache.inc({ result });
    const toView = (parsed: ReadStreams): ReadStreams => this.#views.getView(parsed, addon.stream);
    return response instanceof Promise ? response.then(toView) : toView(response);
  }

  /** Returns any other resource unchanged. */
  getResource(
    addon: Addon,
    request: ResourceRequest,
    timeoutMs: number,
  ): Readonly<Record<string, unknown>> | Promise<Readonly<Record<string, unknown>>> {
    const load = async (): Promise<Readonly<Record<string, unknown>>> => {
      const { body, bytes } = await this.#request(addon, request, timeoutMs);
      if (isRecord(body)) {
        this.#sizes.set(body, bytes);
        return body;
      }
      throw new UpstreamFailure('malformed', () =>
        m.addonResourceInvalid({ name: addon.name, resource: request.resource }),
      );
    };
    const { result, response } = this.#resources.get(buildCacheKey(addon, request), load);
    this.#options.metrics.cache.inc({ result });
    return response;
  }

  async #request(addon: Addon, request: ResourceRequest, timeoutMs: number): Promise<SizedBody> {
    if (addon.builtIn === undefined)
      return await this.#fetchJson(addon, this.#buildUrl(addon, request), request.resource, timeoutMs);
    const body = await addon.builtIn.resource(request);
    return { body, bytes: JSON.stringify(body ?? null).length };
  }

  #buildUrl(addon: Addon, request: ResourceRequest): string {
    return `${addon.baseUrl}${buildResourcePath(request)}${addon.query}`;
  }

  async #fetchJson(addon: Addon, url: string, resource: string, timeoutMs: number): Promise<SizedBody> {
    const { context, guardedFetch, metrics, userAgent, logAddresses } = this.#options;
    const nested = nestingLevel.getStore() ?? 0;
    const startedAt = performance.now();
    const label = this.#labels.getLabel(addon.label);
    try {
      const reply = await guardedFetch.fetch(url, {
        headers: { 'user-agent': `${userAgent} `.repeat(nested + 1).trim(), accept: 'application/json' },
        timeoutMs,
        maxBytes: maxResponseBytes,
        name: addon.name,
        trust: addon.trust,
      });
      if (reply.status !== 200) throw toStatusFailure(reply.status, addon.name);
      return { body: parseJson(reply.body, addon.name), bytes: reply.body.length };
    } catch (error) {
      const failure = toUpstreamFailure(error, addon.name, timeoutMs);
      metrics.failures.inc({ addon: label, reason: failure.kind });
      const location = logAddresses ? { address: url } : { host: URL.parse(url)?.host };
      context.log.debug('addon request failed', { ...location, resource, reason: failure.kind });
      throw failure;
    } finally {
      metrics.latency.observe((performance.now() - startedAt) / 1000, { addon: label, resource });
    }
  }
}

/** Builds the cache key. The nesting level is included, so that a cycle of configurations does not wait for itself. */
function buildCacheKey(addon: Addon, request: ResourceRequest): string {
  return `${String(nestingLevel.getStore() ?? 0)} ${addon.key}${buildResourcePath(request)}`;
}

/** Returns a function that tests whether this thread has used the given processor time. */
function createTimeLimit(ms: number): () => boolean {
  const startUsage = process.threadCpuUsage();
  return () => {
    const { user, system } = process.threadCpuUsage(startUsage);
    return user + system > ms * 1000;
  };
}

function getList(body: unknown, member: string, name: string): readonly unknown[] {
  const list =
    typeof body === 'object' && body !== null && member in body ? (body as Record<string, unknown>)[member] : undefined;
  if (Array.isArray(list)) return list;
  throw new UpstreamFailure('malformed', () => m.addonListMissing({ name, member }));
}

const decoder = new TextDecoder();

function parseJson(body: Uint8Array, name: string): unknown {
  const text = decoder.decode(body);
  const parsed = parseText(text, name);
  if (exceedsDepth(parsed, maxNestingDepth))
    throw new UpstreamFailure('malformed', () => m.addonResponseNested({ name }));
  return parsed;
}

function parseText(text: string, name: string): unknown {
  return parseJsonOrThrow(text, (cause) => {
    const describe = /^\s*</.test(text)
      ? m.addonReturnedPage
      : text === ''
        ? m.addonReturnedNothing
        : m.addonReturnedNoJson;
    return new UpstreamFailure('malformed', () => describe({ name }), cause);
  });
}
