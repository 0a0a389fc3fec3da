import type { Kysely } from 'kysely';
import type { Attempt, JobKind } from '../../../services/contracts/jobs.ts';
import type { Random } from '../../../services/contracts/service.ts';
import type { Ending } from './attempt.ts';
import { nextAttemptAt, reasonOf } from './failure.ts';
import { endAttempt, letNextGo, markDone, type JobRow } from './table.ts';

/** What becomes of a job after an attempt. */
export type Verdict = { readonly row: JobRow } & (
  | { readonly how: 'returned' | 'lost' }
  | { readonly how: 'done'; readonly result: unknown }
  | { readonly how: 'retried'; readonly error: unknown; readonly reason: string; readonly runAt: number }
  | {
      readonly how: 'dead';
      readonly error: unknown;
      readonly reason: string;
      readonly attempt: Omit<Attempt<any>, 'signal'> | undefined;
    }
);

export function judge(kind: JobKind<any>, row: JobRow, ending: Ending, now: number, random: Random): Verdict {
  if (ending.how !== 'failed') return { row, ...ending };
  const { error, attempt } = ending;
  const reason = reasonOf(error);
  const runAt = nextAttemptAt(kind, row, error, now, random);
  return runAt === undefined
    ? { row, how: 'dead', error, reason, attempt }
    : { row, how: 'retried', error, reason, runAt };
}

/** Writes the verdicts; returns the ids of the jobs that are dead letters now. */
export async function writeVerdicts(
  transaction: Kysely<any>,
  verdicts: readonly Verdict[],
  owner: string,
  now: number,
): Promise<ReadonlySet<number>> {
  const dead = new Set<number>();
  const done = verdicts.filter((verdict) => verdict.how === 'done').map((verdict) => verdict.row.id);
  if (done.length > 0) await markDone(transaction, done, owner, now);
  for (const verdict of verdicts) {
    const { id, attempts } = verdict.row;
    if (verdict.how === 'retried') {
      await endAttempt(transaction, id, owner, { state: 'waiting', run_at: verdict.runAt, last_error: verdict.reason });
    } else if (verdict.how === 'returned' || verdict.how === 'lost') {
      // A lost one is another worker's, and stays his, unless this one claimed it anew meanwhile.
      await endAttempt(transaction, id, owner, { state: 'waiting', attempts: attempts - 1 });
    } else if (verdict.how === 'dead') {
      const change = { state: 'dead', finished_at: now, last_error: verdict.reason } as const;
      if (await endAttempt(transaction, id, owner, change)) dead.add(id);
    }
  }
  for (const [kind, orderKeys] of orderKeysOf(verdicts)) await letNextGo(transaction, kind, [...orderKeys]);
  return dead;
}

/** The order keys in which a job came to its end, by kind. */
function orderKeysOf(verdicts: readonly Verdict[]): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const { how, row } of verdicts) {
    if (row.order_key === null || (how !== 'done' && how !== 'dead')) continue;
    const known = found.get(row.kind);
    if (known === undefined) found.set(row.kind, new Set([row.order_key]));
    else known.add(row.order_key);
  }
  return found;
}
