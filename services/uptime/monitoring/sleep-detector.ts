import type { Clock } from '../../contracts/service.ts';

const everyMs = 5000;
/** The clock may run so far ahead between two looks on a busy machine. */
const patienceMs = 10_000;

/** Notices by the clock that this machine slept, or that its clock was set; also where nothing is checked over a network. */
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

  /** Before what fell due meanwhile is believed. */
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
