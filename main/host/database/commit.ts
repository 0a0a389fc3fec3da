import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Context, Log } from '../../../services/contracts/service.ts';

export interface GroupCommit {
  readonly commit: Context['commit'];
  /** Refuses new work and resolves when the work at hand is settled. */
  close(): Promise<void>;
}

interface Caller {
  readonly work: (transaction: Kysely<any>) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** More than this wait for the next group, so that no caller waits for a group without end. */
const largestGroup = 256;

/** One transaction, hence one fsync, for all callers that wait at the same moment. */
export function createGroupCommit(kysely: Kysely<any>, log: Log): GroupCommit {
  const waiting: Caller[] = [];
  let flushing: Promise<void> | undefined;
  let closed = false;

  const flush = async (): Promise<void> => {
    while (waiting.length > 0) {
      // Requests whose bytes are here already get the chance to join.
      await nextTurn();
      await settle(waiting.splice(0, largestGroup));
    }
    flushing = undefined;
  };

  const settle = async (group: readonly Caller[]): Promise<void> => {
    if (group.length > 1) {
      const outcome = await together(group);
      if (outcome === 'committed') return;
      // What could not even begin would fail once more for each of them, after its time-out.
      if (!outcome.begun) return void group.forEach((caller) => caller.reject(outcome.error));
      log.debug('group commit split', { callers: group.length, error: outcome.error });
    }
    for (const [index, caller] of group.entries()) {
      const outcome = await together([caller]);
      if (outcome === 'committed') continue;
      if (!outcome.begun) return void group.slice(index).forEach((unserved) => unserved.reject(outcome.error));
      caller.reject(outcome.error);
    }
  };

  const together = async (group: readonly Caller[]): Promise<'committed' | { begun: boolean; error: unknown }> => {
    let begun = false;
    try {
      const values = await kysely.transaction().execute(async (transaction) => {
        begun = true;
        const results: unknown[] = [];
        for (const caller of group) results.push(await caller.work(transaction));
        return results;
      });
      group.forEach((caller, index) => caller.resolve(values[index]));
      return 'committed';
    } catch (error) {
      return { begun, error };
    }
  };

  return {
    commit: <T>(work: (transaction: Kysely<any>) => Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        if (closed) return reject(new Problem('database.closed', 503, 'The database is closed; the host is stopping.'));
        waiting.push({ work, resolve: resolve as (value: unknown) => void, reject });
        flushing ??= flush();
      }),
    async close() {
      closed = true;
      await flushing;
    },
  };
}
