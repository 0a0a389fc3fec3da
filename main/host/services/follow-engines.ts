import { engineProgress } from '../../../services/contracts/control/engines.ts';
import type { Bus } from '../../../services/contracts/bus.ts';
import type { Clock, Log } from '../../../services/contracts/service.ts';
import type { ServiceRunner } from './service-runner.ts';

/** At most so often, ms: a download tells of each per cent. */
const pauseMs = 500;

/** Asks the services how they are while their engines are being installed, so that Home follows it. */
export function followEngines(
  { bus, clock, log }: { readonly bus: Bus; readonly clock: Clock; readonly log: Log },
  runners: readonly ServiceRunner[],
): Disposable {
  const open = new DisposableStack();
  const due = new Set<string>();
  let soon: Disposable | undefined;
  const ask = (): void => {
    soon = undefined;
    for (const runner of runners) {
      if (!runner.descriptor.engines?.some(({ name }) => due.has(name))) continue;
      runner.refresh().catch((error: unknown) => log.error('health check failed', { error }));
    }
    due.clear();
  };
  open.use(
    bus.subscribe(engineProgress, ({ name }) => {
      due.add(name);
      soon ??= clock.after(pauseMs, ask);
    }),
  );
  open.defer(() => soon?.[Symbol.dispose]());
  return open;
}
