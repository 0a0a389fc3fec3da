import { findOwn } from '../../contracts/find-own.ts';
import type { Context } from '../../contracts/service.ts';
import { debridService, type ServiceId } from '../domain/debrid-services.ts';
import { LruMap } from '../domain/lru-map.ts';
import type { AddonMetrics } from '../metrics.ts';
import type { GuardedFetch } from '../upstream/guarded-fetch.ts';
import { AnswerCache } from '../upstream/response-cache.ts';
import { ProviderCaller } from './provider-http-client.ts';
import { HealthWatch } from './provider-health.ts';
import type { Provider, ProviderTorrent } from './provider.ts';
import { AllDebrid } from './alldebrid.ts';
import { DebridLink } from './debrid-link.ts';
import { Premiumize } from './premiumize.ts';
import { PutIo } from './put-io.ts';
import { RealDebrid } from './real-debrid.ts';
import { TorBox } from './torbox.ts';

const minute = 60_000;
const cachedKeptMs = 30 * minute;
const absentKeptMs = 5 * minute;
const libraryKeptMs = minute;

type Credentials = Readonly<Record<string, string>>;
type MakeProvider = (caller: ProviderCaller, credentials: Credentials) => Provider;

/** Files of a torrent that is available without a download. */
type Files = readonly { readonly path: string; readonly size: number }[];

interface Checked {
  readonly files: Files | undefined;
  readonly until: number;
}

/** Account at a service with cached data. */
export interface Account {
  readonly id: ServiceId;
  readonly provider: Provider;
  /** Returns the hashes that are available without a download, with their files if the service lists them. */
  available(hashes: readonly string[]): Promise<ReadonlyMap<string, Files>>;
  /** Returns the torrents of the account, which are cached for one minute. */
  library(): Promise<readonly ProviderTorrent[]>;
  /** Discards the cached list of torrents. */
  forgetLibrary(): void;
}

export interface PoolOptions {
  readonly context: Context;
  readonly guarded: GuardedFetch;
  readonly metrics: AddonMetrics;
  readonly cacheSize: number;
  readonly baseUrl: (id: ServiceId) => string;
  /** Factories of clients that need more than an HTTP client and credentials. */
  readonly makers: Partial<Readonly<Record<ServiceId, MakeProvider>>>;
}

const makers: Partial<Readonly<Record<ServiceId, MakeProvider>>> = {
  realdebrid: (caller, credentials) => new RealDebrid(caller, credentials),
  alldebrid: (caller, credentials) => new AllDebrid(caller, credentials),
  premiumize: (caller, credentials) => new Premiumize(caller, credentials),
  debridlink: (caller, credentials) => new DebridLink(caller, credentials),
  putio: (caller, credentials) => new PutIo(caller, credentials),
  torbox: (caller, credentials) => new TorBox(caller, credentials),
};

/** Creates one client for each account at a service. */
export class ProviderPool {
  readonly health: HealthWatch;
  readonly #options: PoolOptions;
  readonly #accounts: LruMap<string, Account>;
  readonly #checks: LruMap<string, Checked>;
  readonly #libraries: AnswerCache<readonly ProviderTorrent[]>;

  constructor(options: PoolOptions) {
    this.#options = options;
    const { context } = options;
    this.health = new HealthWatch(context.clock);
    this.#accounts = new LruMap(100);
    // One request checks hundreds of hashes.
    this.#checks = new LruMap(() => Math.max(options.cacheSize, 1000) * 20);
    this.#libraries = new AnswerCache({
      clock: context.clock,
      most: 100,
      freshMs: libraryKeptMs,
      staleMs: libraryKeptMs,
      keeps: () => true,
    });
  }

  /** Returns true when this service is supported. */
  knows(id: ServiceId): boolean {
    return id === 'easynews' || (findOwn(this.#options.makers, id) ?? findOwn(makers, id)) !== undefined;
  }

  /** Identifies a credential without revealing it. */
  fingerprint(id: ServiceId, credentials: Credentials): string {
    return this.#options.context.vault.fingerprint(
      JSON.stringify(Object.entries(credentials).toSorted()),
      `addons.${id}`,
    );
  }

  /** Returns an HTTP client for a service, also for services without torrents. */
  caller(id: ServiceId, credentials: Credentials): ProviderCaller | undefined {
    const service = debridService(id);
    const { context, guarded, metrics, baseUrl } = this.#options;
    if (service === undefined) return undefined;
    const credential = this.fingerprint(id, credentials);
    const own = { health: this.health, service, baseUrl: baseUrl(id), credential };
    return new ProviderCaller({ context, guarded, metrics, ...own });
  }

  /** Returns the account, or undefined when the service is not supported. */
  account(id: ServiceId, credentials: Credentials): Account | undefined {
    const make = findOwn(this.#options.makers, id) ?? findOwn(makers, id);
    if (make === undefined) return undefined;
    const credential = this.fingerprint(id, credentials);
    const known = this.#accounts.get(`${id} ${credential}`);
    if (known !== undefined) return known;
    const caller = this.caller(id, credentials);
    if (caller === undefined) return undefined;
    const provider = make(caller, credentials);
    const account: Account = {
      id,
      provider,
      available: (hashes) => this.#available(id, provider, hashes),
      library: async () => await this.#libraries.get(`${id} ${credential}`, () => provider.library()).answer,
      forgetLibrary: () => this.#libraries.forget(`${id} ${credential}`),
    };
    this.#accounts.set(`${id} ${credential}`, account);
    return account;
  }

  /** Availability is shared by all accounts of a service. */
  async #available(id: ServiceId, provider: Provider, hashes: readonly string[]): Promise<ReadonlyMap<string, Files>> {
    const found = new Map<string, Files>();
    if (provider.check === undefined) return found;
    const now = this.#options.context.clock.now();
    const unknown: string[] = [];
    for (const hash of hashes) {
      const known = this.#checks.get(`${id} ${hash}`);
      if (known === undefined || known.until <= now) unknown.push(hash);
      else if (known.files !== undefined) found.set(hash, known.files);
    }
    if (unknown.length === 0) return found;
    const fresh = await provider.check(unknown);
    for (const hash of unknown) {
      const files = fresh.get(hash);
      this.#checks.set(`${id} ${hash}`, { files, until: now + (files === undefined ? absentKeptMs : cachedKeptMs) });
      if (files !== undefined) found.set(hash, files);
    }
    return found;
  }
}
