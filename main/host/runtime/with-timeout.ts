import type { Clock } from '../../../services/contracts/service.ts';

/** Thrown by {@link withTimeout}. */
export class TooLate extends Error {
  override readonly name = 'TooLate';
}

/**
 * Settles as the work does, or throws once it has taken longer than `ms`; the work itself then goes on unheard.
 * @throws TooLate
 */
export async function withTimeout<T>(work: Promise<T>, ms: number, clock: Clock): Promise<T> {
  const late = Promise.withResolvers<never>();
  using _timer = clock.after(ms, () => late.reject(new TooLate(`took longer than ${ms} ms`)));
  return await Promise.race([work, late.promise]);
}
