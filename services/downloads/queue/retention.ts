import type { Context } from '../../contracts/service.ts';
import { doneStates } from '../domain/item.ts';
import type { Intake } from '../add/intake.ts';
import { findEndedBefore } from '../store/history.ts';

/** Shortest interval between two checks. */
const minIntervalMs = 30_000;

/**
 * Deletes downloads from the history that ended the given number of seconds ago; their files remain. With 0, nothing is
 * deleted.
 */
export function startRetention(context: Context, intake: Intake, seconds: number): Disposable {
  if (seconds === 0) return { [Symbol.dispose]: () => undefined };
  const deleteExpired = async (): Promise<void> => {
    for (;;) {
      const uids = await findEndedBefore(context.db, context.clock.now() - seconds * 1000);
      if (uids.length === 0 || (await intake.remove(uids, doneStates)) === 0) return;
    }
  };
  return context.clock.every(Math.min(seconds * 1000, minIntervalMs), () => {
    deleteExpired().catch((error: unknown) => context.log.error('history retention failed', { error }));
  });
}
