import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock } from '../../../services/contracts/service.ts';
import { TooLate, withTimeout } from '../runtime/with-timeout.ts';
import type { ServiceRunner } from './service-runner.ts';

/** A service that takes longer goes on starting by itself; the others, and who waits for the host, are not kept. */
const readyLimitMs = 15_000;

/**
 * Resolves once all listeners are open and all services have started, or had time enough to.
 * @throws Problem `host.stopped` when the signal comes before.
 */
export async function startAll(
  runners: readonly ServiceRunner[],
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<void> {
  const stopped = Promise.withResolvers<never>();
  const stop = (): void => stopped.reject(new Problem('host.stopped', 503, 'Homeport was stopped while it started.'));
  if (signal?.aborted) stop();
  signal?.addEventListener('abort', stop);
  try {
    const isFirst = ({ descriptor }: ServiceRunner): boolean => descriptor.startsOn === 'first';
    const first = Promise.all(runners.filter(isFirst).map((runner) => runner.start()));
    await Promise.race([stopped.promise, first]);
    const all = Promise.all(runners.filter((runner) => !isFirst(runner)).map((runner) => runner.start()));
    // However slow the machine: a port is known before anyone is told that the host is ready.
    await Promise.race([stopped.promise, Promise.all(runners.map((runner) => runner.opened))]);
    await withTimeout(Promise.race([stopped.promise, all]), readyLimitMs, clock);
  } catch (error) {
    if (!(error instanceof TooLate)) throw error;
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}
