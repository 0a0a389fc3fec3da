import type { Clock } from '../../contracts/service.ts';
import { pauseFor } from '../../kit/pause.ts';

const firstDelayMs = 250;
const maxDelayMs = 5000;

/**
 * Repeats a check with growing pauses until it returns a value.
 * @returns undefined after `limitMs`
 * @throws the reason of the signal when it is aborted
 */
export async function poll<Value>(
  check: () => Promise<Value | undefined>,
  { clock, signal, limitMs }: { readonly clock: Clock; readonly signal: AbortSignal; readonly limitMs: number },
): Promise<Value | undefined> {
  const end = clock.now() + limitMs;
  for (let delayMs = firstDelayMs; ; delayMs = Math.min(maxDelayMs, delayMs * 1.6)) {
    signal.throwIfAborted();
    const value = await check();
    if (value !== undefined || clock.now() + delayMs > end) return value;
    await pauseFor(delayMs, clock, signal);
  }
}
