import type { Kysely } from 'kysely';
import { leaseMs } from './claim.ts';
import { isToTell } from './dead-letters.ts';
import type { JobEnd, Outcome } from './job-end.ts';
import { endAttempt, letNextGo, markDone, removeDone, type Change } from './table.ts';

/** Writes how attempts ended; returns the ids of the jobs that are dead letters now. */
export async function writeOutcomes(
  transaction: Kysely<any>,
  ends: readonly JobEnd[],
  { owner, now }: { readonly owner: string; readonly now: number },
): Promise<ReadonlySet<number>> {
  const done = (forgets: boolean): readonly number[] =>
    ends.flatMap(({ outcome: { how, row }, kindState: { kind } }) =>
      how === 'done' && (kind.deleteWhenDone === true) === forgets ? [row.id] : [],
    );
  await removeDone(transaction, done(true), owner);
  await markDone(transaction, done(false), owner, now);
  const dead = new Set<number>();
  for (const end of ends) {
    const { outcome } = end;
    if (outcome.how === 'done') continue;
    const teller = isToTell(end) ? { lease_owner: owner, lease_until: now + leaseMs } : {};
    const ended = await endAttempt(transaction, outcome.row, owner, { ...changeOf(outcome, now), ...teller });
    if (ended && outcome.how === 'dead') dead.add(outcome.row.id);
  }
  // The order keys that a job has left.
  const left = ends.filter(({ outcome, followed }) => outcome.row.order_key !== null && !followed && hasLeft(outcome));
  for (const [kind, some] of Map.groupBy(left, ({ outcome }) => outcome.row.kind)) {
    const orderKeys = new Set(some.flatMap(({ outcome }) => outcome.row.order_key ?? []));
    await letNextGo(transaction, kind, [...orderKeys]);
  }
  return dead;
}

function changeOf(outcome: Exclude<Outcome, { how: 'done' }>, now: number): Change {
  const { attempts } = outcome.row;
  if (outcome.how === 'dead') return { state: 'dead', attempts, finished_at: now, last_error: outcome.reason };
  // One that another worker has stays his, unless this one claimed it anew meanwhile.
  if (outcome.how !== 'retried') return { state: 'waiting', attempts: attempts - 1 };
  const change: Change = { state: 'waiting', attempts, run_at: outcome.runAt, last_error: outcome.reason };
  return outcome.aside ? { ...change, order_key: null } : change;
}

function hasLeft(outcome: Outcome): boolean {
  return outcome.how === 'done' || outcome.how === 'dead' || (outcome.how === 'retried' && outcome.aside);
}
