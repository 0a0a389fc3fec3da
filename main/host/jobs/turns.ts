import type { Clock, Log } from '../../../services/contracts/service.ts';

/** After the database refused: it is full, busy or away. */
const pauseMs = 1_000;

/** Takes turns at a table, one after another, as long as there is something to do; an idle one does nothing. */
export class Turns {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #hasWork: () => boolean;
  readonly #turn: () => Promise<void>;
  /** Who waits for the end of the next turn. */
  readonly #askers: (() => void)[] = [];
  #isScheduled = false;
  #turning: Promise<void> | undefined;
  #pause: Disposable | undefined;
  #isClosed = false;

  /** `turn` rejects when the database refuses; it is tried again after a pause. */
  constructor(parts: {
    readonly clock: Clock;
    readonly log: Log;
    readonly hasWork: () => boolean;
    readonly turn: () => Promise<void>;
  }) {
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.#hasWork = () => this.#askers.length > 0 || parts.hasWork();
    this.#turn = parts.turn;
  }

  /** A turn is under way. */
  get isTurning(): boolean {
    return this.#turning !== undefined;
  }

  /** Has a turn taken soon if there is something to do. */
  schedule(): void {
    if (this.#isScheduled || this.#turning !== undefined || this.#isHeld() || !this.#hasWork()) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (this.#isHeld()) return;
      this.#turning = this.#run().finally(() => {
        this.#turning = undefined;
        // Something may have come between the last look and this line.
        this.schedule();
      });
    });
  }

  /** Resolves after a turn that begins from now on, or when the database refuses it. */
  next(): Promise<void> {
    if (this.#isHeld()) return Promise.resolve();
    return new Promise((resolve) => {
      this.#askers.push(resolve);
      this.schedule();
    });
  }

  /** Takes no more turns; resolves after the one under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#pause?.[Symbol.dispose]();
    for (const answer of this.#askers.splice(0)) answer();
    await this.#turning;
  }

  async #run(): Promise<void> {
    while (!this.#isHeld() && this.#hasWork()) {
      const answered = this.#askers.splice(0);
      try {
        await this.#turn();
      } catch (error) {
        this.#log.warn('the database refuses, jobs wait', { error });
        answered.push(...this.#askers.splice(0));
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
