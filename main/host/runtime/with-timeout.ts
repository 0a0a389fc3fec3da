import type { Clock } from '../../../services/contracts/service.ts';

/** Thrown by {@link withTimeout}. */
export class TimeoutExceeded extends Error {
  override readonly name = 'TooLate';
}

/**
 * Settles like the work, or rejects once it has taken longer than `ms`; the work itself continues without being
 * observed.
 * @throws TimeoutExceeded
 */
export async function withTimeout<T>(work: Promise<T>, ms: number, clock: Clock): Promise<T> {
  const timer = Promise.withResolvers<never>();
  using _timer = clock.after(ms, () => timer.reject(new TimeoutExceeded(`took longer than ${ms} ms`)));
  return await Promise.race([work, timer.promise]);
}
