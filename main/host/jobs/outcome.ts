import type { Kysely } from 'kysely';
import type { Attempt, JobKind } from '../../../services/contracts/jobs.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Random } from '../../../services/contracts/service.ts';
import type { Ending } from './attempt.ts';
import { nextAttemptAt, reasonOf } from './retry-policy.ts';
import { endAttempt, letNextGo, markDone, removeDone, type JobRow } from './table.ts';

/** What becomes of a job after an attempt. */
export type Verdict = { readonly row: JobRow } & (
  | { readonly how: 'returned' | 'lost' }
  | { readonly how: 'done'; readonly result: unknown }
  | {
      readonly how: 'retried';
      readonly error: unknown;
      readonly reason: string;
      readonly runAt: number;
      /** It leaves its order key. */
      readonly aside: boolean;
    }
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
    : { row, how: 'retried', error, reason, runAt, aside: error instanceof Problem && error.stepsAside };
}

/**
 * Writes the verdicts; returns the ids of the jobs that are dead letters now. `hasHeir`: the one behind this job is known
 * and begins by itself.
 */
export async function writeVerdicts(
  transaction: Kysely<any>,
  verdicts: readonly Verdict[],
  {
    owner,
    now,
    forgets,
    hasHeir,
  }: {
    readonly owner: string;
    readonly now: number;
    /** Kinds whose done jobs leave no row. */
    readonly forgets: (kind: string) => boolean;
    readonly hasHeir: (id: number) => boolean;
  },
): Promise<ReadonlySet<number>> {
  const dead = new Set<number>();
  const done = verdicts.filter((verdict) => verdict.how === 'done').map(({ row }) => row);
  const [gone = [], kept = []] = [true, false].map((which) =>
    done.filter(({ kind }) => forgets(kind) === which).map(({ id }) => id),
  );
  if (gone.length > 0) await removeDone(transaction, gone, owner);
  if (kept.length > 0) await markDone(transaction, kept, owner, now);
  for (const verdict of verdicts) {
    const { row } = verdict;
    if (verdict.how === 'retried') {
      const change = { state: 'waiting', run_at: verdict.runAt, last_error: verdict.reason } as const;
      await endAttempt(transaction, row, owner, verdict.aside ? { ...change, order_key: null } : change);
    } else if (verdict.how === 'returned' || verdict.how === 'lost') {
      // A lost one is another worker's, and stays his, unless this one claimed it anew meanwhile.
      await endAttempt(transaction, row, owner, { state: 'waiting' });
    } else if (verdict.how === 'dead') {
      const change = { state: 'dead', finished_at: now, last_error: verdict.reason } as const;
      if (await endAttempt(transaction, row, owner, change)) dead.add(row.id);
    }
  }
  for (const [kind, orderKeys] of orderKeysOf(verdicts, hasHeir)) await letNextGo(transaction, kind, [...orderKeys]);
  return dead;
}

/** The order keys that a job has left, by its end or before, whose heir only the table knows; by kind. */
function orderKeysOf(
  verdicts: readonly Verdict[],
  hasHeir: (id: number) => boolean,
): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const verdict of verdicts) {
    const { row } = verdict;
    if (row.order_key === null || !hasLeft(verdict) || hasHeir(row.id)) continue;
    const known = found.get(row.kind);
    if (known === undefined) found.set(row.kind, new Set([row.order_key]));
    else known.add(row.order_key);
  }
  return found;
}

function hasLeft(verdict: Verdict): boolean {
  return verdict.how === 'done' || verdict.how === 'dead' || (verdict.how === 'retried' && verdict.aside);
}
