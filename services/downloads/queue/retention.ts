import type { Context } from '../../contracts/service.ts';
import { doneStates } from '../domain/item.ts';
import type { Intake } from '../add/intake.ts';
import { endedBefore } from '../store/history.ts';

/** How often it is looked, at most. */
const seldomMs = 30_000;

/** Forgets what has ended so many seconds ago, its files stay; 0: never. */
export function removeEnded(context: Context, intake: Intake, seconds: number): Disposable {
  if (seconds === 0) return { [Symbol.dispose]: () => undefined };
  const clear = async (): Promise<void> => {
    for (;;) {
      const uids = await endedBefore(context.db, context.clock.now() - seconds * 1000);
      if (uids.length === 0 || (await intake.remove(uids, doneStates)) === 0) return;
    }
  };
  return context.clock.every(Math.min(seconds * 1000, seldomMs), () => {
    clear().catch((error: unknown) => context.log.error('the history could not be cleared', { error }));
  });
}
