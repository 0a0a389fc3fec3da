import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Context } from '../../contracts/service.ts';
import type { Search } from '../search/search.ts';
import type { MessageStore } from '../store/messages.ts';

const batch = 500;
/** Longer than any sender keeps a job that would offer a key again. Seconds. */
const keysKept = 30 * 24 * 3600;

/** Removes what has expired and what the inbox has `taken` up to a number, a batch a commit, so that publishing goes on in between. */
export async function removeExpiredMessages(
  { commit, clock }: Pick<Context, 'commit' | 'clock'>,
  store: MessageStore,
  search: Pick<Search, 'remove'>,
  taken: () => number,
): Promise<void> {
  const now = Math.floor(clock.now() / 1000);
  const removeAll = async (
    remove: (transaction: Parameters<Parameters<Context['commit']>[0]>[0]) => Promise<number>,
  ) => {
    while ((await commit(remove)) === batch) await nextTurn();
  };
  await removeAll(async (transaction) => {
    const seqs = await store.removeExpired(transaction, now, batch, taken());
    await search.remove(transaction, seqs);
    return seqs.length;
  });
  await removeAll((transaction) => store.forgetOffers(transaction, now - keysKept, batch));
}
