import type { InboxItem } from '../contracts/inbox/api.ts';
import type { Context } from '../contracts/service.ts';
import { Batcher } from '../kit/batcher.ts';
import type { ItemStore, Offered } from './store/items.ts';

/** Offers that one statement takes at most. */
const largestBatch = 200;

interface Waiting extends Offered {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Takes in what other services hand over, in the order it comes; what came together is written together. */
export class Intake {
  readonly #context: Pick<Context, 'commit' | 'clock'>;
  readonly #store: ItemStore;
  readonly #added: (items: readonly InboxItem[]) => void;
  readonly #waiting = new Batcher<Waiting>({ maxBatchSize: largestBatch, process: (batch) => this.#writeAll(batch) });

  /** `added` hears of new rows once they are committed. */
  constructor(
    context: Pick<Context, 'commit' | 'clock'>,
    store: ItemStore,
    added: (items: readonly InboxItem[]) => void,
  ) {
    this.#context = context;
    this.#store = store;
    this.#added = added;
  }

  /** Resolves once the row is committed, or the key was taken before. */
  take(offered: Offered): Promise<void> {
    return new Promise((resolve, reject) => this.#waiting.add({ ...offered, resolve, reject }));
  }

  /** Resolves when nothing waits to be written. */
  async settled(): Promise<void> {
    await this.#waiting.drained();
  }

  /** One that the database refuses takes the others with it, and each gets a chance of its own. */
  async #writeAll(batch: readonly Waiting[]): Promise<void> {
    if (!(await this.#write(batch, batch.length === 1))) for (const one of batch) await this.#write([one], true);
  }

  /** False when nothing was written and nobody was told so. */
  async #write(batch: readonly Waiting[], tell: boolean): Promise<boolean> {
    try {
      const { commit, clock } = this.#context;
      const items = await commit((transaction) => this.#store.add(transaction, batch, clock.now()));
      if (items.size > 0) this.#added([...items.values()]);
      for (const { resolve } of batch) resolve();
      return true;
    } catch (error) {
      if (tell) for (const { reject } of batch) reject(error);
      return false;
    }
  }
}
