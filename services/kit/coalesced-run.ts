import { runOutsideRequests } from './language.ts';

/**
 * Task that runs once at a time, and once more after requests that arrived during a run. Any number of them cause one
 * further run.
 */
export class CoalescedRun implements AsyncDisposable {
  readonly #task: () => Promise<void>;
  #running: Promise<void> | undefined;
  #isRequested = false;
  #isClosed = false;

  /** `task` must not reject. */
  constructor(task: () => Promise<void>) {
    this.#task = task;
  }

  /** Requests a run that begins after this call. */
  request(): void {
    this.#isRequested = true;
    // A run is for several requests, and continues when their clients disconnect.
    if (!this.#isClosed) this.#running ??= runOutsideRequests(() => this.#run());
  }

  /** Resolves when all requested runs have ended. */
  async settled(): Promise<void> {
    await this.#running;
  }

  /** Begins no further run and waits for the one in progress. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    try {
      while (this.#isRequested && !this.#isClosed) {
        this.#isRequested = false;
        await this.#task();
      }
    } finally {
      this.#running = undefined;
    }
  }
}
