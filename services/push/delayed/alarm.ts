import type { Context } from '../../contracts/service.ts';

/** Maximum length of a timer in ms, because the clock may be changed and the computer may be suspended. */
const maxTimerMs = 1000;
/** Delay after a failure in ms. */
const retryDelayMs = 5000;

export interface AlarmOptions {
  readonly context: Pick<Context, 'clock' | 'log'>;
  /** Log message for a failed run. */
  readonly failureMessage: string;
  /**
   * Processes everything that is due and returns the time of the next due item in unix seconds. `isOpen` returns false
   * after the alarm was stopped.
   */
  readonly run: (isOpen: () => boolean) => Promise<number | undefined>;
}

/** Timer for the next due row of a table, while this host processes the table. */
export class Alarm {
  readonly #options: AlarmOptions;
  #next: number | undefined;
  #timer: Disposable | undefined;
  #running: Promise<void> | undefined;
  #isStarted = false;

  constructor(options: AlarmOptions) {
    this.#options = options;
  }

  /** Begins to run. The disposal stops the timer and waits for the run in progress. */
  start(): AsyncDisposable {
    this.#isStarted = true;
    this.#arm();
    return {
      [Symbol.asyncDispose]: async () => {
        this.#isStarted = false;
        this.#timer?.[Symbol.dispose]();
        await this.#running;
      },
    };
  }

  /** Schedules a run for this time, in unix seconds. */
  expect(time: number | undefined): void {
    if (time === undefined || (this.#next !== undefined && this.#next <= time)) return;
    this.#next = time;
    this.#arm();
  }

  #arm(): void {
    this.#timer?.[Symbol.dispose]();
    if (!this.#isStarted || this.#next === undefined || this.#running !== undefined) return;
    const { clock } = this.#options.context;
    const remainingMs = this.#next * 1000 - clock.now();
    if (remainingMs <= 0) return this.#tick();
    this.#timer = clock.after(Math.min(remainingMs, maxTimerMs), () => this.#tick());
  }

  #tick(): void {
    const { clock, log } = this.#options.context;
    // The clock may have been set back.
    if (this.#next === undefined || this.#next * 1000 > clock.now()) return this.#arm();
    this.#running = this.#run()
      .catch((error: unknown) => {
        log.error(this.#options.failureMessage, { error });
        this.#next = Math.ceil((clock.now() + retryDelayMs) / 1000);
      })
      .finally(() => {
        this.#running = undefined;
        this.#arm();
      });
  }

  async #run(): Promise<void> {
    this.#next = undefined;
    this.expect(await this.#options.run(() => this.#isStarted));
  }
}
