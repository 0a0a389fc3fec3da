import { setImmediate as nextTurn } from 'node:timers/promises';
import type { InboxItem } from '../contracts/inbox/api.ts';
import type { Context } from '../contracts/service.ts';
import type { ItemStore, Offered } from './store/items.ts';

/** Offers that one statement takes at most. */
const largestBatch = 200;

interface Waiting extends Offered {
  readonly resolve: (item: InboxItem | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Takes offers in, in the order they come; those that came together are written together. */
export class Intake {
  readonly #context: Pick<Context, 'commit' | 'clock'>;
  readonly #store: ItemStore;
  readonly #waiting: Waiting[] = [];
  #flushing: Promise<void> | undefined;

  constructor(context: Pick<Context, 'commit' | 'clock'>, store: ItemStore) {
    this.#context = context;
    this.#store = store;
  }

  /** Resolves once the row is committed; undefined when the key was taken before. */
  take(offered: Offered): Promise<InboxItem | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...offered, resolve, reject });
      this.#flushing ??= this.#flush();
    });
  }

  /** Resolves when nothing waits to be written. */
  async settled(): Promise<void> {
    await this.#flushing;
  }

  async #flush(): Promise<void> {
    await nextTurn();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, largestBatch);
      // One that the database refuses takes the others with it, and each gets a chance of its own.
      if (!(await this.#write(batch, batch.length === 1))) for (const one of batch) await this.#write([one], true);
    }
    this.#flushing = undefined;
  }

  /** False when nothing was written and nobody was told so. */
  async #write(batch: readonly Waiting[], tell: boolean): Promise<boolean> {
    try {
      const { commit, clock } = this.#context;
      const items = await commit((transaction) => this.#store.add(transaction, batch, clock.now()));
      const told = new Set<string>();
      for (const { key, resolve } of batch) {
        resolve(told.has(key) ? undefined : items.get(key));
        told.add(key);
      }
      return true;
    } catch (error) {
      if (tell) for (const { reject } of batch) reject(error);
      return false;
    }
  }
}
