import * as m from '#messages/command-line';
import { join } from 'node:path';
import { currentPlatform } from '../services/kit/platform/current-platform.ts';
import { serviceStatusChanged, type ServiceStatus } from '../services/contracts/control/service-status.ts';
import { readText } from '../services/contracts/text.ts';
import { keepLanguage, runInEnglish, runInLanguage } from '../services/kit/language.ts';
import { formatList } from '../messages/format.ts';
import { getCommandLanguage } from './host/cli/language.ts';
import { Problem } from '../services/contracts/problem.ts';
import { chooseDesktopShell, runDesktopShell } from './desktop/choice.ts';
import { getDataDir } from './host/platform/data-folder.ts';
import { helpText, parseCommandLine } from './host/cli/command-line.ts';
import { runCommand } from './host/cli/commands.ts';
import { DataFolderTaken } from './host/runtime/data-lock.ts';
import { openHost } from './host/host.ts';
import type { Host } from './host/running-host.ts';
import { markCrash } from './host/runtime/crash-marker.ts';
import { openInBrowser } from './host/platform/open-browser.ts';
import { registry } from './host/services/registry.ts';
import { version } from './host/runtime/version.ts';
import { watchNpm } from './npm-parent.ts';
import { restartProcess, waitForPredecessor } from './restart-process.ts';
import { stopOnSignals } from './stop-signals.ts';

/**
 * Runs the host without a window, or executes one command. Sets the exit code; throws nothing.
 *
 * @param root Folder of the program, which contains `dist/renderer`.
 */
export async function main(argv: readonly string[], root: string): Promise<void> {
  await runInLanguage(getCommandLanguage(process.env, currentPlatform), () => runCommandLine(argv, root));
}

async function runCommandLine(argv: readonly string[], root: string): Promise<void> {
  const command = parseCommandLine(argv, registry);
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // The reader of the output may disconnect; the services continue. A command whose output was truncated by a
      // full disk has failed.
      if (error.code !== 'EPIPE' && command.name !== 'start') process.exitCode = 1;
    });
  }
  try {
    if (command.name === 'help') process.stdout.write(helpText(registry));
    else if (command.name === 'version') process.stdout.write(`${version}\n`);
    else if (command.name === 'invalid') {
      process.stderr.write(`${command.message}\n`);
      process.exitCode = command.exitCode;
    } else {
      const dataDir = getDataDir(command.dataDir, process.env, currentPlatform);
      if (command.name === 'start') await startDesktopOrHost(argv, { ...command, dataDir, root });
      else await runCommand(command, { dataDir, descriptors: registry });
    }
  } catch (error) {
    process.exitCode = 1;
    if (error instanceof Problem) process.stderr.write(`${error.detail}\n`);
    else console.error(error);
  }
}

interface StartOptions {
  readonly dataDir: string;
  /** Folder of the program. */
  readonly root: string;
  readonly headless: boolean;
  readonly port: number | undefined;
  readonly safeMode: boolean;
}

/**
 * Starts the desktop app if there are a desktop and Electron's program, else the host in this process, with one line
 * on the reason.
 */
async function startDesktopOrHost(argv: readonly string[], options: StartOptions): Promise<void> {
  if (options.headless) return start(options, m.headlessRequested());
  const shell = chooseDesktopShell({
    root: options.root,
    environment: process.env,
    platform: currentPlatform,
    user: process.getuid?.(),
  });
  if ('missing' in shell) return start(options, shell.missing);
  print(m.desktopStarted());
  process.exitCode = await runDesktopShell(shell, argv);
}

/** `why`: sentence that says why there is no window. */
async function start(options: StartOptions, why: string): Promise<void> {
  await waitForPredecessor();
  const stopping = stopOnSignals();
  watchNpm(() => stopping.requestStop());
  const inCommandLanguage = keepLanguage();
  // The host outlives the command: its texts are in the language of each reader.
  const open = (): Promise<Host> =>
    runInEnglish(() =>
      openHost({
        dataDir: options.dataDir,
        descriptors: registry,
        pages: join(options.root, 'dist', 'renderer'),
        safeMode: options.safeMode,
        commandLine: options.port === undefined ? {} : { port: options.port },
        signal: stopping.signal,
        restartHost: () => inCommandLanguage(restartHost),
      }),
    );
  /** Sequential, since a page can request it while the host is still opening. */
  const restartHost = (): void => {
    const before = opening;
    opening = (async () => {
      try {
        const old = await before;
        // Stopping closes it.
        if (stopping.signal.aborted) return old;
        stopping.stops(undefined);
        await old?.[Symbol.asyncDispose]();
        if (stopping.signal.aborted) process.exit(0);
        const remainingServices = old?.getLeftBehind() ?? [];
        // Remaining work would write to the restored folder.
        if (remainingServices.length > 0)
          restartProcess(m.servicesLeftBehind({ services: formatList(remainingServices) }));
        host = await open();
      } catch (error) {
        if (!stopping.signal.aborted) console.error(error instanceof Problem ? error.detail : error);
        process.exit(stopping.signal.aborted ? 0 : 1);
      }
      stopping.stops(host);
      print(m.restarted());
      printReady(host);
      return host;
    })();
  };
  const begin = async (): Promise<Host | undefined> => {
    const first = await open().catch((error: unknown) => {
      if (stopping.signal.aborted) process.exit(0);
      return showRunning(error);
    });
    if (first === undefined) return undefined;
    host = first;
    stopping.stops(host);
    // An unhandled rejection of one service must not end the others; an uncaught exception still ends the process.
    process.on('unhandledRejection', (error) => host?.log.error('unhandled promise rejection', { error }));
    process.on('uncaughtExceptionMonitor', (error) => {
      markCrash(options.dataDir);
      host?.log.error('uncaught exception, process ends', { error });
    });
    await announceStart(host, options, why);
    return host;
  };
  let host: Host | undefined;
  let opening = begin();
  if ((await opening) === undefined) return stopping.stopHandling();
}

/** Prints the result of the first start, and opens its page. */
async function announceStart(host: Host, options: StartOptions, why: string): Promise<void> {
  for (const problem of host.configProblems())
    print(host.safeMode ? m.safeModeProblem({ problem }) : m.settingsProblem({ problem }));
  for (const [service, reason] of Object.entries(host.failures())) print(m.serviceFailed({ service, reason }));
  print(why);
  const setup = await host.setupUrl();
  if (setup !== undefined) print(m.firstStart({ address: setup }));
  printReady(host);
  const page = setup ?? host.addresses()['control'];
  if (!options.headless && host.opensBrowser && page !== undefined) openInBrowser(page, process.env, currentPlatform);
}

function printReady(host: Host): void {
  const slow = host.starting();
  for (const id of slow) print(m.serviceStarting({ service: id }));
  print(['ready', ...Object.entries(host.addresses()).map(([id, address]) => `${id}=${address}`)].join(' '));
  logStartingServices(host, slow);
}

/** Logs the outcome of services that were still starting when the host was ready. */
function logStartingServices(host: Host, ids: readonly string[]): void {
  const waiting = new Set(ids);
  if (waiting.size === 0) return;
  const printLine = ({ id, state, reason }: ServiceStatus): void => {
    if (!waiting.has(id) || state === 'starting') return;
    waiting.delete(id);
    if (state === 'up' || state === 'degraded') print(m.serviceReady({ service: id }));
    else if (state === 'failed') print(m.serviceFailed({ service: id, reason: readText(reason ?? '') }));
    if (waiting.size === 0) listening[Symbol.dispose]();
  };
  const inCommandLanguage = keepLanguage();
  const listening = host.bus.subscribe(serviceStatusChanged, (status) => inCommandLanguage(() => printLine(status)));
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** A second start prints the address of the running host, and opens its page. */
function showRunning(error: unknown): undefined {
  if (!(error instanceof DataFolderTaken) || error.holder?.url === undefined) throw error;
  print(m.alreadyRunning({ address: error.holder.url, pid: String(error.holder.pid) }));
  if (process.env['HOMEPORT_OPEN_BROWSER'] !== 'false') openInBrowser(error.holder.url, process.env, currentPlatform);
}
