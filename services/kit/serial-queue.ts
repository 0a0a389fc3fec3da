/** Runs tasks one after another, in the order of the calls. A failed task does not stop the following ones. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs a task after all earlier ones, and returns its result. */
  run<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#last.then(task);
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Resolves when all tasks added so far have ended. */
  async settled(): Promise<void> {
    await this.#last;
  }
}
