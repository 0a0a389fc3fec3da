import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Context } from '../contracts/service.ts';
import type { Settings } from './settings.ts';
import type { ItemStore, ItemPlace } from './store/items.ts';

const dayMs = 24 * 3600 * 1000;
const batchSize = 500;
/** Minimum number of days for which keys of offers are kept, independent of their rows. */
const minKeyDays = 30;

/** Deletes old rows; runs one pass at a time. */
export class Retention {
  readonly #context: Pick<Context, 'commit' | 'clock' | 'log'>;
  readonly #settings: Readonly<Pick<Settings, 'keepDays'>>;
  readonly #store: ItemStore;
  readonly #onRemoved: (rows: readonly ItemPlace[]) => Promise<unknown>;
  #purging: Promise<void> | undefined;

  /** @param onRemoved Called for each batch of deleted rows */
  constructor(
    context: Pick<Context, 'commit' | 'clock' | 'log'>,
    settings: Readonly<Pick<Settings, 'keepDays'>>,
    store: ItemStore,
    onRemoved: (rows: readonly ItemPlace[]) => Promise<unknown>,
  ) {
    this.#context = context;
    this.#settings = settings;
    this.#store = store;
    this.#onRemoved = onRemoved;
  }

  /** Starts a pass, unless one is running. */
  run(): void {
    this.#purging ??= purge(this.#context, this.#store, this.#settings.keepDays, this.#onRemoved)
      .catch((error: unknown) => this.#context.log.error('inbox purge failed', { error }))
      .finally(() => (this.#purging = undefined));
  }

  /** Resolves when the running pass, if any, has ended. */
  async finished(): Promise<void> {
    await this.#purging;
  }
}

/**
 * Deletes rows older than `keepDays`, one batch per commit, so that other commits run in between. `onRemoved` is called
 * for each batch.
 */
async function purge(
  { commit, clock }: Pick<Context, 'commit' | 'clock'>,
  store: ItemStore,
  keepDays: number,
  onRemoved: (rows: readonly ItemPlace[]) => Promise<unknown>,
): Promise<void> {
  const now = clock.now();
  for (let isFull = true; isFull; await nextTurn()) {
    const rows = await commit((transaction) => store.removeOld(transaction, now - keepDays * dayMs, batchSize));
    if (rows.length > 0) await onRemoved(rows);
    isFull = rows.length === batchSize;
  }
  const keyLimit = now - Math.max(keepDays, minKeyDays) * dayMs;
  while ((await commit((transaction) => store.removeOffers(transaction, keyLimit, batchSize))) === batchSize)
    await nextTurn();
}
