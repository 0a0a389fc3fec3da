import type { Accounts } from '../../../services/contracts/control/accounts.ts';
import type { Bus, Handovers } from '../../../services/contracts/bus.ts';
import type { Feeds } from '../../../services/contracts/feeds.ts';
import type { Engines } from '../../../services/contracts/control/engines.ts';
import type { Connect, Fetch, FetchStream } from '../../../services/contracts/outgoing.ts';
import type { Clock, Context, Random, Vault } from '../../../services/contracts/service.ts';
import type { HostSettings } from '../config/host-settings.ts';
import type { ReadThread } from '../database/reads/thread.ts';
import type { AppAddresses } from './app-pages.ts';
import type { Trusts } from '../http/proxies.ts';
import type { AccountReleases } from '../accounts/releases.ts';
import type { HostLog } from '../log/log.ts';
import type { SecurityLog } from '../log/security-log.ts';
import type { LoopWatch } from '../runtime/loop-watch.ts';
import type { HostMetrics } from '../metrics/metrics.ts';

/** The kernel's parts that every service's context is made of. */
export interface HostParts {
  readonly dataDir: string;
  /** Where all tables are, empty: in the data folder. As it was at the start, so that all services agree until the next. */
  readonly databaseUrl: string;
  /** Names what holds up the event loop. */
  readonly loop: LoopWatch;
  /** What reads SQLite files beside the event loop. */
  readonly readThread: ReadThread;
  /** The host's settings as they are now; read it at each use. */
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
  /** Adds one to them: a port that a service or a program of it has opened besides its listeners. */
  readonly noteAddress: (address: string) => Disposable;
  readonly caller: Context['caller'];
  readonly isLocalProgram: Context['isLocalProgram'];
  /** Process ids of the programs that services have started and that still run. */
  readonly childPids: Set<number>;
  /** By the settings as they are now. */
  readonly trusts: Trusts;
  /** Ports that the settings give to services: never offered in place of a taken one. */
  readonly portsInUse: () => readonly number[];
}
