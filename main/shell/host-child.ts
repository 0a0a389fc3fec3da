import type { HostChild } from '../desktop/host-process.ts';
import type { ElectronParts } from './electron.ts';

/**
 * V8's part of what `npm start` gives Node: a larger young generation spares much of the collector's work. Electron
 * hands it on as Chromium's switch; without it the services are slower, nothing else. `--expose-gc` needs no switch.
 */
export const hostFlags: readonly string[] = ['--js-flags=--max-semi-space-size=16'];

export interface HostProgram {
  /** The file that runs there. */
  readonly entry: string;
  readonly argv: readonly string[];
}

/** Starts the services in a process of their own. Only once the app is ready. */
export function forkHost(utilityProcess: ElectronParts['utilityProcess'], { entry, argv }: HostProgram): HostChild {
  const child = utilityProcess.fork(entry, [...argv], {
    serviceName: 'Homeport services',
    execArgv: [...hostFlags],
    stdio: 'inherit',
  });
  return {
    line: {
      send: (message) => child.postMessage(message),
      receive: (listener) => void child.on('message', listener),
    },
    kill() {
      // Not its own `kill`, which asks kindly and holds up this process meanwhile; who hangs hears nothing.
      if (child.pid !== undefined) process.kill(child.pid, 'SIGKILL');
    },
    onExit: (listener) => void child.on('exit', () => listener()),
  };
}
