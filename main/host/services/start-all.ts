import * as m from '#messages/host-problems';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock } from '../../../services/contracts/service.ts';
import { TimeoutExceeded, withTimeout } from '../runtime/with-timeout.ts';
import type { ServiceRunner } from './service-runner.ts';

/**
 * Time limit; a service that takes longer continues to start in the background and does not delay the others or the
 * host.
 */
const readyLimitMs = 15_000;

/**
 * Resolves once all listeners are open and all services have started, or the time limit is over.
 * @throws Problem `host.stopped` when the signal aborts first.
 */
export async function startAll(
  runners: readonly ServiceRunner[],
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<void> {
  const stopped = Promise.withResolvers<never>();
  const stop = (): void => stopped.reject(new Problem('host.stopped', 503, m.hostStopped));
  if (signal?.aborted) stop();
  signal?.addEventListener('abort', stop);
  try {
    const isFirst = ({ descriptor }: ServiceRunner): boolean => descriptor.startsOn === 'first';
    const first = Promise.all(runners.filter(isFirst).map((runner) => runner.start()));
    await Promise.race([stopped.promise, first]);
    const all = Promise.all(runners.filter((runner) => !isFirst(runner)).map((runner) => runner.start()));
    // Without a time limit: the ports must be known before the host reports that it is ready.
    await Promise.race([stopped.promise, Promise.all(runners.map((runner) => runner.opened))]);
    await withTimeout(Promise.race([stopped.promise, all]), readyLimitMs, clock);
  } catch (error) {
    if (!(error instanceof TimeoutExceeded)) throw error;
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}
