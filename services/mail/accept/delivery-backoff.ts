import type { Clock } from '../../contracts/service.ts';

/** As long as no two mails came at once for this time, there is no rush. */
const calmMs = 50;
/** A mail waits no longer than this for others, in ms. */
const patienceMs = 2000;
/** How often one that waits looks up, in ms. */
const lookMs = 10;

/**
 * Lets mails that come go before mails that are delivered: a sender waits for its answer, and a delivery costs several times
 * as much as taking a mail. In a rush a delivery is held back for two seconds at most, so in one that lasts, both go on side
 * by side.
 */
export class Admission {
  readonly #clock: Clock;
  #coming = 0;
  #until = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A mail is here and about to be stored; the disposal says that it is. */
  enter(): Disposable {
    this.#coming += 1;
    if (this.#coming > 1) this.#until = this.#clock.now() + calmMs;
    return { [Symbol.dispose]: () => void (this.#coming -= 1) };
  }

  /** Waits for a rush to be over; not at all for a mail that was accepted, in ms since the epoch, long ago. */
  async over(acceptedAt: number, signal: AbortSignal): Promise<void> {
    const latest = Math.min(patienceMs, acceptedAt + patienceMs - this.#clock.now());
    for (let waited = 0; waited < latest && this.#clock.now() < this.#until; waited += lookMs) {
      await this.#pause(signal);
      signal.throwIfAborted();
    }
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = (): void => resolve();
    using _timer = this.#clock.after(lookMs, end);
    signal.addEventListener('abort', end);
    await promise;
    signal.removeEventListener('abort', end);
  }
}
