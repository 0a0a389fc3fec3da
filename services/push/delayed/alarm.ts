import type { Context } from '../../contracts/service.ts';

/** The clock may be set, and the machine sleep: no timer waits longer. ms */
const longestWait = 1000;
/** After a failure; ms. */
const retryAfter = 5000;

export interface AlarmParts {
  readonly context: Pick<Context, 'clock' | 'log'>;
  /** What is said in the log when ringing failed. */
  readonly failed: string;
  /** Does what is due. `going` is false once the alarm is closed. Answers when something is due next, in unix seconds. */
  readonly ring: (going: () => boolean) => Promise<number | undefined>;
}

/** One timer for whatever is due next; a table holds the rest. */
export class Alarm implements AsyncDisposable {
  readonly #parts: AlarmParts;
  #next: number | undefined;
  #timer: Disposable | undefined;
  #ringing: Promise<void> | undefined;
  #closed = false;

  constructor(parts: AlarmParts) {
    this.#parts = parts;
  }

  /** Something is due at this time, in unix seconds. */
  expect(time: number | undefined): void {
    if (time === undefined || (this.#next !== undefined && this.#next <= time)) return;
    this.#next = time;
    this.#wait();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#timer?.[Symbol.dispose]();
    await this.#ringing;
  }

  #wait(): void {
    this.#timer?.[Symbol.dispose]();
    if (this.#closed || this.#next === undefined || this.#ringing !== undefined) return;
    const { clock } = this.#parts.context;
    const left = this.#next * 1000 - clock.now();
    if (left <= 0) return this.#tick();
    this.#timer = clock.after(Math.min(left, longestWait), () => this.#tick());
  }

  #tick(): void {
    const { clock, log } = this.#parts.context;
    // The clock may have been set back.
    if (this.#next === undefined || this.#next * 1000 > clock.now()) return this.#wait();
    this.#ringing = this.#ring()
      .catch((error: unknown) => {
        log.error(this.#parts.failed, { error });
        this.#next = Math.ceil((clock.now() + retryAfter) / 1000);
      })
      .finally(() => {
        this.#ringing = undefined;
        this.#wait();
      });
  }

  async #ring(): Promise<void> {
    this.#next = undefined;
    this.expect(await this.#parts.ring(() => !this.#closed));
  }
}
