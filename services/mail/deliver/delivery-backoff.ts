import type { Clock } from '../../contracts/service.ts';
import { pauseFor } from '../../kit/pause.ts';

/** Milliseconds without concurrent mails after which a burst is over. */
const burstEndMs = 50;
/** Maximum time in ms that a delivery is delayed. */
const maxDelayMs = 2000;
/** Interval in ms at which a delayed delivery checks whether the burst is over. */
const checkIntervalMs = 10;

/**
 * Gives incoming mails precedence over deliveries: a client waits for its reply, and a delivery costs several times as
 * much as accepting a mail. During a burst, a delivery is delayed by two seconds at most, so in a long one both
 * continue side by side.
 */
export class DeliveryBackoff {
  readonly #clock: Clock;
  #receiving = 0;
  #burstUntil = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Marks a mail as being stored, until it is disposed. */
  enter(): Disposable {
    this.#receiving += 1;
    if (this.#receiving > 1) this.#burstUntil = this.#clock.now() + burstEndMs;
    return { [Symbol.dispose]: () => void (this.#receiving -= 1) };
  }

  /** Waits until the burst is over; `acceptedAt` in ms since the epoch reduces the wait for mails accepted earlier. */
  async waitUntilIdle(acceptedAt: number, signal: AbortSignal): Promise<void> {
    const maxWaitMs = Math.min(maxDelayMs, acceptedAt + maxDelayMs - this.#clock.now());
    for (let waitedMs = 0; waitedMs < maxWaitMs && this.#clock.now() < this.#burstUntil; waitedMs += checkIntervalMs) {
      await pauseFor(checkIntervalMs, this.#clock, signal);
      signal.throwIfAborted();
    }
  }
}
