import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Context } from '../contracts/service.ts';
import type { ItemStore, ItemPlace } from './store/items.ts';

const dayMs = 24 * 3600 * 1000;
const batchSize = 500;
/** Minimum number of days for which keys of offers are kept, independent of their rows. */
const minKeyDays = 30;

/**
 * Deletes rows older than `keepDays`, one batch per commit, so that other commits run in between. `onRemoved` is called
 * for each batch.
 */
export async function purge(
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
