import type { Kysely } from 'kysely';
import { leaseMs } from './claim.ts';
import { isUnreported } from './dead-letters.ts';
import type { JobEnd, Outcome } from './job-end.ts';
import { endAttempt, releaseNext, markDone, removeDone, type Change } from './table.ts';

/** Writes the outcomes of attempts; returns the ids of the new dead letters. */
export async function writeOutcomes(
  transaction: Kysely<any>,
  ends: readonly JobEnd[],
  { owner, now }: { readonly owner: string; readonly now: number },
): Promise<ReadonlySet<number>> {
  const doneJobs = (deletesDone: boolean): readonly number[] =>
    ends.flatMap(({ outcome: { how, row }, kindState: { kind } }) =>
      how === 'done' && (kind.deleteWhenDone === true) === deletesDone ? [row.id] : [],
    );
  await removeDone(transaction, doneJobs(true), owner);
  await markDone(transaction, doneJobs(false), owner, now);
  const dead = new Set<number>();
  for (const end of ends) {
    const { outcome } = end;
    if (outcome.how === 'done') continue;
    const reporter = isUnreported(end) ? { lease_owner: owner, lease_until: now + leaseMs } : {};
    const ended = await endAttempt(transaction, outcome.row, owner, { ...toChange(outcome, now), ...reporter });
    if (ended && outcome.how === 'dead') dead.add(outcome.row.id);
  }
  // Order keys whose first job has ended.
  const freedKeys = ends.filter(
    ({ outcome, isFollowed }) => outcome.row.order_key !== null && isFollowed !== true && leavesOrderKey(outcome),
  );
  for (const [kind, some] of Map.groupBy(freedKeys, ({ outcome }) => outcome.row.kind)) {
    const orderKeys = new Set(some.flatMap(({ outcome }) => outcome.row.order_key ?? []));
    await releaseNext(transaction, kind, [...orderKeys]);
  }
  return dead;
}

function toChange(outcome: Exclude<Outcome, { how: 'done' }>, now: number): Change {
  const { attempts } = outcome.row;
  if (outcome.how === 'dead') return { state: 'dead', attempts, finished_at: now, last_error: outcome.reason };
  // A job claimed by another worker remains with it, unless this worker has claimed it again.
  if (outcome.how !== 'retried') return { state: 'waiting', attempts: attempts - 1 };
  const change: Change = { state: 'waiting', attempts, run_at: outcome.runAt, last_error: outcome.reason };
  return outcome.aside ? { ...change, order_key: null } : change;
}

function leavesOrderKey(outcome: Outcome): boolean {
  return outcome.how === 'done' || outcome.how === 'dead' || (outcome.how === 'retried' && outcome.aside);
}
