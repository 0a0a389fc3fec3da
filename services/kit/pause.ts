import type { Clock } from '../contracts/service.ts';

/** Resolves after a time in ms, or as soon as the signal is aborted. */
export async function pauseFor(ms: number, clock: Pick<Clock, 'after'>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const finish = (): void => resolve();
  using _timer = clock.after(ms, finish);
  signal.addEventListener('abort', finish, { once: true });
  await promise;
  signal.removeEventListener('abort', finish);
}
