import type { HostChild } from '../desktop/host-process.ts';
import type { ElectronApi } from './electron.ts';

/**
 * V8 flags as in `npm start`: a larger young generation saves collector work. Electron passes them as a Chromium
 * switch; without it the services are only slower. `--expose-gc` needs no switch.
 */
export const hostFlags: readonly string[] = ['--js-flags=--max-semi-space-size=16'];

export interface HostProgram {
  /** Entry file of the process. */
  readonly entry: string;
  readonly argv: readonly string[];
  /** The user's folder for downloads, which may have been moved; undefined for the usual place. */
  readonly downloadsFolder: string | undefined;
}

/** Starts the services in a separate process. Call it only when the app is ready. */
export function forkHost(
  utilityProcess: ElectronApi['utilityProcess'],
  { entry, argv, downloadsFolder }: HostProgram,
): HostChild {
  const child = utilityProcess.fork(entry, [...argv], {
    serviceName: 'Homeport services',
    execArgv: [...hostFlags],
    stdio: 'inherit',
    ...(downloadsFolder !== undefined && { env: { ...process.env, HOMEPORT_USER_DOWNLOADS: downloadsFolder } }),
  });
  return {
    line: {
      send: (message) => child.postMessage(message),
      receive: (listener) => void child.on('message', listener),
    },
    kill() {
      // Electron's own `kill` sends SIGTERM and blocks this process meanwhile; a hanging process would not handle it.
      if (child.pid !== undefined) process.kill(child.pid, 'SIGKILL');
    },
    onExit: (listener) => void child.on('exit', () => listener()),
  };
}
