import { findOwn } from '../../contracts/find-own.ts';
import type { Context } from '../../contracts/service.ts';
import { debridService, type ServiceId } from '../domain/debrid-services.ts';
import { LruMap } from '../../kit/lru-map.ts';
import type { AddonMetrics } from '../metrics.ts';
import type { GuardedFetch } from '../upstream/guarded-fetch.ts';
import { ResponseCache } from '../upstream/response-cache.ts';
import { ProviderHttpClient } from './provider-http-client.ts';
import { ProviderHealthMonitor } from './provider-health.ts';
import type { Provider, ProviderTorrent } from './provider.ts';
import { AllDebrid } from './alldebrid.ts';
import { DebridLink } from './debrid-link.ts';
import { Premiumize } from './premiumize.ts';
import { PutIo } from './put-io.ts';
import { RealDebrid } from './real-debrid.ts';
import { TorBox } from './torbox.ts';

const minuteMs = 60_000;
const availableCacheMs = 30 * minuteMs;
const unavailableCacheMs = 5 * minuteMs;
const libraryCacheMs = minuteMs;

type Credentials = Readonly<Record<string, string>>;
type ProviderFactory = (httpClient: ProviderHttpClient, credentials: Credentials) => Provider;

/** Files of a torrent that is available without a download. */
type TorrentFiles = readonly { readonly path: string; readonly size: number }[];

interface CachedAvailability {
  readonly files: TorrentFiles | undefined;
  readonly until: number;
}

/** Account at a service with cached data. */
export interface Account {
  readonly id: ServiceId;
  readonly provider: Provider;
  /** Returns the hashes that are available without a download, with their files if the service lists them. */
  listAvailable(hashes: readonly string[]): Promise<ReadonlyMap<string, TorrentFiles>>;
  /** Returns the torrents of the account, which are cached for one minute. */
  listTorrents(): Promise<readonly ProviderTorrent[]>;
  /** Discards the cached list of torrents. */
  clearTorrents(): void;
}

export interface ProviderPoolOptions {
  readonly context: Context;
  readonly guardedFetch: GuardedFetch;
  readonly metrics: AddonMetrics;
  readonly cacheSize: number;
  readonly baseUrl: (id: ServiceId) => string;
  /** Factories of clients that need more than an HTTP client and credentials. */
  readonly providerFactories: Partial<Readonly<Record<ServiceId, ProviderFactory>>>;
}

const defaultFactories: Partial<Readonly<Record<ServiceId, ProviderFactory>>> = {
  realdebrid: (httpClient, credentials) => new RealDebrid(httpClient, credentials),
  alldebrid: (httpClient, credentials) => new AllDebrid(httpClient, credentials),
  premiumize: (httpClient, credentials) => new Premiumize(httpClient, credentials),
  debridlink: (httpClient, credentials) => new DebridLink(httpClient, credentials),
  putio: (httpClient, credentials) => new PutIo(httpClient, credentials),
  torbox: (httpClient, credentials) => new TorBox(httpClient, credentials),
};

/** Creates one client for each account at a service. */
export class ProviderPool {
  readonly health: ProviderHealthMonitor;
  readonly #options: ProviderPoolOptions;
  readonly #accounts: LruMap<string, Account>;
  readonly #checks: LruMap<string, CachedAvailability>;
  readonly #libraries: ResponseCache<readonly ProviderTorrent[]>;

  constructor(options: ProviderPoolOptions) {
    this.#options = options;
    const { context } = options;
    this.health = new ProviderHealthMonitor(context.clock);
    this.#accounts = new LruMap(100);
    // One request checks hundreds of hashes.
    this.#checks = new LruMap(() => Math.max(options.cacheSize, 1000) * 20);
    this.#libraries = new ResponseCache({
      clock: context.clock,
      maxEntries: 100,
      freshMs: libraryCacheMs,
      staleMs: libraryCacheMs,
      isCacheable: () => true,
    });
  }

  /** Returns true when this service is supported. */
  isSupported(id: ServiceId): boolean {
    return (
      id === 'easynews' || (findOwn(this.#options.providerFactories, id) ?? findOwn(defaultFactories, id)) !== undefined
    );
  }

  /** Identifies a credential without revealing it. */
  fingerprint(id: ServiceId, credentials: Credentials): string {
    return this.#options.context.vault.fingerprint(
      JSON.stringify(Object.entries(credentials).toSorted()),
      `addons.${id}`,
    );
  }

  /** Returns an HTTP client for a service, also for services without torrents. */
  createHttpClient(id: ServiceId, credentials: Credentials): ProviderHttpClient | undefined {
    const service = debridService(id);
    const { context, guardedFetch, metrics, baseUrl } = this.#options;
    if (service === undefined) return undefined;
    const credential = this.fingerprint(id, credentials);
    const serviceOptions = { health: this.health, service, baseUrl: baseUrl(id), credential };
    return new ProviderHttpClient({ context, guardedFetch, metrics, ...serviceOptions });
  }

  /** Returns the account, or undefined when the service is not supported. */
  getAccount(id: ServiceId, credentials: Credentials): Account | undefined {
    const createProvider = findOwn(this.#options.providerFactories, id) ?? findOwn(defaultFactories, id);
    if (createProvider === undefined) return undefined;
    const credential = this.fingerprint(id, credentials);
    const existing = this.#accounts.get(`${id} ${credential}`);
    if (existing !== undefined) return existing;
    const httpClient = this.createHttpClient(id, credentials);
    if (httpClient === undefined) return undefined;
    const provider = createProvider(httpClient, credentials);
    const account: Account = {
      id,
      provider,
      listAvailable: (hashes) => this.#checkAvailability(id, provider, hashes),
      listTorrents: async () => await this.#libraries.get(`${id} ${credential}`, () => provider.library()).response,
      clearTorrents: () => this.#libraries.forget(`${id} ${credential}`),
    };
    this.#accounts.set(`${id} ${credential}`, account);
    return account;
  }

  /** Availability is shared by all accounts of a service. */
  async #checkAvailability(
    id: ServiceId,
    provider: Provider,
    hashes: readonly string[],
  ): Promise<ReadonlyMap<string, TorrentFiles>> {
    const available = new Map<string, TorrentFiles>();
    if (provider.checkAvailability === undefined) return available;
    const now = this.#options.context.clock.now();
    const uncheckedHashes: string[] = [];
    for (const hash of hashes) {
      const cached = this.#checks.get(`${id} ${hash}`);
      if (cached === undefined || cached.until <= now) uncheckedHashes.push(hash);
      else if (cached.files !== undefined) available.set(hash, cached.files);
    }
    if (uncheckedHashes.length === 0) return available;
    const checked = await provider.checkAvailability(uncheckedHashes);
    for (const hash of uncheckedHashes) {
      const files = checked.get(hash);
      this.#checks.set(`${id} ${hash}`, {
        files,
        until: now + (files === undefined ? unavailableCacheMs : availableCacheMs),
      });
      if (files !== undefined) available.set(hash, files);
    }
    return available;
  }
}
