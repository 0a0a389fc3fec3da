import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Context } from '../contracts/service.ts';
import type { ItemStore, Placed } from './store/items.ts';

const day = 24 * 3600 * 1000;
const batch = 500;
/** Keys of offers are known at least this long, whatever happened to their rows. */
const leastKeyDays = 30;

/** Removes what is older than `keepDays`, a batch a commit, so that others get in between; `removed` hears of each batch. */
export async function purge(
  { commit, clock }: Pick<Context, 'commit' | 'clock'>,
  store: ItemStore,
  keepDays: number,
  removed: (rows: readonly Placed[]) => Promise<unknown>,
): Promise<void> {
  const now = clock.now();
  for (let full = true; full; await nextTurn()) {
    const rows = await commit((transaction) => store.removeOld(transaction, now - keepDays * day, batch));
    if (rows.length > 0) await removed(rows);
    full = rows.length === batch;
  }
  const forgotten = now - Math.max(keepDays, leastKeyDays) * day;
  while ((await commit((transaction) => store.forgetOffers(transaction, forgotten, batch))) === batch) await nextTurn();
}
