import type { Clock } from '../../contracts/service.ts';
import type { DeliveryResult } from './destination.ts';

/** An attempt of the outbox has a minute: a try that could not end by then is left to the next attempt. */
const maxAttemptMs = 58_000;
/** A longer pause is left to the outbox. */
const maxPauseMs = 10_000;

/** How something is tried: so many times besides the first, with a pause between, each try not longer than a time. */
export interface RetryOptions {
  readonly retries: number;
  readonly waitMs: number;
  readonly timeoutMs: number;
}

/** Tries again what may pass, as often as it is asked for and there is time; answers how the last try ended. */
export async function withRetries(
  attempt: () => Promise<DeliveryResult>,
  { retries, waitMs, timeoutMs }: RetryOptions,
  clock: Pick<Clock, 'now' | 'after'>,
  signal: AbortSignal,
): Promise<DeliveryResult> {
  const deadline = clock.now() + maxAttemptMs - timeoutMs;
  for (let retriesLeft = retries; ; retriesLeft -= 1) {
    const result = await attempt();
    if (result.ok || !result.retryable || retriesLeft <= 0) return result;
    const pause = Math.max(Math.min(waitMs, maxPauseMs), result.retryAfterMs ?? 0);
    if (signal.aborted || clock.now() + pause > deadline) return result;
    if (pause > 0) await pauseFor(pause, clock, signal);
    if (signal.aborted) return result;
  }
}

async function pauseFor(ms: number, clock: Pick<Clock, 'after'>, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  using _timer = clock.after(ms, resolve);
  signal.addEventListener('abort', () => resolve(), { once: true });
  await promise;
}
