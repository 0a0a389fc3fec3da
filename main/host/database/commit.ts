import type { Kysely } from 'kysely';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Context, Log } from '../../../services/contracts/service.ts';
import { createCommitQueue, type Transact } from './commit-queue.ts';

/** What a database offers the group commit. */
export interface Transactions {
  readonly transact: Transact;
  /**
   * Resolves when all that was committed before the call is on the disk. Absent where the commit of a durable transaction
   * waits for that itself, and shows nothing to others before.
   */
  readonly settle?: () => Promise<void>;
}

export interface GroupCommit {
  readonly commit: Context['commit'];
  readonly note: Context['commit'];
  readonly mark: Context['commit'];
  readonly settling: (transaction: Kysely<any>) => Promise<boolean> | undefined;
  /** Refuses new work and resolves when the work at hand is settled. */
  close(): Promise<void>;
}

/**
 * Commits and notes. Where a durable commit settles after its transaction, notes have a queue of their own, and need not
 * stand in line behind the sync of one group and the whole of the next. They resolve only when what they may have seen of
 * the group at hand is on the disk: a job must not run while a power cut could still take back its row, since the next
 * row would get the same id, and keys are made of ids. Marks do not wait for that; who takes something up by a mark asks
 * `settling`.
 */
export function createGroupCommit({ transact, settle }: Transactions, log: Log): GroupCommit {
  const commits = createCommitQueue(transact, log, async (durable) => (durable ? settle?.() : undefined));
  const notes = settle === undefined ? commits : createCommitQueue(transact, log, async () => commits.atHand());
  const marks = settle === undefined ? commits : createCommitQueue(transact, log, async () => undefined);
  let closed = false;
  const open =
    (join: Context['commit']): Context['commit'] =>
    async (work) => {
      if (closed) throw new Problem('database.closed', 503, 'The database is closed; the host is stopping.');
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
