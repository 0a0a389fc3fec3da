import type { Context } from '../../contracts/service.ts';
import { exceedsDepth } from '../../kit/json-depth.ts';
import { readManifest, type UpstreamManifest } from '../domain/manifest.ts';
import { readStreams, type ReadRelease, type ReadStreams } from '../domain/read-stream.ts';
import { resourcePath, type ResourceRequest } from '../domain/resource-path.ts';
import type { Addon } from '../aggregate/addon.ts';
import { Labels, type AddonMetrics } from '../metrics.ts';
import { AddonViews } from './addon-views.ts';
import { AnswerCache } from './response-cache.ts';
import type { GuardedFetch } from './guarded-fetch.ts';
import { nesting } from './nesting.ts';
import { explainStatus, explainUpstream, UpstreamFailure } from './upstream-failure.ts';

const minute = 60_000;
const hour = 60 * minute;
/** Maximum duration of a request after its caller gave up. A late response fills the cache. */
const lateMs = 30_000;
const largestAnswer = 8 * 1024 * 1024;
const manifestMs = 3000;
const failureKeptMs = minute;
const largestList = 5000;
/** Maximum nesting depth of a response. Responses of addons are less deep. */
const mostLevels = 50;
/** Maximum processor time for reading stream names, in milliseconds. 5,000 names of films take about a third of it. */
const readMs = 1500;
/** Memory use of a parsed stream in addition to its text. */
const streamBytes = 1500;
/**
 * Maximum size of cached responses by kind: about eight titles with 1,000 streams each, and several pages of catalogs.
 */
const mostBytes = { streams: 16 * 1024 * 1024, resources: 16 * 1024 * 1024, manifests: 8 * 1024 * 1024 };

export interface UpstreamOptions {
  readonly context: Context;
  readonly guarded: GuardedFetch;
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
interface Sized {
  readonly body: unknown;
  readonly bytes: number;
}

/** Result of a request to an addon. */
export type Told<T> = { readonly value: T } | { readonly failure: UpstreamFailure };

/**
 * Sends requests to addons with timeouts and a cache. Simultaneous requests for one address share one upstream request.
 */
export class Upstream {
  readonly #options: UpstreamOptions;
  readonly #manifests: AnswerCache<UpstreamManifest>;
  readonly #failures = new Map<string, { readonly failure: UpstreamFailure; readonly until: number }>();
  readonly #streams: AnswerCache<ReadStreams>;
  /** Length of the response that a value was parsed from, in bytes. */
  readonly #sizes = new WeakMap<object, number>();
  readonly #labels = new Labels();
  readonly #views = new AddonViews();
  readonly #resources: AnswerCache<Readonly<Record<string, unknown>>>;

  constructor(options: UpstreamOptions) {
    this.#options = options;
    const { context } = options;
    const cacheSize = (): number => options.cacheSize;
    const { clock } = context;
    this.#manifests = new AnswerCache({
      clock,
      most: cacheSize,
      freshMs: 6 * hour,
      staleMs: 24 * hour,
      weigh: (manifest) => this.#sizes.get(manifest) ?? 0,
      mostWeight: mostBytes.manifests,
      keeps: () => true,
    });
    this.#streams = new AnswerCache<ReadStreams>({
      clock,
      most: cacheSize,
      get freshMs() {
        return options.streamCacheSeconds * 1000;
      },
      get staleMs() {
        return options.streamCacheSeconds === 0 ? 0 : 6 * hour;
      },
      weigh: (read) => (this.#sizes.get(read) ?? 0) + read.streams.length * streamBytes,
      mostWeight: mostBytes.streams,
      keeps: ({ streams, complaint }) =>
        options.streamCacheSeconds > 0 && complaint === undefined && streams.length > 0,
    });
    this.#resources = new AnswerCache({
      clock,
      most: cacheSize,
      freshMs: 5 * minute,
      staleMs: hour,
      weigh: (answer) => this.#sizes.get(answer) ?? 0,
      mostWeight: mostBytes.resources,
      keeps: () => true,
    });
  }

  get cached(): number {
    return this.#streams.size + this.#resources.size + this.#manifests.size;
  }

  /**
   * Returns the manifest of an addon.
   *
   * @param options.fresh Bypasses the cache.
   */
  async manifest(addon: Addon, { fresh = false, timeoutMs = manifestMs } = {}): Promise<Told<UpstreamManifest>> {
    if (addon.builtIn !== undefined) return { value: addon.builtIn.manifest };
    const { clock } = this.#options.context;
    const url = addon.manifestUrl;
    const key = `${addon.trust} ${url}`;
    // The message contains the name of the addon, which each configuration chooses.
    const failureKey = `${addon.name} ${key}`;
    const known = this.#failures.get(failureKey);
    if (!fresh && known !== undefined && known.until > clock.now()) return { failure: known.failure };
    const load = async (): Promise<UpstreamManifest> => {
      const { body, bytes } = await this.#json(addon, url, 'manifest', timeoutMs);
      const manifest = readManifest(body);
      if (manifest === undefined)
        throw new UpstreamFailure(
          'malformed',
          `${addon.name} answered with something that is no manifest of an addon.`,
        );
      this.#sizes.set(manifest, bytes);
      return manifest;
    };
    try {
      const value = await (fresh ? load() : this.#manifests.get(key, load).answer);
      if (fresh) {
        this.#manifests.forget(key);
        void this.#manifests.get(key, () => Promise.resolve(value)).answer;
      }
      this.#failures.delete(failureKey);
      return { value };
    } catch (error) {
      const { kind, message } = explainUpstream(error, addon.name, timeoutMs);
      // The cause could keep the complete body in memory.
      const failure = new UpstreamFailure(kind, message);
      if (this.#failures.size > this.#options.cacheSize) this.#failures.clear();
      this.#failures.set(failureKey, { failure, until: clock.now() + failureKeptMs });
      return { failure };
    }
  }

  /**
   * Returns the parsed streams of an addon. The promise may take as long as the slowest response; callers apply their
   * own timeout.
   */
  streams(addon: Addon, request: ResourceRequest): ReadStreams | Promise<ReadStreams> {
    const load = async (): Promise<ReadStreams> => {
      const { body, bytes } = await this.#ask(addon, request, lateMs);
      const list = listOf(body, 'streams', addon.name);
      const looked = list.slice(0, largestList);
      const read = readStreams(looked, addon.stream, this.#options.readRelease, timeOf(readMs));
      if (read.streams.length === 0 && read.invalid > 0 && read.complaint === undefined)
        throw new UpstreamFailure(
          'malformed',
          `${addon.name} answered with ${String(read.invalid)} items, none of which is a stream.`,
        );
      const answer = list.length > looked.length ? { ...read, cutFrom: list.length } : read;
      this.#sizes.set(answer, bytes);
      return answer;
    };
    const key = keyOf(addon, request);
    const { result, answer } = this.#streams.get(key, load);
    this.#options.metrics.cache.inc({ result });
    const viewed = (read: ReadStreams): ReadStreams => this.#views.of(read, addon.stream);
    return answer instanceof Promise ? answer.then(viewed) : viewed(answer);
  }

  /** Returns any other resource unchanged. */
  resource(
    addon: Addon,
    request: ResourceRequest,
    timeoutMs: number,
  ): Readonly<Record<string, unknown>> | Promise<Readonly<Record<string, unknown>>> {
    const load = async (): Promise<Readonly<Record<string, unknown>>> => {
      const { body, bytes } = await this.#ask(addon, request, timeoutMs);
      if (typeof body === 'object' && body !== null && !Array.isArray(body)) {
        this.#sizes.set(body, bytes);
        return body as Readonly<Record<string, unknown>>;
      }
      throw new UpstreamFailure('malformed', `${addon.name} answered with something that is no ${request.resource}.`);
    };
    const { result, answer } = this.#resources.get(keyOf(addon, request), load);
    this.#options.metrics.cache.inc({ result });
    return answer;
  }

  async #ask(addon: Addon, request: ResourceRequest, timeoutMs: number): Promise<Sized> {
    if (addon.builtIn === undefined)
      return await this.#json(addon, this.#url(addon, request), request.resource, timeoutMs);
    const body = await addon.builtIn.resource(request);
    return { body, bytes: JSON.stringify(body ?? null).length };
  }

  #url(addon: Addon, request: ResourceRequest): string {
    return `${addon.baseUrl}${resourcePath(request)}${addon.query}`;
  }

  async #json(addon: Addon, url: string, resource: string, timeoutMs: number): Promise<Sized> {
    const { context, guarded, metrics, userAgent, logAddresses } = this.#options;
    const nested = nesting.getStore() ?? 0;
    const began = performance.now();
    const label = this.#labels.of(addon.label);
    try {
      const reply = await guarded.fetch(url, {
        headers: { 'user-agent': `${userAgent} `.repeat(nested + 1).trim(), accept: 'application/json' },
        timeoutMs,
        maxBytes: largestAnswer,
        name: addon.name,
        trust: addon.trust,
      });
      if (reply.status !== 200) throw explainStatus(reply.status, addon.name);
      return { body: parseJson(reply.body, addon.name), bytes: reply.body.length };
    } catch (error) {
      const failure = explainUpstream(error, addon.name, timeoutMs);
      metrics.failures.inc({ addon: label, reason: failure.kind });
      const where = logAddresses ? { address: url } : { host: URL.parse(url)?.host };
      context.log.debug('addon request failed', { ...where, resource, reason: failure.kind });
      throw failure;
    } finally {
      metrics.latency.observe((performance.now() - began) / 1000, { addon: label, resource });
    }
  }
}

/** Builds the cache key. The nesting level is included, so that a cycle of configurations does not wait for itself. */
function keyOf(addon: Addon, request: ResourceRequest): string {
  return `${String(nesting.getStore() ?? 0)} ${addon.key}${resourcePath(request)}`;
}

/** Returns a function that tests whether this thread has used the given processor time. */
function timeOf(ms: number): () => boolean {
  const began = process.threadCpuUsage();
  return () => {
    const { user, system } = process.threadCpuUsage(began);
    return user + system > ms * 1000;
  };
}

function listOf(body: unknown, member: string, name: string): readonly unknown[] {
  const list =
    typeof body === 'object' && body !== null && member in body ? (body as Record<string, unknown>)[member] : undefined;
  if (Array.isArray(list)) return list;
  throw new UpstreamFailure('malformed', `${name} answered without a list of ${member}.`);
}

const decoder = new TextDecoder();

function parseJson(body: Uint8Array, name: string): unknown {
  const text = decoder.decode(body);
  const parsed = parseText(text, name);
  if (exceedsDepth(parsed, mostLevels))
    throw new UpstreamFailure('malformed', `${name} answered with something that is nested too deep.`);
  return parsed;
}

function parseText(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const what = /^\s*</.test(text) ? 'a web page' : text === '' ? 'nothing' : 'something that is no JSON';
    throw new UpstreamFailure('malformed', `${name} answered with ${what}.`, cause);
  }
}
