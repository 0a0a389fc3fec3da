import type { Kysely } from 'kysely';
import type { Counter } from '../../../services/contracts/metrics.ts';
import type { Log } from '../../../services/contracts/service.ts';
import type { KindState } from './kind-state.ts';
import type { JobEnd } from './job-end.ts';

/** Lets each kind write the results of its handlers, in the transaction that marks their jobs. */
export async function recordResults(transaction: Kysely<any>, ends: readonly JobEnd[]): Promise<void> {
  for (const [{ handling }, results] of getResults(ends)) await handling.record?.(transaction, results);
}

/**
 * Reports stored ends to the log, the metrics (`finished` has the labels kind and outcome) and subscribers; `dead`
 * contains the ids of the new dead letters.
 */
export function notifyEnds(
  ends: readonly JobEnd[],
  dead: ReadonlySet<number>,
  { log, finished }: { readonly log: Log; readonly finished: Counter },
): void {
  for (const { outcome, kindState } of ends) {
    const { row, how } = outcome;
    if (how === 'returned' || (how === 'dead' && !dead.has(row.id))) continue;
    const fields = { kind: row.kind, id: row.id, attempt: row.attempts };
    if (how === 'retried') {
      log.info('job attempt failed, retry scheduled', {
        event: 'job_retry_scheduled',
        ...fields,
        runAt: outcome.runAt,
        error: outcome.error,
      });
    } else if (how === 'dead' && !(kindState.handling.logsDead === true && outcome.attempt !== undefined)) {
      log.warn('job failed permanently', { event: 'job_failed', ...fields, error: outcome.error });
    }
    finished.inc({ kind: row.kind, outcome: how });
  }
  for (const [{ kind, handling }, results] of getResults(ends)) {
    try {
      handling.onDone?.(results);
    } catch (error) {
      log.error('job completion callback failed', { kind: kind.name, error });
    }
  }
}

function getResults(ends: readonly JobEnd[]): ReadonlyMap<KindState, readonly unknown[]> {
  const group = new Map<KindState, unknown[]>();
  for (const { kindState, outcome } of ends) {
    if (outcome.how !== 'done') continue;
    const existing = group.get(kindState);
    if (existing === undefined) group.set(kindState, [outcome.result]);
    else existing.push(outcome.result);
  }
  return group;
}
