import { setImmediate as nextTurn } from 'node:timers/promises';

export interface BatcherOptions<T> {
  /** Items one batch takes at most, so that none waits for a batch without end. */
  readonly maxBatchSize: number;
  /** Works a batch, the items in the order they came; the next one begins once it has resolved. Must not reject. */
  readonly process: (batch: readonly T[]) => Promise<void>;
  /** Also what comes while a batch is worked waits for the end of its turn. Default: only the first of a burst does. */
  readonly waitEachTurn?: boolean;
}

/**
 * Collects what comes in the same turn of the event loop, and while a batch is at work, into the next batch. One batch is
 * at work at a time.
 */
export class Batcher<T> {
  readonly #options: BatcherOptions<T>;
  readonly #queue: T[] = [];
  #running: Promise<void> | undefined;

  constructor(options: BatcherOptions<T>) {
    this.#options = options;
  }

  add(item: T): void {
    this.#queue.push(item);
    this.#running ??= this.#run();
  }

  /** Settles when nothing waits any more; undefined when nothing does. */
  drained(): Promise<void> | undefined {
    return this.#running;
  }

  async #run(): Promise<void> {
    const { maxBatchSize: largest, process: work, waitEachTurn: everyTurn = false } = this.#options;
    // Requests whose bytes are here already get the chance to join.
    await nextTurn();
    while (this.#queue.length > 0) {
      await work(this.#queue.splice(0, largest));
      if (everyTurn && this.#queue.length > 0) await nextTurn();
    }
    this.#running = undefined;
  }
}
