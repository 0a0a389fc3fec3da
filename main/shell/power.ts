import type { Host } from '../host/host.ts';
import type { ElectronParts } from './electron.ts';

/** After a sleep timers are late and connections dead: the host looks at its clock and its services at once. */
export function watchPower(powerMonitor: ElectronParts['powerMonitor'], host: Pick<Host, 'log' | 'resumed'>): void {
  powerMonitor.on('resume', () => {
    host.log.info('the machine was asleep');
    host.resumed().catch((error: unknown) => host.log.error('the host could not look after its services', { error }));
  });
}
