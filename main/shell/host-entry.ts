import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serveHost } from '../desktop/serve-host.ts';
import { dataDirOf } from '../host/cli/data-dir.ts';
import { parseCommandLine } from '../host/cli/command-line.ts';
import { exposeCollector } from '../host/runtime/idle-gc.ts';
import { openHost, type Host } from '../host/host.ts';
import { registry } from '../host/services/registry.ts';

// The services of the desktop app, in a process of their own: main/shell/desktop.ts starts it with the arguments of a start.
const command = parseCommandLine(process.argv.slice(2));
if (command.name !== 'start') throw new Error('This process runs the services, and nothing else.');
const { port, safeMode, dataDir } = command;
const { parentPort } = process;
exposeCollector();

let host: Host | undefined;
// One service's forgotten promise must not end the others; an error that nobody caught still does, and the shell starts it again.
process.on('unhandledRejection', (error) => {
  if (host === undefined) throw error;
  host.log.error('a promise failed and nobody looked', { error });
});
process.on('uncaughtExceptionMonitor', (error) => host?.log.error('the process ends by an error', { error }));

const served = serveHost({
  line: {
    send: (message) => parentPort.postMessage(message),
    receive: (listener) => void parentPort.on('message', ({ data }) => listener(data)),
  },
  open: async (desktop) => {
    host = await openHost({
      ...desktop,
      dataDir: dataDirOf(dataDir, process.env, process.platform),
      descriptors: registry,
      pages: fileURLToPath(new URL(join('..', '..', 'dist', 'renderer'), import.meta.url)),
      safeMode,
      commandLine: port === undefined ? {} : { port },
    });
    return host;
  },
  exit: (code) => process.exit(code),
});
// A terminal's Ctrl-C reaches this process as well, beside the shell.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => served.stop());
