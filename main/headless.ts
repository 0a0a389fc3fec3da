import { fileURLToPath } from 'node:url';
import { Problem } from '../services/contracts/problem.ts';
import { dataDirOf, helpText, parseCommandLine } from './host/command-line.ts';
import { runCommand } from './host/commands.ts';
import { DataFolderTaken } from './host/data-lock.ts';
import { openHost } from './host/host.ts';
import { openInBrowser } from './host/open-browser.ts';
import { registry } from './host/registry.ts';
import { version } from './host/version.ts';

const pages = fileURLToPath(new URL('../dist/renderer', import.meta.url));

/** The host without a window: starts everything, or carries out one command. Sets the exit code; throws nothing. */
export async function main(argv: readonly string[]): Promise<void> {
  // Whoever read our output may go away (a closed pipe); the services go on.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  const command = parseCommandLine(argv);
  try {
    if (command.name === 'help') process.stdout.write(helpText);
    else if (command.name === 'version') process.stdout.write(`${version}\n`);
    else if (command.name === 'invalid') {
      process.stderr.write(`${command.message}\n`);
      process.exitCode = command.exitCode;
    } else {
      const dataDir = dataDirOf(command.dataDir, process.env, process.platform);
      if (command.name === 'start') await start(dataDir, command);
      else await runCommand(command, { dataDir, descriptors: registry });
    }
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    process.stderr.write(`${error.detail}\n`);
    process.exitCode = 1;
  }
}

async function start(
  dataDir: string,
  options: { readonly headless: boolean; readonly port: number | undefined; readonly safeMode: boolean },
): Promise<void> {
  const host = await openHost({
    dataDir,
    descriptors: registry,
    pages,
    safeMode: options.safeMode,
    commandLine: options.port === undefined ? {} : { port: options.port },
  }).catch(showRunning);
  if (host === undefined) return;

  const stop = (signal: NodeJS.Signals): void => {
    process.off('SIGTERM', stop).off('SIGINT', stop);
    // A second signal, or a service that does not let go, must not keep the process.
    setTimeout(() => process.exit(signal === 'SIGINT' ? 130 : 143), 10_000).unref();
    host[Symbol.asyncDispose]().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);

  const addresses = host.addresses();
  for (const problem of host.configProblems) say(`Safe mode: ${problem}`);
  for (const [id, reason] of Object.entries(host.failures())) say(`${id} did not start: ${reason}`);
  say(
    options.headless
      ? 'Homeport runs without a window, as asked; its pages are in the browser.'
      : 'Homeport runs without a window, since this build has no desktop shell; its pages are in the browser.',
  );
  const setup = await host.setupUrl();
  if (setup !== undefined) say(`First start: make your account at ${setup}`);
  say(['ready', ...Object.entries(addresses).map(([id, address]) => `${id}=${address}`)].join(' '));
  const page = setup ?? addresses['control'];
  if (!options.headless && host.opensBrowser && page !== undefined) openInBrowser(page, process.env, process.platform);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** A second start finds the first: it says where, and opens its page. */
function showRunning(error: unknown): undefined {
  if (!(error instanceof DataFolderTaken) || error.holder?.url === undefined) throw error;
  say(`Homeport is already running at ${error.holder.url} (process ${error.holder.pid}).`);
  if (process.env['HOMEPORT_OPEN_BROWSER'] !== 'false') openInBrowser(error.holder.url, process.env, process.platform);
}
