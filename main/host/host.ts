import type { Bus } from '../../services/contracts/bus.ts';
import { serviceChanged, settingsChanged } from '../../services/contracts/control/api.ts';
import { computerResumed } from '../../services/contracts/control/machine.ts';
import type { HostControl } from '../../services/contracts/control/host.ts';
import type { Desktop, Notifier } from '../../services/contracts/popups/desktop.ts';
import type { Clock, Log, ServiceDescriptor } from '../../services/contracts/service.ts';
import { openBackups } from './backup/store.ts';
import { finishRestore, stageFormer } from './backup/restore.ts';
import { systemClock } from './runtime/clock.ts';
import type { CommandLineSettings } from './config/layers.ts';
import { settingsSentence } from './config/reason.ts';
import { serviceOf } from './config/settings.ts';
import { lockDataFolder, type DataLock } from './runtime/data-lock.ts';
import { followEngines } from './services/follow-engines.ts';
import { collectWhenIdle } from './runtime/idle-gc.ts';
import { createHostControl } from './host-control.ts';
import { remoteAddress } from './http/access.ts';
import { openKernel, type KeyStore } from './kernel.ts';
import { logPath, openLog } from './log/open-log.ts';
import { machineWatch } from './runtime/machine.ts';
import { Pulses } from './metrics/pulse.ts';
import { openInBrowser } from './runtime/open-browser.ts';
import { desktopNotifier } from './desktop/desktop-notifier.ts';
import { applyDeclared, applyProvision, makeAdministrator } from './config/provisioning.ts';
import type { Powers } from './services/capabilities.ts';
import { addressesOf, failuresOf, ownParts, portsOf, takerOf } from './services/runners.ts';
import { timeToStop } from './services/service-run.ts';
import { ServiceRunner } from './services/service-runner.ts';
import { startAll } from './services/start-all.ts';
import { version } from './runtime/version.ts';

export interface HostOptions {
  readonly dataDir: string;
  /** All services, in the order of the app. */
  readonly descriptors: readonly ServiceDescriptor[];
  /** Folder of the built pages. */
  readonly pages: string;
  readonly environment?: NodeJS.ProcessEnv;
  readonly commandLine?: CommandLineSettings;
  /** Start with the control service alone, to repair settings. */
  readonly safeMode?: boolean;
  readonly clock?: Clock;
  /** Gives up a start that is under way: {@link openHost} then closes what it has opened and throws `host.stopped`. */
  readonly signal?: AbortSignal;
  /** Shows native popups; default that of the desktop, where there is one. */
  readonly notifier?: Notifier;
  /** Opens an http or https address that a popup leads to, the app's own pages included; default in the browser. */
  readonly openAddress?: (url: string) => void;
  /** The desktop's key store. */
  readonly keyStore?: KeyStore;
  /** log2 of scrypt's N for new passwords. Less than the default is for tests alone: they make hundreds. */
  readonly passwordCost?: number;
  /** Ends this host and opens another with the same options; without it a restored backup waits for the next start. */
  readonly startAnew?: () => void;
  /** Takes the log's lines; default stderr. The file in the data folder gets them in any case. */
  readonly logWrite?: (line: string) => void;
}

/** The session of the app's own window, until it is ended. */
export interface WindowSession {
  /** Its pages send it. */
  readonly secret: string;
  end(): Promise<void>;
}

/** The running app without a window: all services on their ports. */
export interface Host extends AsyncDisposable {
  /**
   * Base addresses of all listeners that are open: the main ones by service id, the others as `git.ssh`. One of a service
   * that is still starting answers 503 until it has.
   */
  addresses(): Readonly<Record<string, string>>;
  /** The services that take long to start and are still at it. */
  starting(): readonly string[];
  /** Why what does not run does not, by service id; a listener that could not open while its service runs as `git.ssh`. */
  failures(): Readonly<Record<string, string>>;
  readonly safeMode: boolean;
  /** What the control service may do, for the desktop shell in the same process. */
  readonly control: HostControl;
  /** What happens, as the services tell it. */
  readonly bus: Bus;
  /** The machine was asleep: looks at the clock and asks every service how it is. */
  resumed(): Promise<void>;
  /** Whether the settings want the page opened in the browser after a start. */
  readonly opensBrowser: boolean;
  /**
   * What is wrong in the settings, one sentence each: in safe mode all of it, else what is not the reason of a service
   * that does not run.
   */
  readonly configProblems: readonly string[];
  /** Signs in the app's own window, as accounts' sessions have it; undefined where its person signs in by password. */
  signInWindow(): Promise<WindowSession | undefined>;
  /** The one-time link that makes the first administrator, undefined once there is one. */
  setupUrl(): Promise<string | undefined>;
  /** How long stopping may take, as the settings say now and the services need. */
  stopTimeoutMs(): number;
  /** Services that did not let go when they were stopped: what is left of them goes on until the process ends. */
  leftBehind(): readonly string[];
  readonly log: Log;
}

/**
 * Opens the data folder and everything in it, in order, and starts the services; disposal closes in reverse. A service
 * that fails does not keep the others from starting. Where a restored backup cannot be opened, what was there before is.
 * @throws DataFolderTaken; Problems of the data folder, the vault, the database and a file that HOMEPORT_CONFIG names.
 */
export async function openHost(options: HostOptions): Promise<Host> {
  await using opening = new AsyncDisposableStack();
  const lock = opening.use(lockDataFolder(options.dataDir));
  const former = finishRestore(options.dataDir);
  const host = await openLocked(options, lock).catch(async (error: unknown) => {
    if (former === undefined || options.signal?.aborted === true) throw error;
    stageFormer(options.dataDir, former);
    finishRestore(options.dataDir);
    const back = await openLocked(options, lock);
    back.log.error('what was restored cannot be opened; what was there before is back', { error });
    return back;
  });
  const held = opening.move();
  return {
    ...host,
    async [Symbol.asyncDispose]() {
      await using _last = held;
      await host[Symbol.asyncDispose]();
    },
  };
}

async function openLocked(options: HostOptions, lock: DataLock): Promise<Host> {
  const { dataDir, descriptors, environment = process.env, clock = systemClock } = options;
  await using opening = new AsyncDisposableStack();
  const log = openLog(opening, { dataDir, environment, write: options.logWrite });

  const runners = new Map<string, ServiceRunner>();
  const address = (id: string, listener?: string): string | undefined => runners.get(id)?.address(listener);
  const started = Promise.withResolvers<void>();
  const commandLine = options.commandLine ?? {};
  const kernel = opening.use(
    await openKernel({
      dataDir,
      descriptors,
      environment,
      commandLine,
      clock,
      log,
      address,
      addresses: () => Object.values(addressesOf(runners)),
      started: started.promise,
      installsEngines: options.safeMode !== true,
      ...(options.keyStore === undefined ? {} : { keyStore: options.keyStore }),
      ...(options.passwordCost === undefined ? {} : { passwordCost: options.passwordCost }),
    }),
  );
  const { config, accounts, engines, parts } = kernel;
  log.level = config.read().host.logLevel;
  log.format = config.read().host.logFormat;
  const safeMode = options.safeMode === true || config.problems.some(({ path }) => serviceOf(path) === undefined);
  // Before the administrator: an import replaces all accounts.
  if (!safeMode) await applyProvision(kernel, descriptors);
  if (!safeMode) await applyDeclared(kernel, log);
  await makeAdministrator(accounts, environment, log.child('accounts'));

  const openAddress = options.openAddress ?? ((url: string) => openInBrowser(url, environment, process.platform));
  const desktopLog = log.child('popups');
  const notifier = opening.use(
    options.notifier ?? desktopNotifier({ environment, platform: process.platform, log: desktopLog }),
  );
  const desktop: Desktop = {
    notifier,
    openPage(path) {
      const base = address('control');
      if (base !== undefined) openAddress(`${base}${path}`);
    },
    openLink(url) {
      const path = kernel.parts.appPages.pathOf(url);
      if (path === undefined) openAddress(url);
      else desktop.openPage(path);
    },
  };

  const backups = opening.use(
    openBackups({
      dataDir,
      settings: () => config.read().host,
      clock,
      log: log.child('backup'),
      parts: () => ownParts(runners),
      onScheduled: (name) => parts.security.record({ event: 'backup_created', detail: `${name}, by schedule` }),
      startAnew: () => options.startAnew?.(),
    }),
  );
  const pulses = opening.use(
    new Pulses({ dataDir, manifests: descriptors, metrics: parts.metrics, clock, log: log.child('metrics') }),
  );
  const control = createHostControl({
    parts,
    config,
    manifests: descriptors,
    runners,
    engines,
    firstRun: accounts.firstRun,
    sessions: accounts,
    collisions: accounts.collisions,
    safeMode,
    pages: options.pages,
    backups,
    logFile: logPath(dataDir),
    pulses,
    machine: machineWatch(dataDir, clock),
  });
  const powers: Powers = {
    host: control,
    desktop,
    dispatched: (id, hosts) => runners.get(id)?.dispatched(hosts),
    targets: () => [...runners.values()].flatMap(({ target }) => target ?? []),
    ports: () => portsOf(runners),
    taker: (id) => takerOf(runners, id),
    isFromTrustedProxy: (request) => parts.trusts(remoteAddress(request)),
    shareAddresses: (shared) => parts.appPages.share(shared),
    openSession: (account, from) => accounts.openSession(account, from),
  };
  for (const descriptor of descriptors) {
    const settings = config.read().services[descriptor.id];
    if (settings === undefined || (safeMode && descriptor.capabilities?.includes('controlHost') !== true)) continue;
    runners.set(
      descriptor.id,
      new ServiceRunner(descriptor, parts, {
        settings,
        problems: config.problemsOf(descriptor.id),
        powers,
      }),
    );
  }
  opening.defer(async () => {
    await Promise.all([...runners.values()].map((runner) => runner.close()));
  });
  // Jobs that wait for a receiver would keep their services from closing.
  opening.defer(() => started.resolve());
  opening.use(
    config.onChange(({ host }, { sections }) => {
      log.level = host.logLevel;
      log.format = host.logFormat;
      if (sections.includes('host'))
        void applyDeclared(kernel, log).catch((error: unknown) =>
          log.error('declared accounts could not be made', { error }),
        );
      for (const runner of runners.values()) runner.renewGuard();
      parts.bus.publish(settingsChanged, { sections: [...sections] });
    }),
  );
  // Wherever the page moves to later, a second start finds it.
  opening.use(
    parts.bus.subscribe(serviceChanged, ({ id, address: page }) => {
      if (id === 'control' && page !== null) lock.announce(page);
    }),
  );
  opening.use(followEngines({ bus: parts.bus, clock, log }, [...runners.values()]));
  await startAll([...runners.values()], clock, options.signal);
  started.resolve();

  const page = address('control');
  if (page !== undefined) lock.announce(page);
  void engines.installMissing(config.read().host.installEngines && !safeMode);
  log.info('host is ready', { version, safeMode });
  parts.loop.startTelling();
  opening.use(collectWhenIdle(clock));

  const resources = opening.move();
  return {
    safeMode,
    control,
    bus: parts.bus,
    async resumed() {
      parts.bus.publish(computerResumed, {});
      await control.services();
    },
    opensBrowser: config.read().host.openBrowser,
    configProblems: config.problems
      .filter(({ path }) => safeMode || runners.get(serviceOf(path) ?? '')?.state.state !== 'failed')
      .map(settingsSentence),
    addresses: () => addressesOf(runners),
    starting: () => [...runners].filter(([, runner]) => runner.state.state === 'starting').map(([id]) => id),
    failures: () => failuresOf(runners),
    async signInWindow() {
      return accounts.signInHere({ remoteAddress: '127.0.0.1', userAgent: 'Homeport window' });
    },
    async setupUrl() {
      const base = address('control');
      if (base === undefined || !accounts.firstRun.needed()) return undefined;
      return `${base}/setup?code=${await accounts.firstRun.code()}`;
    },
    stopTimeoutMs: () =>
      Math.max(1000, ...[...runners.values()].map(({ descriptor }) => timeToStop(descriptor, parts))),
    leftBehind: () => [...runners].filter(([, runner]) => runner.isLeftBehind).map(([id]) => id),
    log,
    async [Symbol.asyncDispose]() {
      log.info('host is stopping');
      await resources.disposeAsync();
    },
  };
}
