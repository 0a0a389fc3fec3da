import type { Clock } from '../../contracts/service.ts';

const everyMs = 5000;
/** Tolerance for a delayed timer on a busy computer. */
const patienceMs = 10_000;

/** Detects that the computer slept or that its clock was set, also without network checks. */
export class SleepWatch implements Disposable {
  readonly #clock: Clock;
  readonly #slept: (ms: number) => void;
  #timer: Disposable | undefined;
  #seen: number | undefined;

  constructor(clock: Clock, slept: (ms: number) => void) {
    this.#clock = clock;
    this.#slept = slept;
  }

  start(): void {
    this.#seen = this.#clock.now();
    this.#timer = this.#clock.every(everyMs, () => this.look());
  }

  /** Compares the clock with the last check. Called before overdue results are processed. */
  look(): void {
    const now = this.#clock.now();
    const passed = now - (this.#seen ?? now);
    this.#seen = now;
    if (passed < -everyMs || passed > everyMs + patienceMs) this.#slept(Math.abs(passed));
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }
}
