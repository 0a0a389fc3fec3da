import { join } from 'node:path';
import { currentPlatform } from '../../services/kit/platform/current-platform.ts';
import { serveHost } from '../desktop/serve-host.ts';
import { getDataDir } from '../host/platform/data-folder.ts';
import { parseCommandLine } from '../host/cli/command-line.ts';
import { markCrash } from '../host/runtime/crash-marker.ts';
import { exposeCollector } from '../host/runtime/idle-gc.ts';
import { openHost } from '../host/host.ts';
import type { Host } from '../host/running-host.ts';
import { registry } from '../host/services/registry.ts';

// Entry point of the services' process, which main/shell/desktop.ts starts with the folder of the app and the arguments
// of a start.
const [appFolder = '', ...argv] = process.argv.slice(2);
const command = parseCommandLine(argv);
if (command.name !== 'start') throw new Error('This process runs the services, and nothing else.');
const { port, safeMode, dataDir } = command;
const { parentPort } = process;
exposeCollector();

let host: Host | undefined;
// An unhandled rejection of one service must not end the others; an uncaught exception still ends the process, and
// the shell restarts it.
process.on('unhandledRejection', (error) => {
  if (host === undefined) throw error;
  host.log.error('unhandled promise rejection', { error });
});
const dataFolder = getDataDir(dataDir, process.env, currentPlatform);
process.on('uncaughtExceptionMonitor', (error) => {
  markCrash(dataFolder);
  host?.log.error('uncaught exception, process ends', { error });
});

const served = serveHost({
  line: {
    send: (message) => parentPort.postMessage(message),
    receive: (listener) => void parentPort.on('message', ({ data }) => listener(data)),
  },
  open: async (desktop) => {
    host = await openHost({
      ...desktop,
      dataDir: dataFolder,
      descriptors: registry,
      pages: join(appFolder, 'dist', 'renderer'),
      safeMode,
      commandLine: port === undefined ? {} : { port },
    });
    return host;
  },
  exit: (code) => process.exit(code),
});
// Ctrl-C in a terminal reaches this process as well as the shell.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => served.stop());
