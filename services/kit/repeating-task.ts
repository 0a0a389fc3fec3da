import type { Clock } from '../contracts/service.ts';
import { SingleFlight } from './single-flight.ts';

/** Interval of a repeating task, and the report of its failures. */
export interface RepeatingTaskOptions {
  readonly clock: Pick<Clock, 'every'>;
  readonly intervalMs: number;
  readonly onError: (error: unknown) => void;
}

/**
 * Repeats a task at an interval. A turn is skipped while the task is running, as after a jump of the clock, which
 * fires a timer once per missed interval. Disposal waits for the run in progress.
 */
export class RepeatingTask implements Disposable, AsyncDisposable {
  readonly #flight: SingleFlight<void>;
  readonly #timer: Disposable;
  #isClosed = false;

  constructor(task: () => Promise<unknown>, { clock, intervalMs, onError }: RepeatingTaskOptions) {
    this.#flight = new SingleFlight(async () => {
      try {
        await task();
      } catch (error) {
        onError(error);
      }
    });
    this.#timer = clock.every(intervalMs, () => this.trigger());
  }

  /** Runs the task now, unless it is running. */
  trigger(): void {
    if (!this.#isClosed) void this.#flight.run();
  }

  /** Stops the timer without waiting for the run in progress. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#timer[Symbol.dispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this[Symbol.dispose]();
    await this.#flight.settled();
  }
}
