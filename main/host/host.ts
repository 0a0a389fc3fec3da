import { currentPlatform } from '../../services/kit/platform/current-platform.ts';
import type { Bus } from '../../services/contracts/bus.ts';
import { serviceChanged, settingsChanged } from '../../services/contracts/control/api.ts';
import { computerResumed } from '../../services/contracts/control/machine.ts';
import type { BackupStore } from '../../services/contracts/control/backups.ts';
import type { HostControl } from '../../services/contracts/control/host.ts';
import type { Desktop, Notifier } from '../../services/contracts/popups/desktop.ts';
import type { Clock, Log, ServiceDescriptor } from '../../services/contracts/service.ts';
import { openBackups } from './backup/store.ts';
import { finishRestore, stageFormer } from './backup/restore.ts';
import { systemClock } from './runtime/clock.ts';
import { takeCrashMark } from './runtime/crash-marker.ts';
import type { CommandLineSettings } from './config/layers.ts';
import { formatSettingsProblem } from './config/reason.ts';
import type { HostSettings } from './config/host-settings.ts';
import { getServiceSettings } from './config/settings.ts';
import { lockDataFolder, type DataLock } from './runtime/data-lock.ts';
import { installEnginesOfServices, watchEngineInstallations } from './services/follow-engines.ts';
import { collectWhenIdle } from './runtime/idle-gc.ts';
import { createHostControl } from './host-control.ts';
import { createApiRouter } from './http/api-router.ts';
import { createStaticPages } from './http/static-pages.ts';
import { getRemoteAddress } from './http/access.ts';
import { openKernel, type Kernel, type KeyStore } from './kernel.ts';
import type { HostLog } from './log/log.ts';
import { logPath, openLog } from './log/open-log.ts';
import { createMachineMonitor } from './runtime/machine.ts';
import { Pulses } from './metrics/pulse.ts';
import { openInBrowser } from './platform/open-browser.ts';
import { desktopNotifier } from './desktop/desktop-notifier.ts';
import { applyDeclared, applyProvision, makeAdministrator } from './provisioning/provisioning.ts';
import type { CapabilityProviders } from './services/capabilities.ts';
import {
  loadServiceFor,
  getAddresses,
  getFailures,
  getBackupParts,
  getPortTargets,
  findConnectionHandler,
} from './services/runners.ts';
import { getStopTimeout } from './services/service-run.ts';
import { ServiceRunner } from './services/service-runner.ts';
import { startAll } from './services/start-all.ts';
import { version } from './runtime/version.ts';
import { exportKeyFile } from './vault/vault.ts';

export interface HostOptions {
  readonly dataDir: string;
  /** All services, in the order of the app. */
  readonly descriptors: readonly ServiceDescriptor[];
  /** Folder of the built pages. */
  readonly pages: string;
  readonly environment?: NodeJS.ProcessEnv;
  readonly commandLine?: CommandLineSettings;
  /** Starts only the control service, to repair settings. */
  readonly safeMode?: boolean;
  readonly clock?: Clock;
  /** Cancels a start: {@link openHost} closes what it has opened and throws `host.stopped`. */
  readonly signal?: AbortSignal;
  /** Shows native popups; default: those of the desktop, if any. */
  readonly notifier?: Notifier;
  /** Opens a linked http or https address, including the app's own pages; default: in the browser. */
  readonly openAddress?: (url: string) => void;
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

/** Session of the app's own window. */
export interface WindowSession {
  /** Session secret that the window's pages send. */
  readonly secret: string;
  end(): Promise<void>;
}

/** Running host without a window, with all services on their ports. */
export interface Host extends AsyncDisposable {
  /**
   * Base addresses of all open listeners: main listeners by service id, others as `git.ssh`. Listeners of a starting
   * service answer 503.
   */
  addresses(): Readonly<Record<string, string>>;
  /** Services that are still starting after the time limit. */
  starting(): readonly string[];
  /** Failure reasons of services by id; of a closed listener of a running service as `git.ssh`. */
  failures(): Readonly<Record<string, string>>;
  readonly safeMode: boolean;
  /** Control over the host, for the desktop shell in the same process. */
  readonly control: HostControl;
  readonly bus: Bus;
  /** Handles the resume of the computer: checks timers and the health of all services. */
  resumed(): Promise<void>;
  /** True when the settings open the page in the browser after a start. */
  readonly opensBrowser: boolean;
  /**
   * Errors in the settings, one sentence each: in safe mode all of them, else those that do not already explain a
   * stopped service.
   */
  readonly configProblems: readonly string[];
  /** Signs in the app's own window; undefined when its user signs in by password. */
  signInWindow(): Promise<WindowSession | undefined>;
  /** Returns the one-time link for creating the first administrator; undefined once there is one. */
  setupUrl(): Promise<string | undefined>;
  /** Returns the time limit for stopping, from the current settings and the services. */
  stopTimeoutMs(): number;
  /** Services that did not stop in time; their work continues until the process ends. */
  getLeftBehind(): readonly string[];
  readonly log: Log;
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
  const kernel = opening.use(await openHostKernel(options, log, runners, started.promise));
  const { config, accounts, engines, parts } = kernel;
  applyLogSettings(log, config.read().host);
  const safeMode =
    options.safeMode === true || config.problems.some(({ path }) => getServiceSettings(path) === undefined);
  // Runs before the administrator is created, since an import replaces all accounts.
  if (!safeMode) await applyProvision(kernel, descriptors);
  if (!safeMode) await applyDeclared(kernel, log);
  await makeAdministrator(accounts, environment, log.child('accounts'));

  const desktop = openDesktop(opening, options, kernel);
  const control = createHostControl({
    parts,
    config,
    services: { manifests: descriptors, runners, engines },
    accounts: { firstRun: accounts.firstRun, sessions: accounts, collisions: accounts.collisions },
    safeMode,
    backups: opening.use(openHostBackups(options, kernel, runners)),
    monitoring: {
      logFile: logPath(dataDir),
      pulses: opening.use(
        new Pulses({
          dataDir,
          manifests: descriptors,
          metrics: parts.observation.metrics,
          clock,
          log: log.child('metrics'),
        }),
      ),
      machine: createMachineMonitor(dataDir, clock),
    },
  });
  const powers = createCapabilityProviders(control, desktop, kernel, runners, options.pages);
  for (const runner of createRunners(descriptors, kernel, powers, safeMode)) runners.set(runner.descriptor.id, runner);
  opening.defer(async () => {
    await Promise.all([...runners.values()].map((runner) => runner.close()));
  });
  // Jobs that wait for a receiver would otherwise prevent their services from closing.
  opening.defer(() => started.resolve());
  opening.use(followSettings(kernel, log, runners));
  // A second start finds the page even when its port changes later.
  opening.use(
    parts.messaging.bus.subscribe(serviceChanged, ({ id, address }) => {
      if (id === 'control' && address !== null) lock.announce(address);
    }),
  );
  opening.use(watchEngineInstallations({ bus: parts.messaging.bus, clock, log }, [...runners.values()]));
  await startAll([...runners.values()], clock, options.signal);
  started.resolve();

  const page = parts.addresses.address('control');
  if (page !== undefined) lock.announce(page);
  opening.use(installMissingEngines(kernel, [...runners.values()], safeMode));
  log.info('host is ready', { event: 'host_ready', version, safeMode });
  parts.observation.loop.startTelling();
  opening.use(collectWhenIdle(clock));
  return createHost(kernel, control, runners, opening.move());
}

/** Opens the kernel, whose addresses are those of the running services. */
function openHostKernel(
  options: HostOptions,
  log: HostLog,
  runners: ReadonlyMap<string, ServiceRunner>,
  started: Promise<void>,
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

/** Opens the popups and links of the computer that the host runs on. */
function openDesktop(
  opening: AsyncDisposableStack,
  { environment = process.env, notifier, openAddress }: HostOptions,
  { parts }: Kernel,
): Desktop {
  const platform = currentPlatform;
  const open = openAddress ?? ((url: string) => openInBrowser(url, environment, platform));
  const desktop: Desktop = {
    notifier: opening.use(
      notifier ?? desktopNotifier({ environment, platform, log: parts.observation.log.child('popups') }),
    ),
    openPage(path) {
      const base = parts.addresses.address('control');
      if (base !== undefined) open(`${base}${path}`);
    },
    openLink(url) {
      const path = parts.addresses.appPages.findPath(url);
      if (path === undefined) open(url);
      else desktop.openPage(path);
    },
  };
  return desktop;
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

/** Creates the functions of the host for services that declare a capability. */
function createCapabilityProviders(
  host: HostControl,
  desktop: Desktop,
  { accounts, parts }: Kernel,
  runners: ReadonlyMap<string, ServiceRunner>,
  pages: string,
): CapabilityProviders {
  return {
    host,
    app: {
      handleApi: createApiRouter({
        handlers: () => host.apiHandlers(),
        load: (path) => loadServiceFor(runners, path),
        accounts: parts.identities.accounts,
        caller: parts.origins.caller,
        log: parts.observation.log.child('api'),
      }),
      handlePage: createStaticPages({ folder: pages }),
    },
    desktop,
    dispatch: {
      dispatched: (id, hosts) => runners.get(id)?.dispatched(hosts),
      targets: () => [...runners.values()].flatMap(({ target }) => target ?? []),
      ports: () => getPortTargets(runners),
      getConnectionHandler: (id) => findConnectionHandler(runners, id),
      isFromTrustedProxy: (request) => parts.origins.trusts(getRemoteAddress(request)),
      shareAddresses: (shared) => parts.addresses.appPages.share(shared),
      openSession: (account, from) => accounts.openSession(account, { ...from, byPassword: false }),
    },
  };
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

/** Creates the interface of the running host; disposal closes its resources. */
function createHost(
  { config, accounts, parts }: Kernel,
  control: HostControl,
  runners: ReadonlyMap<string, ServiceRunner>,
  resources: AsyncDisposableStack,
): Host {
  const { log } = parts.observation;
  const { safeMode } = control;
  return {
    safeMode,
    control,
    bus: parts.messaging.bus,
    async resumed() {
      parts.messaging.bus.publish(computerResumed, {});
      await control.services();
    },
    opensBrowser: config.read().host.openBrowser,
    configProblems: config.problems
      .filter(({ path }) => safeMode || runners.get(getServiceSettings(path) ?? '')?.state.state !== 'failed')
      .map(formatSettingsProblem),
    addresses: () => getAddresses(runners),
    starting: () => [...runners].filter(([, runner]) => runner.state.state === 'starting').map(([id]) => id),
    failures: () => getFailures(runners),
    async signInWindow() {
      return accounts.signInHere({ remoteAddress: '127.0.0.1', userAgent: 'Homeport window' });
    },
    async setupUrl() {
      const base = parts.addresses.address('control');
      if (base === undefined || !accounts.firstRun.needed()) return undefined;
      return `${base}/setup?code=${await accounts.firstRun.code()}`;
    },
    stopTimeoutMs: () =>
      Math.max(1000, ...[...runners.values()].map(({ descriptor }) => getStopTimeout(descriptor, parts.runtime))),
    getLeftBehind: () => [...runners].filter(([, runner]) => runner.isLeftBehind).map(([id]) => id),
    log,
    async [Symbol.asyncDispose]() {
      log.info('host is stopping');
      await resources.disposeAsync();
    },
  };
}
