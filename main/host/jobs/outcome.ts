import type { Kysely } from 'kysely';
import type { Attempt, JobKind } from '../../../services/contracts/jobs.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Random } from '../../../services/contracts/service.ts';
import type { Ending } from './attempt.ts';
import { nextAttemptAt, reasonOf } from './retry-policy.ts';
import { endAttempt, letNextGo, markDone, removeDone, type JobRow } from './table.ts';

/** What becomes of a job after an attempt. */
export type Outcome = { readonly row: JobRow } & (
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

export function decideOutcome(kind: JobKind<any>, row: JobRow, ending: Ending, now: number, random: Random): Outcome {
  if (ending.how !== 'failed') return { row, ...ending };
  const { error, attempt } = ending;
  const reason = reasonOf(error);
  const runAt = nextAttemptAt(kind, row, error, now, random);
  return runAt === undefined
    ? { row, how: 'dead', error, reason, attempt }
    : { row, how: 'retried', error, reason, runAt, aside: error instanceof Problem && error.stepsAside };
}

/**
 * Writes the outcomes; returns the ids of the jobs that are dead letters now. `hasHeir`: the one behind this job is known
 * and begins by itself.
 */
export async function writeOutcomes(
  transaction: Kysely<any>,
  outcomes: readonly Outcome[],
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
  const done = outcomes.filter((outcome) => outcome.how === 'done').map(({ row }) => row);
  const [gone = [], kept = []] = [true, false].map((which) =>
    done.filter(({ kind }) => forgets(kind) === which).map(({ id }) => id),
  );
  if (gone.length > 0) await removeDone(transaction, gone, owner);
  if (kept.length > 0) await markDone(transaction, kept, owner, now);
  for (const outcome of outcomes) {
    const { row } = outcome;
    if (outcome.how === 'retried') {
      const change = { state: 'waiting', run_at: outcome.runAt, last_error: outcome.reason } as const;
      await endAttempt(transaction, row, owner, outcome.aside ? { ...change, order_key: null } : change);
    } else if (outcome.how === 'returned' || outcome.how === 'lost') {
      // A lost one is another worker's, and stays his, unless this one claimed it anew meanwhile.
      await endAttempt(transaction, row, owner, { state: 'waiting' });
    } else if (outcome.how === 'dead') {
      const change = { state: 'dead', finished_at: now, last_error: outcome.reason } as const;
      if (await endAttempt(transaction, row, owner, change)) dead.add(row.id);
    }
  }
  for (const [kind, orderKeys] of orderKeysOf(outcomes, hasHeir)) await letNextGo(transaction, kind, [...orderKeys]);
  return dead;
}

/** The order keys that a job has left, by its end or before, whose heir only the table knows; by kind. */
function orderKeysOf(
  outcomes: readonly Outcome[],
  hasHeir: (id: number) => boolean,
): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const outcome of outcomes) {
    const { row } = outcome;
    if (row.order_key === null || !hasLeft(outcome) || hasHeir(row.id)) continue;
    const known = found.get(row.kind);
    if (known === undefined) found.set(row.kind, new Set([row.order_key]));
    else known.add(row.order_key);
  }
  return found;
}

function hasLeft(outcome: Outcome): boolean {
  return outcome.how === 'done' || outcome.how === 'dead' || (outcome.how === 'retried' && outcome.aside);
}
