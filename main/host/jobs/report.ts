import type { Counter, Log } from '../../../services/contracts/service.ts';
import type { Verdict } from './outcome.ts';
import type { Working } from './kind-state.ts';

/** Tells of an ending once it is stored; `dead` holds the ids of the jobs that are dead letters now. */
export type Report = (working: Working, verdict: Verdict, dead: ReadonlySet<number>) => void;

/** Tells the log, the metrics (`finished` has the labels kind and outcome) and who waits for dead letters. */
export function createReport(log: Log, finished: Counter): Report {
  const callOnDead = async (
    { kind, handling }: Working,
    attempt: Parameters<NonNullable<Working['handling']['onDead']>>[0],
    reason: string,
  ): Promise<void> => {
    try {
      await handling.onDead?.(attempt, reason);
    } catch (error) {
      log.error('what follows a dead letter failed', { kind: kind.name, id: attempt.id, error });
    }
  };

  return (working, verdict, dead) => {
    const { row, how } = verdict;
    if (how === 'returned' || how === 'lost' || (how === 'dead' && !dead.has(row.id))) return;
    const told = { kind: row.kind, id: row.id, attempt: row.attempts };
    if (how === 'retried') {
      working.nextAt = Math.min(working.nextAt, verdict.runAt);
      log.info('a job failed and is tried again', { ...told, runAt: verdict.runAt, error: verdict.error });
    }
    if (how === 'dead') {
      log.warn('a job failed for good', { ...told, error: verdict.error });
      if (verdict.attempt !== undefined) void callOnDead(working, verdict.attempt, verdict.reason);
    }
    finished.inc({ kind: row.kind, outcome: how });
  };
}
