import type { Clock } from '../../../services/contracts/service.ts';
import type { Health } from '../../../services/contracts/health.ts';
import { getExponentialDelayMs } from '../../../services/kit/backoff.ts';

const backoff = { firstMs: 5000, maxMs: 300_000 } as const;
/** Time of good health after which the first pause applies again. */
const healthyAfterMs = 600_000;

/**
 * Restarts a service that reports `down`, after a pause that doubles each time until it has been healthy for a while.
 */
export class RestartBackoff {
  readonly #clock: Clock;
  readonly #restart: () => void;
  /** Restarts since the service was last healthy. */
  #restarts = 0;
  #startedAt = 0;
  #planned: { readonly pauseMs: number; readonly timer: Disposable } | undefined;

  constructor(clock: Clock, restart: () => void) {
    this.#clock = clock;
    this.#restart = restart;
  }

  /** Records that the service has started. */
  started(): void {
    this.#startedAt = this.#clock.now();
  }

  /** Processes a reported state. Returns the pause before a restart; undefined when no restart is scheduled. */
  update(state: Health['state']): number | undefined {
    if (state !== 'down') {
      // The service has recovered.
      this.cancel();
      if (this.#clock.now() - this.#startedAt >= healthyAfterMs) this.#restarts = 0;
      return undefined;
    }
    this.#planned ??= this.#plan();
    return this.#planned.pauseMs;
  }

  cancel(): void {
    this.#planned?.timer[Symbol.dispose]();
    this.#planned = undefined;
  }

  #plan(): { readonly pauseMs: number; readonly timer: Disposable } {
    this.#restarts += 1;
    const pauseMs = getExponentialDelayMs(backoff, this.#restarts);
    return { pauseMs, timer: this.#clock.after(pauseMs, this.#restart) };
  }
}
