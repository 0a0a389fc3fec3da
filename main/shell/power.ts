import type { Log } from '../../services/contracts/service.ts';
import { ConnectionClosed } from '../desktop/calls.ts';
import type { HostProcess } from '../desktop/host-process.ts';
import type { ElectronApi } from './electron.ts';

/** After a sleep, timers are late and connections are dead: the host checks its timers and services immediately. */
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
