import type { Kysely } from 'kysely';
import type { Log } from '../../../services/contracts/service.ts';
import { Batcher } from '../../../services/kit/batcher.ts';

type Work<T> = (transaction: Kysely<any>) => Promise<T>;

/** Resolves after the commit. One that is not durable need not be on the disk before a while. */
export type Transact = <T>(work: Work<T>, durable: boolean) => Promise<T>;

/** Callers in line for a transaction; all that wait at the same moment share one. */
export interface CommitQueue {
  /** A group is durable when one of its callers is. */
  join<T>(work: Work<T>, durable: boolean): Promise<T>;
  /** Resolves once the group whose transaction this is was committed and settled, with true, or given up, with false; undefined for any other transaction. */
  settling(transaction: Kysely<any>): Promise<boolean> | undefined;
  /** Settles with the group that is being served, whatever becomes of it. */
  atHand(): Promise<void> | undefined;
  /** Settles when nobody waits any more. */
  drained(): Promise<void> | undefined;
}

interface Caller {
  readonly work: Work<unknown>;
  readonly durable: boolean;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** `repeatable`: nothing was stored, and each work of the group may be tried alone. */
type Outcome = 'committed' | { readonly error: unknown; readonly repeatable: boolean };

/** More than this wait for the next group, so that no caller waits for a group without end. */
const largestGroup = 256;

/** `settle` is awaited after each commit, before the group's callers are answered and the next group begins. */
export function createCommitQueue(
  transact: Transact,
  log: Log,
  settle: (durable: boolean) => Promise<void>,
): CommitQueue {
  const open = new WeakMap<Kysely<any>, Promise<boolean>>();
  let serving: Promise<void> | undefined;

  const serve = async (group: readonly Caller[]): Promise<void> => {
    if (group.length > 1) {
      const outcome = await together(group);
      if (outcome === 'committed') return;
      if (!outcome.repeatable) return refuse(group, outcome.error);
      log.debug('group commit split', { callers: group.length, error: outcome.error });
    }
    for (const [index, caller] of group.entries()) {
      const outcome = await together([caller]);
      if (outcome === 'committed') continue;
      if (!outcome.repeatable) return refuse(group.slice(index), outcome.error);
      caller.reject(outcome.error);
    }
  };

  const refuse = (group: readonly Caller[], error: unknown): void => group.forEach((caller) => caller.reject(error));

  const together = async (group: readonly Caller[]): Promise<Outcome> => {
    const durable = group.some((caller) => caller.durable);
    // What could not even begin would fail once more for each of them, after its time-out.
    let repeatable = false;
    const over = Promise.withResolvers<boolean>();
    try {
      const values = await transact(async (transaction) => {
        repeatable = true;
        open.set(transaction, over.promise);
        const results: unknown[] = [];
        for (const caller of group) results.push(await caller.work(transaction));
        return results;
      }, durable);
      // And what is committed must not be done twice.
      repeatable = false;
      await settle(durable);
      group.forEach((caller, index) => caller.resolve(values[index]));
      over.resolve(true);
      return 'committed';
    } catch (error) {
      over.resolve(false);
      return { error, repeatable };
    }
  };

  const callers = new Batcher<Caller>({
    maxBatchSize: largestGroup,
    waitEachTurn: true,
    async process(group) {
      serving = serve(group);
      await serving;
      serving = undefined;
    },
  });

  return {
    join: <T>(work: Work<T>, durable: boolean) =>
      new Promise<T>((resolve, reject) => {
        callers.add({ work, durable, resolve: resolve as (value: unknown) => void, reject });
      }),
    settling: (transaction) => open.get(transaction),
    atHand: () => serving,
    drained: () => callers.drained(),
  };
}
