import type { Accounts } from '../../../services/contracts/control/accounts.ts';
import type { Bus, Handovers } from '../../../services/contracts/bus.ts';
import type { Feeds } from '../../../services/contracts/feeds.ts';
import type { Engines } from '../../../services/contracts/control/engines.ts';
import type { Connect, Fetch, FetchStream } from '../../../services/contracts/outgoing.ts';
import type { Clock, Context, Random, Vault } from '../../../services/contracts/service.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { HostSettings } from '../config/host-settings.ts';
import type { HostLeases } from '../leases/leases.ts';
import type { ReadThread } from '../database/reads/thread.ts';
import type { AppAddresses } from './app-pages.ts';
import type { TrustPredicate } from '../http/proxies.ts';
import type { AccountReleases } from '../accounts/releases.ts';
import type { HostLog } from '../log/log.ts';
import type { SecurityLog } from '../log/security-log.ts';
import type { Relay } from '../relay/relay.ts';
import type { LoopWatch } from '../runtime/loop-watch.ts';
import type { HostMetrics } from '../metrics/metrics.ts';

/** Folders, databases and crashes of the services. */
export interface ServiceStorage {
  readonly dataDir: string;
  /**
   * Database server, or empty for tables in the data folder. The value at the start, so that all services agree until
   * the next start.
   */
  readonly databaseUrl: string;
  /** Store for the blobs of the services. */
  readonly blobs: BlobStore;
  readonly leases: HostLeases;
  /** Exchange of events with other hosts; undefined without a shared database. */
  readonly relay: Pick<Relay, 'getProblem' | 'state'> | undefined;
  /** Reads SQLite files outside of the event loop. */
  readonly readThread: ReadThread;
  /**
   * Ids of services whose jobs do not count the crash of the previous process yet. Each counts it once, at its first
   * start, not at later restarts.
   */
  readonly uncountedCrashes: Set<string>;
}

/** Log, metrics and measurements. */
export interface Observation {
  readonly log: HostLog;
  readonly metrics: HostMetrics;
  readonly security: SecurityLog;
  /** Attributes event loop delays. */
  readonly loop: LoopWatch;
}

/** Origins of requests. */
export interface RequestOrigins {
  readonly caller: Context['caller'];
  readonly isLocalProgram: Context['isLocalProgram'];
  /** Uses the current settings. */
  readonly trusts: TrustPredicate;
}

/** Addresses of listeners. */
export interface ListenerAddresses {
  readonly address: (serviceId: string, listener?: string) => string | undefined;
  readonly appPages: AppAddresses;
  readonly addresses: () => readonly string[];
  /** Registers a port that a service or its child process has opened in addition to its listeners. */
  readonly noteAddress: (address: string) => Disposable;
  /** Ports that the settings assign to services: never suggested in place of a taken one. */
  readonly portsInUse: () => readonly number[];
}

/** Messages between services. */
export interface Messaging {
  readonly bus: Bus;
  readonly handovers: Handovers;
  readonly feeds: Feeds;
}

/** Accounts and secrets. */
export interface Identities {
  readonly accounts: Accounts;
  readonly releases: AccountReleases;
  readonly vault: Vault;
}

/** External programs and outgoing requests. */
export interface Outgoing {
  readonly engines: Engines;
  readonly fetch: Fetch & { readonly stream: FetchStream; readonly connect: Connect };
  /** Process ids of the running child processes of services. */
  readonly childPids: Set<number>;
}

/** Time, randomness and settings. */
export interface HostRuntime {
  readonly clock: Clock;
  readonly random: Random;
  /** Current settings of the host; call it for each use. */
  readonly hostSettings: () => HostSettings;
  readonly inHostLanguage: Context['inHostLanguage'];
  /** Returns whether the host is about to stop: clients should use other connections. */
  readonly isDraining: () => boolean;
}

/** Kernel components from which the contexts of services are built. */
export interface HostDependencies {
  readonly storage: ServiceStorage;
  readonly observation: Observation;
  readonly origins: RequestOrigins;
  readonly addresses: ListenerAddresses;
  readonly messaging: Messaging;
  readonly identities: Identities;
  readonly outgoing: Outgoing;
  readonly runtime: HostRuntime;
}

/** Collaborators of the listeners of a service. */
export type ListenerEnvironment = Pick<HostDependencies, 'observation' | 'origins' | 'addresses' | 'runtime'>;
