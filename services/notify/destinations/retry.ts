import type { Clock } from '../../contracts/service.ts';
import type { DeliveryResult } from './destination.ts';
import { pauseFor } from '../../kit/pause.ts';

/** A job attempt is limited to a minute; a retry that could exceed it is left to the next attempt. */
const maxAttemptMs = 58_000;
/** Longer pauses are left to the outbox. */
const maxPauseMs = 10_000;

/** Number of retries, the pause between them, and the timeout of each. */
export interface RetryOptions {
  readonly retries: number;
  readonly waitMs: number;
  readonly timeoutMs: number;
}

/**
 * Repeats an attempt after temporary failures, within the number of retries and the available time. Returns the
 * result of the last attempt.
 */
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
