import * as m from '#messages/notify-problems';
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Clock, Log, Vault } from '../../contracts/service.ts';
import { isNativeUrl, parseDestination } from '../destinations/catalogue.ts';
import type { Destination } from '../destinations/destination.ts';
import { parseDestinationUrl } from '../destinations/url.ts';
import { MaskedUrls } from '../store/masked-urls.ts';
import type { EngineUrlStore } from '../store/engine-urls.ts';
import { engineDestination, type DestinationDescription } from './destination.ts';
import type { Library } from './library.ts';
import { engineServices, refusedSchemes } from '../../contracts/notify/engine-schemes.ts';
import { SerialQueue } from '../../kit/serial-queue.ts';

/** Maximum number of URLs in one request. */
const batchSize = 100;
/** Timeout for the description of URLs. */
const describeTimeoutMs = 15_000;
/** After a failure, the library is not called again for this time. */
const pauseMs = 15_000;
/** Maximum number of cached results. */
const maxCached = 10_000;
/** Purpose to which the seals of normal forms are bound. */
const purpose = 'notify.engine-url';
const hourMs = 3_600_000;

const DescribeReply = z.object({
  described: z.array(
    z.union([
      z.object({
        ok: z.literal(true),
        service: z.string(),
        url: z.string(),
        masked: z.string(),
        optional: z.boolean(),
      }),
      z.object({ ok: z.literal(false), log: z.array(z.tuple([z.string(), z.string()])) }),
    ]),
  ),
});

interface CachedRefusal {
  /** Explanation of the library; empty without one. */
  readonly refusal: string;
  readonly timestamp: number;
}

/**
 * Destinations of URLs that are not native. Asking the library takes time, so it is asked in advance ({@link
 * describe}), and parsing a configuration uses the cached results.
 */
export class EngineDestinations {
  readonly #library: Library;
  readonly #store: EngineUrlStore;
  readonly #vault: Vault;
  readonly #maskedUrls: MaskedUrls;
  readonly #clock: Clock;
  readonly #log: Log;
  /** Results by ID, the least recently used first. */
  readonly #cache = new Map<string, DestinationDescription | CachedRefusal>();
  readonly #requests = new SerialQueue();
  #pausedUntil = -Infinity;

  constructor(dependencies: {
    readonly library: Library;
    readonly store: EngineUrlStore;
    readonly vault: Vault;
    readonly clock: Clock;
    readonly log: Log;
  }) {
    this.#library = dependencies.library;
    this.#store = dependencies.store;
    this.#vault = dependencies.vault;
    this.#maskedUrls = new MaskedUrls(dependencies.vault);
    this.#clock = dependencies.clock;
    this.#log = dependencies.log;
  }

  /** Returns true if the engine is installed. */
  async isInstalled(): Promise<boolean> {
    return (await this.#library.version()) !== undefined;
  }

  /**
   * Asks the library about URLs that are not cached. `persist`: the URLs belong to a configuration, so the results
   * are stored.
   */
  async describe(urls: readonly string[], { persist }: { readonly persist: boolean }): Promise<void> {
    const unresolved = new Map(
      urls
        .filter(isSupportedByEngine)
        .map((url) => [computeId(url), url] as const)
        .filter(([id]) => !this.#isCached(id)),
    );
    if (unresolved.size === 0) return;
    for (const row of await this.#store.find([...unresolved.keys()])) {
      unresolved.delete(row.id);
      const url = this.#vault.open(row.sealed_url, purpose);
      this.#addToCache(row.id, {
        service: row.service,
        url,
        masked: this.#maskedUrls.open(row.shown_url),
        optional: row.optional === 1,
      });
    }
    if (unresolved.size === 0 || this.#clock.now() < this.#pausedUntil || !(await this.isInstalled())) return;
    // Requests run sequentially, so that a long list does not occupy all threads.
    await this.#requests.run(() => this.#describeAll([...unresolved], persist));
  }

  /** Returns the destination of a URL that is not native, or a sentence that explains why there is none. */
  parse(text: string): Destination | string {
    const { scheme = '' } = parseDestinationUrl(text) ?? {};
    const cached = this.#cache.get(computeId(text));
    if (!isSupportedByEngine(text)) return m.schemeUnsupported({ scheme });
    if (cached === undefined) return this.isMissingFor(text) ? m.needsEngine() : m.schemeUnsupported({ scheme });
    if ('refusal' in cached) return formatRefusal(cached.refusal);
    // A web address of a service can correspond to a native scheme.
    return isNativeUrl(cached.url) ? parseDestination(cached.url) : engineDestination(cached, this.#library);
  }

  /** Returns true if the URL can be used after the installation of the engine. */
  isMissingFor(text: string): boolean {
    const url = parseDestinationUrl(text);
    if (url === undefined || !isSupportedByEngine(text)) return false;
    return !this.#cache.has(computeId(text)) && isEngineScheme(url.scheme);
  }

  /** Creates the destination of a URL that was valid when its notification was accepted. */
  createDestination(described: DestinationDescription): Destination | string {
    return isSupportedByEngine(described.url) ? engineDestination(described, this.#library) : m.kindUnsupported();
  }

  /** Deletes stored results of URLs that are no longer in a configuration. */
  async deleteUnused(urls: readonly string[]): Promise<void> {
    await this.#store.deleteExcept(new Set(urls.filter(isSupportedByEngine).map(computeId)));
  }

  async #describeAll(unresolved: readonly (readonly [id: string, url: string])[], persist: boolean): Promise<void> {
    for (let start = 0; start < unresolved.length; start += batchSize) {
      const requested = unresolved.slice(start, start + batchSize);
      const command = { op: 'describe', urls: requested.map(([, url]) => url) };
      try {
        const signal = AbortSignal.timeout(describeTimeoutMs);
        const { described } = await this.#library.run(
          (child, stop) => child.request(command, DescribeReply, stop),
          signal,
        );
        const accepted = requested.flatMap(([id], index) => {
          const answer = described[index];
          if (answer === undefined) return [];
          this.#addToCache(id, answer.ok ? answer : { refusal: findRefusal(answer.log), timestamp: this.#clock.now() });
          return answer.ok ? [{ id, ...answer }] : [];
        });
        if (persist) await this.#keep(accepted);
      } catch (error) {
        // The engine is installed and failed: the URLs remain unresolved and are requested again later.
        this.#pausedUntil = this.#clock.now() + pauseMs;
        this.#log.warn('apprise address check failed', { error });
        return;
      }
    }
  }

  async #keep(accepted: readonly (DestinationDescription & { readonly id: string })[]): Promise<void> {
    await this.#store.add(
      accepted.map(({ id, service, url, masked, optional }) => ({
        id,
        service,
        optional: optional ? 1 : 0,
        sealed_url: this.#vault.seal(url, purpose),
        shown_url: this.#maskedUrls.seal(masked),
      })),
    );
  }

  #isCached(id: string): boolean {
    const cached = this.#cache.get(id);
    // Another release may accept URLs that this one refuses.
    return cached !== undefined && !('refusal' in cached && this.#clock.now() - cached.timestamp > hourMs);
  }

  #addToCache(id: string, cached: DestinationDescription | CachedRefusal): void {
    this.#cache.delete(id);
    this.#cache.set(id, cached);
    const [oldest] = this.#cache.keys();
    if (this.#cache.size > maxCached && oldest !== undefined) this.#cache.delete(oldest);
  }
}

function computeId(url: string): string {
  return createHash('sha256').update(url.trim()).digest('hex').slice(0, 32);
}

/** Returns true for a URL whose scheme is neither native nor refused. */
function isSupportedByEngine(text: string): boolean {
  const url = parseDestinationUrl(text);
  return url !== undefined && !isNativeUrl(text) && !refusedSchemes.includes(url.scheme);
}

/** Returns true for a scheme that the engine supports. */
function isEngineScheme(scheme: string): boolean {
  return engineServices.some(({ protocols, secureProtocols }) => [...protocols, ...secureProtocols].includes(scheme));
}

function findRefusal(log: readonly (readonly [level: string, text: string])[]): string {
  return log.findLast(([level]) => level !== 'INFO')?.[1].trim() ?? '';
}

function formatRefusal(reason: string): string {
  return reason === '' ? m.engineRefused() : m.engineRefusedReason({ reason });
}
