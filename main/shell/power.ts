import type { Log } from '../../services/contracts/service.ts';
import { LineClosed } from '../desktop/calls.ts';
import type { HostProcess } from '../desktop/host-process.ts';
import type { ElectronParts } from './electron.ts';

/** After a sleep timers are late and connections dead: the host looks at its clock and its services at once. */
export function watchPower(
  powerMonitor: ElectronParts['powerMonitor'],
  { ask }: Pick<HostProcess, 'ask'>,
  log: Log,
): void {
  powerMonitor.on('resume', () => {
    log.info('the machine was asleep');
    ask('resumed').catch((error: unknown) => {
      // One that does not run looks at everything when it starts.
      if (!(error instanceof LineClosed)) log.error('the host could not look after its services', { error });
    });
  });
}
