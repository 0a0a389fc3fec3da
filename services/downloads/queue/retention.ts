import type { Context } from '../../contracts/service.ts';
import { doneStates } from '../domain/item.ts';
import { findEndedBefore } from '../store/history.ts';

/** Shortest interval between two checks. */
const minIntervalMs = 30_000;

/** Deletes downloads in one of the states from the history, and returns their number. */
type RemoveDownloads = (uids: readonly string[], states: typeof doneStates) => Promise<number>;

/**
 * Deletes downloads from the history that ended the given number of seconds ago; their files remain. With 0, nothing is
 * deleted.
 */
export function startRetention(context: Context, remove: RemoveDownloads, seconds: number): Disposable {
  if (seconds === 0) return { [Symbol.dispose]: () => undefined };
  const deleteExpired = async (): Promise<void> => {
    for (;;) {
      const uids = await findEndedBefore(context.db, context.clock.now() - seconds * 1000);
      if (uids.length === 0 || (await remove(uids, doneStates)) === 0) return;
    }
  };
  return context.clock.every(Math.min(seconds * 1000, minIntervalMs), () => {
    deleteExpired().catch((error: unknown) => context.log.error('history retention failed', { error }));
  });
}
