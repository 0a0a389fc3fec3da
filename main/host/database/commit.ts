import * as m from '#messages/host-problems';
import type { Kysely } from 'kysely';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Context, Log } from '../../../services/contracts/service.ts';
import { createCommitQueue, type Transact } from './commit-queue.ts';

/** Transactions of a database as the group commit uses them. */
export interface Transactions {
  readonly transact: Transact;
  /**
   * Resolves when everything committed before the call is on the disk. Absent when the commit of a durable
   * transaction waits for the disk itself and is invisible to others before.
   */
  readonly settle?: () => Promise<void>;
}

export interface GroupCommit {
  readonly commit: Context['commit'];
  readonly note: Context['commit'];
  readonly mark: Context['commit'];
  readonly settling: (transaction: Kysely<any>) => Promise<boolean> | undefined;
  /** Refuses new work and resolves when the current work is settled. */
  close(): Promise<void>;
}

/**
 * Creates the group commit. When a durable commit settles after its transaction, notes have a separate queue, so
 * that they need not wait for the sync of one group and the whole next one. Notes resolve only when everything they
 * may have read of the current group is on the disk: a job must not run while a power failure could still remove its
 * row, since the next row would get the same id, and keys are derived from ids. Marks do not wait for that; readers
 * of a mark call `settling`.
 */
export function createGroupCommit({ transact, settle }: Transactions, log: Log): GroupCommit {
  const commits = createCommitQueue(transact, log, async (durable) => (durable ? settle?.() : undefined));
  const notes = settle === undefined ? commits : createCommitQueue(transact, log, async () => commits.current());
  const marks = settle === undefined ? commits : createCommitQueue(transact, log, async () => undefined);
  let closed = false;
  const open =
    (join: Context['commit']): Context['commit'] =>
    async (work) => {
      if (closed) throw new Problem('database.closed', 503, m.databaseClosed);
      return join(work);
    };
  return {
    commit: open((work) => commits.join(work, true)),
    note: open((work) => notes.join(work, false)),
    mark: open((work) => marks.join(work, false)),
    settling: (transaction) => commits.settling(transaction),
    async close() {
      closed = true;
      await Promise.all([commits.drained(), notes.drained(), marks.drained()]);
    },
  };
}
