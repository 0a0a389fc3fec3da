import type { Clock } from '../../contracts/service.ts';

const intervalMs = 5000;
/** Tolerance for a delayed timer on a busy computer. */
const toleranceMs = 10_000;

/** Detects that the computer slept or that its clock was set, also without network checks. */
export class SleepDetector implements Disposable {
  readonly #clock: Clock;
  readonly #onSleep: (ms: number) => void;
  #timer: Disposable | undefined;
  #lastCheckAt: number | undefined;

  constructor(clock: Clock, onSleep: (ms: number) => void) {
    this.#clock = clock;
    this.#onSleep = onSleep;
  }

  start(): void {
    this.#lastCheckAt = this.#clock.now();
    this.#timer = this.#clock.every(intervalMs, () => this.check());
  }

  /** Compares the clock with the last check. Called before overdue results are processed. */
  check(): void {
    const now = this.#clock.now();
    const elapsedMs = now - (this.#lastCheckAt ?? now);
    this.#lastCheckAt = now;
    if (elapsedMs < -intervalMs || elapsedMs > intervalMs + toleranceMs) this.#onSleep(Math.abs(elapsedMs));
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }
}
