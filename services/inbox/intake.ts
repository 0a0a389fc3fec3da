import type { InboxItem } from '../contracts/inbox/api.ts';
import type { Context } from '../contracts/service.ts';
import { Batcher } from '../kit/batcher.ts';
import type { ItemStore, KeyedOffer } from './store/items.ts';

/** Maximum number of offers in one statement. */
const maxBatchSize = 200;

interface PendingOffer extends KeyedOffer {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Stores offers of other services in order of arrival; concurrent offers are written together. */
export class Intake {
  readonly #context: Pick<Context, 'commit' | 'clock'>;
  readonly #store: ItemStore;
  readonly #onAdded: (items: readonly InboxItem[]) => void;
  readonly #pending = new Batcher<PendingOffer>({ maxBatchSize, process: (batch) => this.#writeAll(batch) });

  /** `onAdded` is called after new rows are committed. */
  constructor(
    context: Pick<Context, 'commit' | 'clock'>,
    store: ItemStore,
    onAdded: (items: readonly InboxItem[]) => void,
  ) {
    this.#context = context;
    this.#store = store;
    this.#onAdded = onAdded;
  }

  /** Resolves when the row is committed, or when the key was used before. */
  add(offer: KeyedOffer): Promise<void> {
    return new Promise((resolve, reject) => this.#pending.add({ ...offer, resolve, reject }));
  }

  /** Resolves when no offer is pending. */
  async drained(): Promise<void> {
    await this.#pending.drained();
  }

  /** Writes a batch. When the database refuses it, each offer is written separately. */
  async #writeAll(batch: readonly PendingOffer[]): Promise<void> {
    if (!(await this.#write(batch, batch.length === 1))) for (const single of batch) await this.#write([single], true);
  }

  /** Returns false when nothing was written and callers were not notified. */
  async #write(batch: readonly PendingOffer[], rejectOnError: boolean): Promise<boolean> {
    try {
      const { commit, clock } = this.#context;
      const items = await commit((transaction) => this.#store.add(transaction, batch, clock.now()));
      if (items.size > 0) this.#onAdded([...items.values()]);
      for (const { resolve } of batch) resolve();
      return true;
    } catch (error) {
      if (rejectOnError) for (const { reject } of batch) reject(error);
      return false;
    }
  }
}
