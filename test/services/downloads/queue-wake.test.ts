import { expect, it } from 'vitest';
import { Queue } from '../../../services/downloads/queue/queue.ts';
import { ActiveRuns } from '../../../services/downloads/run/active-runs.ts';
import { createFakeClock } from '../../support/clock.ts';
import { silentLog } from '../../support/database-location.ts';

type Dependencies = ConstructorParameters<typeof Queue>[0];

/** Opens a queue whose table queries end on request of the test, each without a result. */
function openQueue() {
  const polls: PromiseWithResolvers<undefined>[] = [];
  const commit = (): Promise<undefined> => {
    const firstPoll = Promise.withResolvers<undefined>();
    polls.push(firstPoll);
    return firstPoll.promise;
  };
  const parts = {
    context: { clock: createFakeClock(), commit, log: silentLog },
    settings: { mode: 'concurrent', maxConcurrent: 2 },
    ...{ engine: { missing: undefined }, runs: new ActiveRuns(), isOpen: () => true },
  };
  return { queue: new Queue(parts as unknown as Dependencies), looks: polls };
}

it.each(Array.from({ length: 12 }, (_, turns) => turns))(
  'checks again when it is woken %i turns after an empty check',
  async (turns) => {
    const { queue, looks: polls } = openQueue();
    queue.wake();
    polls[0]?.resolve(undefined);
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    queue.wake();
    await expect.poll(() => polls.length).toBe(2);
    polls[1]?.resolve(undefined);
    await queue[Symbol.asyncDispose]();
  },
);
