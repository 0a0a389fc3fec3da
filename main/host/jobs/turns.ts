import type { Clock, Log } from '../../../services/contracts/service.ts';
import { runOutsideRequests } from '../../../services/kit/language.ts';

/** Pause after a database error: full, busy or unreachable. */
const pauseMs = 1_000;

/** Runs turns on a table, one after another, as long as there is work; idle otherwise. */
export class Turns {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #hasWork: () => boolean;
  readonly #turn: () => Promise<void>;
  /** Callers that wait for the end of the next turn. */
  readonly #waiters: (() => void)[] = [];
  #isScheduled = false;
  #turning: Promise<void> | undefined;
  #pause: Disposable | undefined;
  #isClosed = false;

  /** `turn` rejects on a database error and is retried after a pause. */
  constructor(parts: {
    readonly clock: Clock;
    readonly log: Log;
    readonly hasWork: () => boolean;
    readonly turn: () => Promise<void>;
  }) {
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.#hasWork = () => this.#waiters.length > 0 || parts.hasWork();
    this.#turn = parts.turn;
  }

  /** A turn is running. */
  get isTurning(): boolean {
    return this.#turning !== undefined;
  }

  /** Schedules a turn if there is work. */
  schedule(): void {
    if (this.#isScheduled || this.#turning !== undefined || this.#isHeld() || !this.#hasWork()) return;
    this.#isScheduled = true;
    // The jobs of a turn are of several requests, and outlive these.
    runOutsideRequests(() => setImmediate(() => this.#begin()));
  }

  #begin(): void {
    this.#isScheduled = false;
    if (this.#isHeld()) return;
    this.#turning = this.#run().finally(() => {
      this.#turning = undefined;
      // Work may have arrived since the last check.
      this.schedule();
    });
  }

  /** Resolves after a turn that starts from now on, or when the database refuses it. */
  next(): Promise<void> {
    if (this.#isHeld()) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiters.push(resolve);
      this.schedule();
    });
  }

  /** Stops; resolves after the current turn. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#pause?.[Symbol.dispose]();
    for (const answer of this.#waiters.splice(0)) answer();
    await this.#turning;
  }

  async #run(): Promise<void> {
    while (!this.#isHeld() && this.#hasWork()) {
      const answered = this.#waiters.splice(0);
      try {
        await this.#turn();
      } catch (error) {
        this.#log.warn('database write failed, jobs delayed', { error });
        answered.push(...this.#waiters.splice(0));
        this.#pause = this.#clock.after(pauseMs, () => {
          this.#pause = undefined;
          this.schedule();
        });
      }
      for (const answer of answered) answer();
    }
  }

  #isHeld(): boolean {
    return this.#pause !== undefined || this.#isClosed;
  }
}
