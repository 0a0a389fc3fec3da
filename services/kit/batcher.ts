import { setImmediate as nextTurn } from 'node:timers/promises';

export interface BatcherOptions<T> {
  /** Items one batch takes at most, so that none waits for a batch without end. */
  readonly largest: number;
  /** Works a batch, the items in the order they came; the next one begins once it has resolved. Must not reject. */
  readonly work: (batch: readonly T[]) => Promise<void>;
  /** Also what comes while a batch is worked waits for the end of its turn. Default: only the first of a burst does. */
  readonly everyTurn?: boolean;
}

/**
 * Collects what comes in the same turn of the event loop, and while a batch is at work, into the next batch. One batch is
 * at work at a time.
 */
export class Batcher<T> {
  readonly #options: BatcherOptions<T>;
  readonly #waiting: T[] = [];
  #working: Promise<void> | undefined;

  constructor(options: BatcherOptions<T>) {
    this.#options = options;
  }

  add(item: T): void {
    this.#waiting.push(item);
    this.#working ??= this.#work();
  }

  /** Settles when nothing waits any more; undefined when nothing does. */
  drained(): Promise<void> | undefined {
    return this.#working;
  }

  async #work(): Promise<void> {
    const { largest, work, everyTurn = false } = this.#options;
    // Requests whose bytes are here already get the chance to join.
    await nextTurn();
    while (this.#waiting.length > 0) {
      await work(this.#waiting.splice(0, largest));
      if (everyTurn && this.#waiting.length > 0) await nextTurn();
    }
    this.#working = undefined;
  }
}
