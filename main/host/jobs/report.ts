import type { Counter, Log } from '../../../services/contracts/service.ts';
import type { Outcome } from './outcome.ts';
import type { KindState } from './kind-state.ts';

/** Tells of an ending once it is stored; `dead` holds the ids of the jobs that are dead letters now. */
export type Report = (kindState: KindState, outcome: Outcome, dead: ReadonlySet<number>) => void;

/** Tells the log, the metrics (`finished` has the labels kind and outcome) and who waits for dead letters. */
export function createReport(log: Log, finished: Counter): Report {
  const callOnDead = async (
    { kind, handling }: KindState,
    attempt: Parameters<NonNullable<KindState['handling']['onDead']>>[0],
    reason: string,
  ): Promise<void> => {
    try {
      await handling.onDead?.(attempt, reason);
    } catch (error) {
      log.error('what follows a dead letter failed', { kind: kind.name, id: attempt.id, error });
    }
  };

  return (kindState, outcome, dead) => {
    const { row, how } = outcome;
    if (how === 'returned' || how === 'lost' || (how === 'dead' && !dead.has(row.id))) return;
    const told = { kind: row.kind, id: row.id, attempt: row.attempts };
    if (how === 'retried') {
      kindState.nextAt = Math.min(kindState.nextAt, outcome.runAt);
      log.info('a job failed and is tried again', { ...told, runAt: outcome.runAt, error: outcome.error });
    }
    if (how === 'dead') {
      log.warn('a job failed for good', { ...told, error: outcome.error });
      if (outcome.attempt !== undefined) void callOnDead(kindState, outcome.attempt, outcome.reason);
    }
    finished.inc({ kind: row.kind, outcome: how });
  };
}
