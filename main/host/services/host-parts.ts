import type { Accounts } from '../../../services/contracts/control/accounts.ts';
import type { Bus, Handovers } from '../../../services/contracts/bus.ts';
import type { Feeds } from '../../../services/contracts/feeds.ts';
import type { Engines } from '../../../services/contracts/control/engines.ts';
import type { Connect, Fetch, FetchStream } from '../../../services/contracts/outgoing.ts';
import type { Clock, Context, Random, Vault } from '../../../services/contracts/service.ts';
import type { HostSettings } from '../config/host-settings.ts';
import type { ReadThread } from '../database/reads/thread.ts';
import type { AppAddresses } from './app-pages.ts';
import type { TrustPredicate } from '../http/proxies.ts';
import type { AccountReleases } from '../accounts/releases.ts';
import type { HostLog } from '../log/log.ts';
import type { SecurityLog } from '../log/security-log.ts';
import type { LoopWatch } from '../runtime/loop-watch.ts';
import type { HostMetrics } from '../metrics/metrics.ts';

/** Kernel components from which the contexts of services are built. */
export interface HostDependencies {
  readonly dataDir: string;
  /**
   * Ids of services whose jobs do not count the crash of the previous process yet. Each counts it once, at its first
   * start, not at later restarts.
   */
  readonly uncountedCrashes: Set<string>;
  /**
   * Database server, or empty for tables in the data folder. The value at the start, so that all services agree until
   * the next start.
   */
  readonly databaseUrl: string;
  /** Attributes event loop delays. */
  readonly loop: LoopWatch;
  /** Reads SQLite files outside of the event loop. */
  readonly readThread: ReadThread;
  /** Current settings of the host; call it for each use. */
  readonly hostSettings: () => HostSettings;
  readonly log: HostLog;
  readonly metrics: HostMetrics;
  readonly bus: Bus;
  readonly handovers: Handovers;
  readonly feeds: Feeds;
  readonly accounts: Accounts;
  readonly releases: AccountReleases;
  readonly security: SecurityLog;
  readonly vault: Vault;
  readonly engines: Engines;
  readonly fetch: Fetch & { readonly stream: FetchStream; readonly connect: Connect };
  readonly clock: Clock;
  readonly random: Random;
  readonly address: (serviceId: string, listener?: string) => string | undefined;
  readonly appPages: AppAddresses;
  readonly addresses: () => readonly string[];
  /** Registers a port that a service or its child process has opened in addition to its listeners. */
  readonly noteAddress: (address: string) => Disposable;
  readonly caller: Context['caller'];
  readonly isLocalProgram: Context['isLocalProgram'];
  /** Process ids of the running child processes of services. */
  readonly childPids: Set<number>;
  /** Uses the current settings. */
  readonly trusts: TrustPredicate;
  /** Ports that the settings assign to services: never suggested in place of a taken one. */
  readonly portsInUse: () => readonly number[];
}
