import { engineProgress } from '../../../services/contracts/control/engines.ts';
import type { Bus } from '../../../services/contracts/bus.ts';
import type { Clock, Log } from '../../../services/contracts/service.ts';
import type { ServiceRunner } from './service-runner.ts';

/** Minimum interval in ms, since a download reports every per cent. */
const pauseMs = 500;

/** Checks the health of services while their engines are being installed, so that Home shows the progress. */
export function watchEngineInstallations(
  { bus, clock, log }: { readonly bus: Bus; readonly clock: Clock; readonly log: Log },
  runners: readonly ServiceRunner[],
): Disposable {
  const open = new DisposableStack();
  const due = new Set<string>();
  let pollTimer: Disposable | undefined;
  const checkHealth = (): void => {
    pollTimer = undefined;
    for (const runner of runners) {
      if (!runner.descriptor.engines?.some(({ name }) => due.has(name))) continue;
      runner.refresh().catch((error: unknown) => log.error('health check failed', { error }));
    }
    due.clear();
  };
  open.use(
    bus.subscribe(engineProgress, ({ name }) => {
      due.add(name);
      pollTimer ??= clock.after(pauseMs, checkHealth);
    }),
  );
  open.defer(() => pollTimer?.[Symbol.dispose]());
  return open;
}
