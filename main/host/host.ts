import { sql } from 'kysely';
import { settingsChanged } from '../../services/contracts/control/api.ts';
import type { BackupStore } from '../../services/contracts/control/backups.ts';
import type { Clock, ServiceDescriptor } from '../../services/contracts/service.ts';
import { openBackups } from './backup/store.ts';
import { finishRestore, stageFormer } from './backup/restore.ts';
import { systemClock } from './runtime/clock.ts';
import { takeCrashMark } from './runtime/crash-marker.ts';
import type { CommandLineSettings } from './config/layers.ts';
import type { HostSettings } from './config/host-settings.ts';
import { getServiceSettings } from './config/settings.ts';
import { AnnouncedPages } from './runtime/announced-pages.ts';
import { lockDataFolder, type DataLock } from './runtime/data-lock.ts';
import { installEnginesOfServices, watchEngineInstallations } from './services/follow-engines.ts';
import { collectWhenIdle } from './runtime/idle-gc.ts';
import { createCapabilityProviders, openDesktop, type DesktopOptions } from './capability-providers.ts';
import { createHostControl, type HostMonitoring } from './host-control.ts';
import { openKernel, type Kernel, type KeyStore } from './kernel.ts';
import type { HostLog } from './log/log.ts';
import { logPath, openLog } from './log/open-log.ts';
import { createMachineMonitor } from './runtime/machine.ts';
import { Pulses } from './metrics/pulse.ts';
import { applyDeclared, applyProvision, makeAdministrator } from './provisioning/provisioning.ts';
import type { CapabilityProviders } from './services/capabilities.ts';
import { ReplacedKeys } from './services/replaced-keys.ts';
import { HostLifecycle, HostReadiness } from './services/readiness.ts';
import { getAddresses, getBackupParts, getProblems } from './services/runners.ts';
import { ServiceRunner } from './services/service-runner.ts';
import { startAll } from './services/start-all.ts';
import { createHost, type Host } from './running-host.ts';
import { version } from './runtime/version.ts';
import { exportKeyFile } from './vault/vault.ts';

export interface HostOptions extends DesktopOptions {
  readonly dataDir: string;
  /** All services, in the order of the app. */
  readonly descriptors: readonly ServiceDescriptor[];
  /** Folder of the built pages. */
  readonly pages: string;
  readonly commandLine?: CommandLineSettings;
  /** Starts only the control service, to repair settings. */
  readonly safeMode?: boolean;
  readonly clock?: Clock;
  /** Cancels a start: {@link openHost} closes what it has opened and throws `host.stopped`. */
  readonly signal?: AbortSignal;
  /** Key store of the desktop. */
  readonly keyStore?: KeyStore;
  /** log2 of scrypt's N for new passwords. Smaller values are for tests only, which create hundreds of passwords. */
  readonly passwordCost?: number;
  /**
   * Disposes this host and opens another one with the same options; without it, a restored backup takes effect at the
   * next start.
   */
  readonly restartHost?: () => void;
  /** Writes log lines; default stderr. The log file gets them in any case. */
  readonly logWrite?: (line: string) => void;
}

/**
 * Opens the data folder and its contents in order and starts the services; disposal closes them in reverse. A failing
 * service does not prevent the others from starting. When a restored backup cannot be opened, the previous data is
 * restored.
 * @throws DataFolderTaken; Problems of the data folder, the vault, the database and a file that HOMEPORT_CONFIG
 * names.
 */
export async function openHost(options: HostOptions): Promise<Host> {
  await using opening = new AsyncDisposableStack();
  const lock = opening.use(lockDataFolder(options.dataDir));
  const formerFolder = finishRestore(options.dataDir);
  const host = await openLocked(options, lock).catch(async (error: unknown) => {
    if (formerFolder === undefined || options.signal?.aborted === true) throw error;
    stageFormer(options.dataDir, formerFolder);
    finishRestore(options.dataDir);
    const back = await openLocked(options, lock);
    back.log.error('restored data unusable, previous data reinstated', { error });
    return back;
  });
  const resources = opening.move();
  return {
    ...host,
    async [Symbol.asyncDispose]() {
      await using _last = resources;
      await host[Symbol.asyncDispose]();
    },
  };
}

async function openLocked(options: HostOptions, lock: DataLock): Promise<Host> {
  const { dataDir, descriptors, environment = process.env, clock = systemClock } = options;
  await using opening = new AsyncDisposableStack();
  const log = openLog(opening, { dataDir, environment, write: options.logWrite });
  const runners = new Map<string, ServiceRunner>();
  const started = Promise.withResolvers<void>();
  const lifecycle = new HostLifecycle();
  const kernel = opening.use(await openHostKernel(options, { log, runners, lifecycle, started: started.promise }));
  const { config, accounts, engines, parts } = kernel;
  applyLogSettings(log, config.read().host);
  const safeMode =
    options.safeMode === true || config.problems.some(({ path }) => getServiceSettings(path) === undefined);
  // Runs before the administrator is created, since an import replaces all accounts.
  if (!safeMode) await applyProvision(kernel, descriptors);
  if (!safeMode) await applyDeclared(kernel, log);
  await makeAdministrator(accounts, environment, log.child('accounts'));

  await kernel.hosts.start();
  const desktop = openDesktop(opening, options, kernel);
  const control = createHostControl({
    parts,
    config,
    services: { manifests: descriptors, runners, engines },
    accounts: { firstRun: accounts.firstRun, sessions: accounts, collisions: accounts.collisions },
    safeMode,
    backups: opening.use(openHostBackups(options, kernel, runners)),
    monitoring: openMonitoring(opening, options, kernel, { lifecycle, runners }),
  });
  const powers = createCapabilityProviders(control, desktop, kernel, runners, options.pages);
  for (const runner of createRunners(descriptors, kernel, powers, safeMode)) runners.set(runner.descriptor.id, runner);
  opening.defer(async () => {
    await Promise.all([...runners.values()].map((runner) => runner.close()));
  });
  // Jobs that wait for a receiver would otherwise prevent their services from closing.
  opening.defer(() => started.resolve());
  opening.use(followSettings(kernel, log, runners));
  opening.use(await followReplacedKeys(kernel, runners));
  const pages = opening.use(new AnnouncedPages(lock, parts));
  opening.use(watchEngineInstallations({ bus: parts.messaging.bus, clock, log }, [...runners.values()]));
  await startAll([...runners.values()], clock, options.signal);
  started.resolve();
  lifecycle.isStarted = true;

  pages.announce();
  opening.use(installMissingEngines(kernel, [...runners.values()], safeMode));
  log.info('host is ready', { event: 'host_ready', version, safeMode });
  parts.observation.loop.startTelling();
  opening.use(collectWhenIdle(clock));
  return createHost(kernel, { control, runners, lifecycle, resources: opening.move() });
}

/** Opens the measurements of the host. */
function openMonitoring(
  opening: AsyncDisposableStack,
  { dataDir, descriptors }: HostOptions,
  { database, hosts, parts }: Kernel,
  state: { readonly lifecycle: HostLifecycle; readonly runners: ReadonlyMap<string, ServiceRunner> },
): HostMonitoring {
  const { clock } = parts.runtime;
  const { log, metrics } = parts.observation;
  return {
    logFile: logPath(dataDir),
    pulses: opening.use(new Pulses({ dataDir, manifests: descriptors, metrics, clock, log: log.child('metrics') })),
    machine: createMachineMonitor(dataDir, clock),
    readiness: new HostReadiness({ clock, ...state, queryDatabase: () => sql`select 1`.execute(database.kysely) }),
    hosts,
  };
}

/** Opens the kernel, whose addresses are those of the running services. */
function openHostKernel(
  options: HostOptions,
  {
    log,
    runners,
    lifecycle,
    started,
  }: {
    readonly log: HostLog;
    readonly runners: ReadonlyMap<string, ServiceRunner>;
    readonly lifecycle: Readonly<HostLifecycle>;
    readonly started: Promise<void>;
  },
): Promise<Kernel> {
  const { keyStore, passwordCost } = options;
  return openKernel({
    dataDir: options.dataDir,
    descriptors: options.descriptors,
    environment: options.environment ?? process.env,
    commandLine: options.commandLine ?? {},
    clock: options.clock ?? systemClock,
    log,
    address: (id, listener) => runners.get(id)?.address(listener),
    addresses: () => Object.values(getAddresses(runners)),
    isDraining: () => lifecycle.isDraining,
    getProblems: () => getProblems(runners),
    started,
    installsEngines: options.safeMode !== true,
    isAfterCrash: takeCrashMark(options.dataDir),
    ...(keyStore === undefined ? {} : { keyStore }),
    ...(passwordCost === undefined ? {} : { passwordCost }),
  });
}

function applyLogSettings(log: HostLog, { logLevel, logFormat }: HostSettings): void {
  log.level = logLevel;
  log.format = logFormat;
}

function openHostBackups(
  { dataDir, keyStore, restartHost }: HostOptions,
  { config, parts }: Kernel,
  runners: ReadonlyMap<string, ServiceRunner>,
): BackupStore & AsyncDisposable {
  return openBackups({
    dataDir,
    settings: () => config.read().host,
    clock: parts.runtime.clock,
    log: parts.observation.log.child('backup'),
    vaultKey: { keyFile: () => exportKeyFile(parts.identities.vault), keyWrapping: keyStore?.wrapping },
    parts: () => getBackupParts(runners),
    onScheduled: (name) =>
      parts.observation.security.record({ event: 'backup_created', detail: `${name}, by schedule` }),
    restartHost: () => restartHost?.(),
  });
}

/** Creates the runners of all services; in safe mode, only that of the control service. */
function createRunners(
  descriptors: readonly ServiceDescriptor[],
  { config, parts }: Kernel,
  powers: CapabilityProviders,
  safeMode: boolean,
): readonly ServiceRunner[] {
  return descriptors.flatMap((descriptor) => {
    const settings = config.read().services[descriptor.id];
    if (settings === undefined || (safeMode && descriptor.capabilities?.includes('controlHost') !== true)) return [];
    const problems = config.getProblems(descriptor.id);
    return [new ServiceRunner(descriptor, parts, { settings, problems, powers })];
  });
}

function followReplacedKeys(
  { database, parts }: Kernel,
  runners: ReadonlyMap<string, ServiceRunner>,
): Promise<ReplacedKeys> {
  const { messaging, observation, runtime } = parts;
  const log = observation.log.child('services');
  return ReplacedKeys.follow({ database, bus: messaging.bus, clock: runtime.clock, log, runners });
}

/** Applies changed settings of the host to the log, the declared accounts and the guards of the services. */
function followSettings(kernel: Kernel, log: HostLog, runners: ReadonlyMap<string, ServiceRunner>): Disposable {
  return kernel.config.onChange(({ host }, { sections }) => {
    applyLogSettings(log, host);
    if (sections.includes('host'))
      void applyDeclared(kernel, log).catch((error: unknown) =>
        log.error('declared accounts creation failed', { error }),
      );
    for (const runner of runners.values()) runner.renewGuard();
    kernel.parts.messaging.bus.publish(settingsChanged, { sections: [...sections] });
  });
}

/** Installs missing engines of enabled services in the background, unless the settings or the safe mode forbid it. */
function installMissingEngines(
  { config, engines, parts }: Kernel,
  runners: readonly ServiceRunner[],
  safeMode: boolean,
): Disposable {
  const { bus } = parts.messaging;
  const log = parts.observation.log.child('engines');
  const isAllowed = (): boolean => config.read().host.installEngines && !safeMode;
  return installEnginesOfServices({ bus, engines, log, isAllowed }, runners);
}
