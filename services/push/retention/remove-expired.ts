import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Context } from '../../contracts/service.ts';
import type { Search } from '../search/search.ts';
import type { MessageStore } from '../store/messages.ts';

const batch = 500;
/** Seconds that publication keys are remembered. Longer than any sender retries a job with the same key. */
const keyRetentionSeconds = 30 * 24 * 3600;

/**
 * Deletes expired messages that the inbox no longer needs, one batch per commit so that publishing continues in
 * between. `inboxCursor` returns the number of the last message that the inbox has read.
 */
export async function removeExpiredMessages(
  { commit, clock }: Pick<Context, 'commit' | 'clock'>,
  store: MessageStore,
  search: Pick<Search, 'remove'>,
  inboxCursor: () => number,
): Promise<void> {
  const now = Math.floor(clock.now() / 1000);
  const removeInBatches = async (
    removeBatch: (transaction: Parameters<Parameters<Context['commit']>[0]>[0]) => Promise<number>,
  ) => {
    while ((await commit(removeBatch)) === batch) await nextTurn();
  };
  await removeInBatches(async (transaction) => {
    const seqs = await store.removeExpired(transaction, now, batch, inboxCursor());
    await search.remove(transaction, seqs);
    return seqs.length;
  });
  await removeInBatches((transaction) => store.removeOffers(transaction, now - keyRetentionSeconds, batch));
}
