import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { settingsChanged } from '../../services/contracts/control.ts';
import { Problem } from '../../services/contracts/problem.ts';
import type { Clock, ServiceDescriptor } from '../../services/contracts/service.ts';
import type { HostAccounts } from './accounts/accounts.ts';
import { finishRestore } from './backup/restore.ts';
import { systemClock } from './clock.ts';
import type { CommandLineSettings } from './config/layers.ts';
import { lockDataFolder } from './data-lock.ts';
import type { EngineShelf } from './engines/engines.ts';
import { createHostControl } from './host-control.ts';
import { openKernel } from './kernel.ts';
import { createLog, type HostLog, type LogLevel } from './log.ts';
import { logFile } from './log/file.ts';
import { importPortable } from './portable.ts';
import { ServiceRunner } from './service-runner.ts';
import { version } from './version.ts';

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
  /** Takes the log's lines; default stderr. The file in the data folder gets them in any case. */
  readonly logWrite?: (line: string) => void;
}

/** The running app without a window: all services on their ports. */
export interface Host extends AsyncDisposable {
  /** Base address by service id, of the listeners that answer. */
  addresses(): Readonly<Record<string, string>>;
  /** Why what was not started was not, by service id. */
  failures(): Readonly<Record<string, string>>;
  readonly safeMode: boolean;
  /** Whether the settings want the page opened in the browser after a start. */
  readonly opensBrowser: boolean;
  /** What is wrong in the settings, one sentence each; not empty: that is why the host is in safe mode. */
  readonly configProblems: readonly string[];
  /** The one-time link that makes the first administrator, undefined once there is one. */
  setupUrl(): Promise<string | undefined>;
}

/**
 * Opens the data folder and everything in it, in order, and starts the services; disposal closes in reverse. A service
 * that fails does not keep the others from starting.
 * @throws DataFolderTaken; Problems of the vault, the database and a file that HOMEPORT_CONFIG names.
 */
export async function openHost(options: HostOptions): Promise<Host> {
  const { dataDir, descriptors, environment = process.env, clock = systemClock } = options;
  await using opening = new AsyncDisposableStack();
  const lock = opening.use(lockDataFolder(dataDir));
  finishRestore(dataDir);
  const log = openLog(opening, options, environment);

  const runners = new Map<string, ServiceRunner>();
  const address = (id: string): string | undefined => runners.get(id)?.address;
  const started = Promise.withResolvers<void>();
  const commandLine = options.commandLine ?? {};
  const kernel = opening.use(
    await openKernel({ dataDir, descriptors, environment, commandLine, clock, log, address, started: started.promise }),
  );
  const { config, accounts, engines, parts } = kernel;
  log.level = config.read().host.logLevel;
  const safeMode = options.safeMode === true || config.problems.length > 0;
  await makeAdministrator(accounts, environment);

  const control = createHostControl({
    parts,
    config,
    runners,
    engines,
    firstRun: accounts.firstRun,
    safeMode,
    pages: options.pages,
  });
  for (const descriptor of descriptors) {
    const settings = config.read().services[descriptor.id];
    if (settings === undefined || (safeMode && descriptor.controlsHost !== true)) continue;
    runners.set(
      descriptor.id,
      new ServiceRunner(descriptor, parts, settings, descriptor.controlsHost ? control : undefined),
    );
  }
  opening.defer(async () => {
    await Promise.all([...runners.values()].map((runner) => runner.stop()));
  });
  opening.use(
    config.onChange(({ host }, { sections }) => {
      log.level = host.logLevel;
      for (const runner of runners.values()) runner.renewGuard();
      parts.bus.publish(settingsChanged, { sections: [...sections] });
    }),
  );
  await Promise.all([...runners.values()].map((runner) => runner.start()));
  started.resolve();

  if (config.provision !== undefined && !safeMode) {
    await importPortable(config.provision.portable, { accounts, runners });
    await config.provision.done();
  }
  const page = address('control');
  if (page !== undefined) lock.announce(page);
  if (config.read().host.installEngines && !safeMode) void installMissing(engines, log);
  log.info('host is ready', { version, safeMode });

  const resources = opening.move();
  return {
    safeMode,
    opensBrowser: config.read().host.openBrowser,
    configProblems: config.problems.map(({ path, message, line }) =>
      [path, line === undefined ? '' : `line ${line}`, message].filter((part) => part !== '').join(': '),
    ),
    addresses: () => pick(runners, (runner) => runner.address),
    failures: () => pick(runners, ({ state }) => (state.state === 'failed' ? (state.reason ?? '') : undefined)),
    async setupUrl() {
      const base = address('control');
      if (base === undefined || !accounts.firstRun.needed()) return undefined;
      return `${base}/setup?code=${await accounts.firstRun.code()}`;
    },
    async [Symbol.asyncDispose]() {
      log.info('host is stopping');
      await resources.disposeAsync();
    },
  };
}

function openLog(opening: AsyncDisposableStack, options: HostOptions, environment: NodeJS.ProcessEnv): HostLog {
  const folder = join(options.dataDir, 'logs');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = opening.use(logFile(join(folder, 'homeport.log')));
  const write = options.logWrite ?? ((line: string) => void process.stderr.write(`${line}\n`));
  const levels: readonly string[] = ['debug', 'info', 'warn', 'error'] satisfies LogLevel[];
  const wanted = environment['LOG_LEVEL']?.toLowerCase() ?? '';
  return createLog({
    // The settings are not read yet; whatever is wrong with them must be seen.
    level: levels.includes(wanted) ? (wanted as LogLevel) : 'info',
    format: environment['LOG_FORMAT'] === 'json' ? 'json' : 'text',
    write(line) {
      write(line);
      file.write(line);
    },
  });
}

/** HOMEPORT_ADMIN_USER and HOMEPORT_ADMIN_PASSWORD: a server gets its first administrator without a page. */
async function makeAdministrator(accounts: HostAccounts, environment: NodeJS.ProcessEnv): Promise<void> {
  const name = environment['HOMEPORT_ADMIN_USER'];
  const password = environment['HOMEPORT_ADMIN_PASSWORD'];
  if (name === undefined && password === undefined) return;
  if (!name || !password) {
    throw new Problem(
      'host.administrator',
      422,
      'Set both HOMEPORT_ADMIN_USER and HOMEPORT_ADMIN_PASSWORD, or neither.',
    );
  }
  await accounts.firstRun.ensureAdministrator(name, password);
}

/** After the start, so that a slow or absent network does not hold it up; the Home page shows what is missing meanwhile. */
async function installMissing(engines: EngineShelf, log: HostLog): Promise<void> {
  for (const name of ['yt-dlp', 'ffmpeg'] as const) {
    try {
      if ((await engines.find(name)).path === null) await engines.install(name);
    } catch (error) {
      log.warn('engine could not be installed', { engine: name, error });
    }
  }
}

function pick(
  runners: ReadonlyMap<string, ServiceRunner>,
  value: (runner: ServiceRunner) => string | undefined,
): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [id, runner] of runners) {
    const text = value(runner);
    if (text !== undefined) found[id] = text;
  }
  return found;
}
