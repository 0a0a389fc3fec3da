import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Bus } from '../../services/contracts/bus.ts';
import type { HostProblem } from '../../services/contracts/control/hosts.ts';
import type { Context } from '../../services/contracts/service.ts';
import { resolveHostLanguage, runInLanguage } from '../../services/kit/language.ts';
import { engineProgressChanged } from '../../services/contracts/control/engine-progress.ts';
import type { Metrics } from '../../services/contracts/metrics.ts';
import type { Clock, ServiceDescriptor, Vault } from '../../services/contracts/service.ts';
import { openAccounts, type AccountsPolicy, type HostAccounts } from './accounts/accounts.ts';
import { AppAddresses } from './services/app-pages.ts';
import { createSecurityLog, securityLogName } from './log/security-log.ts';
import { createBus } from './services/bus.ts';
import type { BlobStore } from './blobs/blob-store.ts';
import { getInstallation, openBlobStore, removeIncomplete } from './blobs/open-blob-store.ts';
import { openConfig } from './config/file-config.ts';
import type { Config } from './config/config.ts';
import type { CommandLineSettings } from './config/layers.ts';
import { portsIn } from './config/settings.ts';
import { openDatabase, type Database } from './database/open.ts';
import { ReadThread } from './database/reads/thread.ts';
import { openEngines, type HostEngines } from './engines/engines.ts';
import { findEnginesFolder } from './engines/engines-folder.ts';
import { getEngineSpecs } from './engines/specs.ts';
import { createFetch } from './fetch/fetch.ts';
import { OwnConnections } from './fetch/own-connections.ts';
import { createFeeds } from './services/feeds.ts';
import { createHandovers } from './services/handovers.ts';
import { createCallerResolver } from './http/caller.ts';
import { compileTrustedProxies, type TrustPredicate } from './http/proxies.ts';
import { openLeases, type HostLeases } from './leases/leases.ts';
import { HostDirectory } from './hosts/host-directory.ts';
import { readHostId } from './hosts/host-id.ts';
import { hostMigrations } from './host-migrations.ts';
import type { HostLog } from './log/log.ts';
import { createMetrics, type HostMetrics } from './metrics/metrics.ts';
import { openRelay } from './relay/open-relay.ts';
import type { Relay } from './relay/relay.ts';
import type { HostDependencies, ListenerAddresses, Outgoing, RequestOrigins } from './services/host-parts.ts';
import { LoopWatch } from './runtime/loop-watch.ts';
import { systemRandom } from './runtime/random.ts';
import { checkDatabaseKey } from './vault/database-key-check.ts';
import { checkKey } from './vault/key-check.ts';
import { readProvidedKey } from './vault/provided-key.ts';
import { openVault, type KeyWrapping } from './vault/vault.ts';
import { version } from './runtime/version.ts';
import { RegisteredAddresses } from './services/registered-addresses.ts';
import { LocalPrograms } from './services/local-programs.ts';

export interface KernelOptions {
  readonly dataDir: string;
  readonly descriptors: readonly ServiceDescriptor[];
  readonly environment: NodeJS.ProcessEnv;
  readonly commandLine: CommandLineSettings;
  readonly clock: Clock;
  readonly log: HostLog;
  /** For commands that read beside a running host: the settings file is not changed. */
  readonly readOnly?: boolean;
  /** For a move of the database, which excludes hosts and other commands. */
  readonly isMove?: boolean;
  /** The host installs missing engines after the start if the settings allow it; services wait for them. */
  readonly installsEngines?: boolean;
  /** An error ended the previous host on the data folder. Only the next host counts it, not a command. */
  readonly isAfterCrash?: boolean;
  /** Resolves once every service has started or failed. */
  readonly started: Promise<void>;
  /** Returns the base address of a service's listener. */
  readonly address: (serviceId: string, listener?: string) => string | undefined;
  /** Returns whether the host is about to stop. */
  readonly isDraining: () => boolean;
  /** Returns the services that do not work. */
  readonly getProblems: () => readonly HostProblem[];
  /** Returns the addresses of all open listeners. */
  readonly addresses: () => readonly string[];
  readonly keyStore?: KeyStore;
  /** log2 of scrypt's N for new passwords; default: that of the accounts. */
  readonly passwordCost?: number;
}

/** Key store of a desktop: stores the vault's key while it is safe and the setting `keyring` is on. */
export interface KeyStore {
  readonly wrapping: KeyWrapping;
  /** False when it can return a previously stored key but is not secure any more. */
  readonly safe: boolean;
}

/** Everything that services are based on: settings, vault, accounts, engines. */
export interface Kernel extends AsyncDisposable {
  readonly config: Config;
  readonly accounts: HostAccounts;
  readonly engines: HostEngines;
  /** Hosts that share the database. This one is listed from its start on. */
  readonly hosts: HostDirectory;
  /** Tables of the host. */
  readonly database: Pick<Database, 'kysely' | 'dialect'>;
  readonly parts: HostDependencies;
}

/** Opens the common part of the data folder in order; disposal closes it in reverse. Starts no service. */
export async function openKernel(options: KernelOptions): Promise<Kernel> {
  const { dataDir, log, clock } = options;
  await using opening = new AsyncDisposableStack();
  const { config, vault } = await openConfigAndVault(options);
  const loop = opening.use(new LoopWatch({ log: log.child('host'), clock }));
  const { databaseUrl } = config.read().host;
  const database = opening.use(await openHostDatabase(options, databaseUrl, loop));
  await database.migrate(hostMigrations);
  if (databaseUrl !== '') await checkDatabaseKey(database.kysely, vault);

  const inHostLanguage: Context['inHostLanguage'] = (work) =>
    runInLanguage(resolveHostLanguage(config.read().host.language), work);
  const metrics = createMetrics({ version, log: log.child('metrics'), loopDelays: () => loop.delays() });
  // Identifies this host until it ends, in messages to other hosts and in rows of its work.
  const run = systemRandom.text(16);
  const relay = await openKernelRelay(opening, options, { config, vault, metrics, run });
  const bus = createBus(log.child('bus'), loop, relay);
  const random = systemRandom;
  const security = createSecurityLog(log.child(securityLogName), clock);
  const accounts = opening.use(
    await openAccounts({
      database,
      services: options.descriptors,
      vault,
      clock,
      random,
      bus,
      observation: { log: log.child('accounts'), security, metrics: metrics.host },
      policy: { ...createAccountsPolicy(config, options.passwordCost), inHostLanguage },
    }),
  );
  const hosts = opening.use(openHostDirectory(options, config, database, metrics.host));
  const engines = openKernelEngines(options, config, bus);
  const trusts = trustConfiguredProxies(config);
  const readThread = opening.use(new ReadThread({ clock, log: log.child('database') }));
  const network = openNetwork(opening, log, options.addresses);
  const parts: HostDependencies = {
    storage: {
      dataDir,
      uncountedCrashes: new Set(options.isAfterCrash === true ? options.descriptors.map(({ id }) => id) : []),
      databaseUrl,
      leases: opening.use(await openKernelLeases(options, databaseUrl, run)),
      blobs: opening.use(await openKernelBlobs(options, config, vault)),
      relay,
      readThread,
    },
    observation: { loop, log, metrics, security },
    runtime: { hostSettings: () => config.read().host, inHostLanguage, clock, random, isDraining: options.isDraining },
    messaging: createMessaging(options, config, bus),
    identities: { accounts, releases: accounts.releases, vault },
    outgoing: { engines, ...network.outgoing },
    addresses: { ...network.addresses, ...createListenerAddresses(options, config) },
    origins: {
      ...network.origins,
      caller: createCallerResolver(() => config.read().host.allowedOrigins, trusts),
      trusts,
    },
  };
  const resources = opening.move();
  return { config, accounts, engines, hosts, database, parts, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

/** Creates the ways in which services exchange events, handovers and feeds. */
function createMessaging({ log, started }: KernelOptions, config: Config, bus: Bus): HostDependencies['messaging'] {
  const isDisabled = (service: string): boolean => config.read().services[service]?.enabled === false;
  return { bus, handovers: createHandovers(started, isDisabled), feeds: createFeeds(log) };
}

/** Creates the addresses of listeners and pages, which follow the settings. */
function createListenerAddresses(
  { address }: KernelOptions,
  config: Config,
): Pick<ListenerAddresses, 'address' | 'appPages' | 'portsInUse'> {
  return {
    address,
    appPages: new AppAddresses({ address, publicUrl: () => config.read().host.publicUrl }),
    portsInUse: () => Object.values(config.read().services).flatMap((each) => [...portsIn(each).values()]),
  };
}

/** Creates the rules for passwords and sessions, which follow the settings. */
function createAccountsPolicy(config: Config, passwordCost: number | undefined): AccountsPolicy {
  return {
    sessionDays: () => config.read().host.sessionDays,
    requireSecondFactor: () => config.read().host.requireSecondFactor,
    ...(passwordCost === undefined ? {} : { passwordCost }),
  };
}

/** Opens the settings, and the vault as soon as the settings of the key store are read. */
async function openConfigAndVault(options: KernelOptions): Promise<{ readonly config: Config; readonly vault: Vault }> {
  const unlocked = Promise.withResolvers<Vault>();
  const config = await openConfig({
    dataDir: options.dataDir,
    descriptors: options.descriptors,
    environment: options.environment,
    commandLine: options.commandLine,
    readOnly: options.readOnly ?? false,
    openVault: async (settings) => {
      const opened = await openKernelVault(options, settings.host.keyring);
      unlocked.resolve(opened);
      return opened;
    },
    log: options.log.child('config'),
  });
  return { config, vault: await unlocked.promise };
}

/** Name of the host's own tables in a shared database. */
const hostSchema = 'host';

/** A command that only reads does not count as a running host. */
function openKernelLeases(
  { log, readOnly = false }: KernelOptions,
  databaseUrl: string,
  run: string,
): Promise<HostLeases> {
  const shared = databaseUrl === '' || readOnly ? undefined : { url: databaseUrl, schema: hostSchema };
  return openLeases({ shared, host: run, log: log.child('leases') });
}

function openHostDatabase(
  { dataDir, isMove = false, log }: KernelOptions,
  url: string,
  loop: LoopWatch,
): Promise<Database> {
  return openDatabase({
    isMove,
    folder: join(dataDir, 'host'),
    schema: hostSchema,
    log: log.child('database'),
    loop,
    ...(url === '' ? {} : { url }),
  });
}

function openHostDirectory(
  options: KernelOptions,
  config: Config,
  database: Database,
  metrics: Metrics,
): HostDirectory {
  const { clock, dataDir, isDraining, log, readOnly = false } = options;
  const id = readHostId(dataDir, systemRandom, { create: !readOnly });
  const getProblems = (): Promise<readonly HostProblem[]> =>
    runInLanguage(resolveHostLanguage(config.read().host.language), options.getProblems);
  return new HostDirectory({ database, id, version, clock, log: log.child('hosts'), metrics, isDraining, getProblems });
}

/** Opens the store of blobs after the leftovers of a killed host were removed. */
async function openKernelBlobs(options: KernelOptions, config: Config, vault: Vault): Promise<BlobStore> {
  const { clock, dataDir, descriptors, log, readOnly = false } = options;
  if (!readOnly) await removeIncomplete(dataDir, descriptors);
  const installation = getInstallation(vault);
  return openBlobStore(config.read().host, { clock, log: log.child('blobs'), installation });
}

/** Opens the exchange of events with other hosts. A command that reads beside a running host takes no part in it. */
async function openKernelRelay(
  opening: AsyncDisposableStack,
  { clock, log, readOnly = false }: KernelOptions,
  {
    config,
    vault,
    metrics,
    run,
  }: { readonly config: Config; readonly vault: Vault; readonly metrics: HostMetrics; readonly run: string },
): Promise<Relay | undefined> {
  if (readOnly) return undefined;
  const relay = await openRelay({
    settings: config.read().host,
    installation: getInstallation(vault),
    vault,
    host: run,
    clock,
    log: log.child('bus'),
    metrics: metrics.host,
  });
  return relay === undefined ? undefined : opening.use(relay);
}

function openKernelEngines(options: KernelOptions, config: Config, bus: Bus): HostEngines {
  const { descriptors, dataDir } = options;
  const log = options.log.child('engines');
  return openEngines({
    folder: findEnginesFolder(config.read().host, dataDir, log),
    installsMissing: options.installsEngines === true && config.read().host.installEngines,
    specs: getEngineSpecs(descriptors),
    paths: () => config.read().enginePaths,
    log,
    onWork: (name, work) => bus.publish(engineProgressChanged, { name, work }),
  });
}

/** Returns a predicate for the trusted proxies of the current settings. */
function trustConfiguredProxies(config: Config): TrustPredicate {
  let networks: readonly string[] = [];
  let isTrusted = compileTrustedProxies(networks);
  return (from) => {
    const current = config.read().host.trustedProxies;
    if (current !== networks) [networks, isTrusted] = [current, compileTrustedProxies(current)];
    return isTrusted(from);
  };
}

interface Network {
  readonly outgoing: Pick<Outgoing, 'fetch' | 'childPids'>;
  readonly addresses: Pick<ListenerAddresses, 'addresses' | 'noteAddress'>;
  readonly origins: Pick<RequestOrigins, 'isLocalProgram'>;
}

/** Opens outgoing connections, and detects connections of this host and of its child processes. */
function openNetwork(opening: AsyncDisposableStack, log: HostLog, listenerAddresses: () => readonly string[]): Network {
  const registered = new RegisteredAddresses();
  const addresses = (): readonly string[] => [...listenerAddresses(), ...registered.list()];
  const ownConnections = new OwnConnections(addresses);
  const childPids = new Set<number>();
  const localPrograms = new LocalPrograms(ownConnections, childPids);
  return {
    outgoing: { fetch: opening.use(createFetch({ log: log.child('fetch'), ownConnections })), childPids },
    addresses: { addresses, noteAddress: (address) => registered.add(address) },
    origins: { isLocalProgram: (request) => localPrograms.includes(request) },
  };
}

async function openKernelVault(
  { dataDir, environment, log, keyStore }: KernelOptions,
  keyring: boolean,
): Promise<Vault> {
  const folder = join(dataDir, 'host');
  const provided = await readProvidedKey(environment);
  const vault = await openVault({
    folder: dataDir,
    create: !existsSync(folder),
    provided,
    log: log.child('vault'),
    ...(keyStore === undefined
      ? {}
      : keyStore.safe && keyring
        ? { wrapping: keyStore.wrapping }
        : { formerWrapping: keyStore.wrapping }),
  });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  await checkKey(vault, folder, provided?.source ?? join(dataDir, 'vault.key'));
  return vault;
}
