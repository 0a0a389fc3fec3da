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

/** Files of a torrent that a service has at once. */
type Files = readonly { readonly path: string; readonly size: number }[];

interface Checked {
  readonly files: Files | undefined;
  readonly until: number;
}

/** A service with its credentials and what was learnt through them. */
export interface Account {
  readonly id: ServiceId;
  readonly provider: Provider;
  /** Those of these hashes that it has at once, with their files where they are known. */
  available(hashes: readonly string[]): Promise<ReadonlyMap<string, Files>>;
  /** The account's torrents, as of a minute ago at most. */
  library(): Promise<readonly ProviderTorrent[]>;
  /** What was listed may be so no longer. */
  forgetLibrary(): void;
}

export interface PoolOptions {
  readonly context: Context;
  readonly guarded: GuardedFetch;
  readonly metrics: AddonMetrics;
  readonly cacheSize: number;
  readonly baseUrl: (id: ServiceId) => string;
  /** Clients that need more than a caller and credentials. */
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

/** Accounts at services, each made once for its credentials. */
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
    // One request asks about hundreds of hashes.
    this.#checks = new LruMap(() => Math.max(options.cacheSize, 1000) * 20);
    this.#libraries = new AnswerCache({
      clock: context.clock,
      most: 100,
      freshMs: libraryKeptMs,
      staleMs: libraryKeptMs,
      keeps: () => true,
    });
  }

  /** Whether there is a client for this service. */
  knows(id: ServiceId): boolean {
    return id === 'easynews' || (findOwn(this.#options.makers, id) ?? findOwn(makers, id)) !== undefined;
  }

  /** Names a credential without telling it. */
  fingerprint(id: ServiceId, credentials: Credentials): string {
    return this.#options.context.vault.fingerprint(
      JSON.stringify(Object.entries(credentials).toSorted()),
      `addons.${id}`,
    );
  }

  /** What sends a service's requests; for those that have no torrents. */
  caller(id: ServiceId, credentials: Credentials): ProviderCaller | undefined {
    const service = debridService(id);
    const { context, guarded, metrics, baseUrl } = this.#options;
    if (service === undefined) return undefined;
    const credential = this.fingerprint(id, credentials);
    const own = { health: this.health, service, baseUrl: baseUrl(id), credential };
    return new ProviderCaller({ context, guarded, metrics, ...own });
  }

  /** Undefined where there is no client for it. */
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

  /** What a service has is the same for all its accounts. */
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
