import type { Log } from '../../services/contracts/service.ts';
import { ConnectionClosed } from '../desktop/calls.ts';
import type { HostProcess } from '../desktop/host-process.ts';
import type { ElectronApi } from './electron.ts';

/**
 * Notifies the host of the end of a sleep, after which timers are late and connections are dead: it checks its timers
 * and services immediately.
 */
export function watchPower(
  powerMonitor: ElectronApi['powerMonitor'],
  { ask }: Pick<HostProcess, 'ask'>,
  log: Log,
): void {
  powerMonitor.on('resume', () => {
    log.info('computer resumed');
    ask('resumed').catch((error: unknown) => {
      // A host that is not running checks everything when it starts.
      if (!(error instanceof ConnectionClosed)) log.error('services check after resume failed', { error });
    });
  });
}

/** Event whose default action delays the end of the session; Electron's types omit it. */
interface ShutdownEvent {
  preventDefault(): void;
}

/**
 * Quits the app when macOS or Linux shuts down. A prevented `before-quit` would count as a refusal to shut down there, so
 * the app exits once its services have ended.
 */
export function watchShutdown(powerMonitor: ElectronApi['powerMonitor'], end: () => void): void {
  const on = powerMonitor.on.bind(powerMonitor) as (
    name: 'shutdown',
    listener: (event?: ShutdownEvent) => void,
  ) => void;
  on('shutdown', (event) => {
    event?.preventDefault();
    end();
  });
}
