import { setImmediate as nextTurn } from 'node:timers/promises';
import { runOutsideRequests } from './language.ts';

/** Limits and function of a batcher. */
export interface BatcherOptions<T> {
  /** Maximum number of items in a batch, so that no item waits indefinitely. */
  readonly maxBatchSize: number;
  /** Processes a batch in order of arrival; the next batch starts after it resolves. Must not reject. */
  readonly process: (batch: readonly T[]) => Promise<void>;
  /** Also waits for the end of the event loop turn between batches. Default: only before the first batch. */
  readonly waitEachTurn?: boolean;
}

/**
 * Collects items of the same event loop turn, and items that arrive while a batch is processed, into the next batch.
 * Processes one batch at a time.
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
    // A batch has items of several requests.
    this.#running ??= runOutsideRequests(() => this.#run());
  }

  /** Settles when the queue is empty; undefined when it already is. */
  drained(): Promise<void> | undefined {
    return this.#running;
  }

  async #run(): Promise<void> {
    const { maxBatchSize: largest, process: work, waitEachTurn: everyTurn = false } = this.#options;
    // Lets requests join whose bytes have already arrived.
    await nextTurn();
    while (this.#queue.length > 0) {
      await work(this.#queue.splice(0, largest));
      if (everyTurn && this.#queue.length > 0) await nextTurn();
    }
    this.#running = undefined;
  }
}
