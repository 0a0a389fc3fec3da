import { runOutsideRequests } from './language.ts';

/** Task that runs once at a time: a call during a run joins it and receives its result. */
export class SingleFlight<T> {
  readonly #task: () => Promise<T>;
  #running: Promise<T> | undefined;

  constructor(task: () => Promise<T>) {
    this.#task = task;
  }

  /** Returns whether the task is running. */
  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Runs the task, or joins the run in progress. */
  run(): Promise<T> {
    // Callers of several requests receive the result, and the run continues when the first client disconnects.
    this.#running ??= runOutsideRequests(this.#task).finally(() => (this.#running = undefined));
    return this.#running;
  }

  /** Runs the task after the run in progress, whose input may be older than this call. */
  async runAgain(): Promise<T> {
    await this.settled();
    return this.run();
  }

  /** Resolves when no run is in progress, also after a failure. */
  async settled(): Promise<void> {
    await this.#running?.catch(() => undefined);
  }
}
