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
  const late = Promise.withResolvers<never>();
  using _timer = clock.after(ms, () => late.reject(new TimeoutExceeded(`took longer than ${ms} ms`)));
  return await Promise.race([work, late.promise]);
}
