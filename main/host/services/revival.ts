import type { Clock } from '../../../services/contracts/service.ts';
import type { Health } from '../../../services/contracts/health.ts';

const firstPauseMs = 5000;
const longestPauseMs = 300_000;
/** Who was well for so long gets the first pause again. */
const wellAfterMs = 600_000;

/** Starts a service anew that says it is down: after a pause that doubles each time, until it has been well for a while. */
export class Revival {
  readonly #clock: Clock;
  readonly #restart: () => void;
  #pauseMs = firstPauseMs;
  #startedAt = 0;
  #planned: { readonly pauseMs: number; readonly timer: Disposable } | undefined;

  constructor(clock: Clock, restart: () => void) {
    this.#clock = clock;
    this.#restart = restart;
  }

  /** The service has started. */
  started(): void {
    this.#startedAt = this.#clock.now();
  }

  /** What the service says of itself. Answers the pause after which it is started anew, undefined when it is not. */
  heard(state: Health['state']): number | undefined {
    if (state !== 'down') {
      // It came back by itself.
      this.cancel();
      if (this.#clock.now() - this.#startedAt >= wellAfterMs) this.#pauseMs = firstPauseMs;
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
    const pauseMs = this.#pauseMs;
    this.#pauseMs = Math.min(longestPauseMs, pauseMs * 2);
    return { pauseMs, timer: this.#clock.after(pauseMs, this.#restart) };
  }
}
