import type { Kysely } from 'kysely';
import { claimJobs } from './claim.ts';
import { giveBackUnknown } from './leases.ts';
import { recordResults, type Ended } from './results.ts';
import type { Slots } from './slots.ts';
import { adopt, letAllFirstGo, nextRunAt, type JobRow } from './table.ts';
import { leaseMs } from './upkeep.ts';
import { writeOutcomes } from './outcome.ts';
import type { KindState } from './kind-state.ts';

/** What a worker wants of the table in one transaction. */
export interface Flush {
  readonly owner: string;
  readonly ended: readonly Ended[];
  /** Kinds that may have due jobs; undefined where nothing is to begin any more. */
  readonly asks: ReadonlySet<KindState> | undefined;
  /** Jobs that were begun without a claim and are to be shown as running. */
  readonly late: readonly number[];
  /** Some order key may hold back its first job. */
  readonly stranded: boolean;
  /** All ids this worker knows of, where the last turn seemed to fail and may be stored all the same. */
  readonly known: (() => readonly number[]) | undefined;
  readonly hasHeir: (id: number) => boolean;
  /** Another job of the order key of this one is under way here. */
  readonly isBehind: (row: JobRow) => boolean;
}

/** The jobs of a kind that were claimed; `all`: there are no more that are due. */
export interface Claim {
  readonly kindState: KindState;
  readonly rows: readonly JobRow[];
  readonly all: boolean;
}

/** What a turn brought. `next`: by kind, when the next job falls due, for those that were asked. */
export interface Flushed {
  readonly dead: ReadonlySet<number>;
  readonly claims: readonly Claim[];
  readonly next: ReadonlyMap<string, number>;
}

/** Writes what ended and claims for the slots that are free; may be called again after a transaction that was given up. */
export async function flush(
  transaction: Kysely<any>,
  dialect: 'sqlite' | 'postgres',
  kinds: ReadonlyMap<string, KindState>,
  { owner, ended, asks, late, stranded, known, hasHeir, isBehind }: Flush,
  { slots, now }: { readonly slots: Slots; readonly now: number },
): Promise<Flushed> {
  slots.giveBack();
  if (known !== undefined) await giveBackUnknown(transaction, owner, known());
  const outcomes = ended.map(({ outcome }) => outcome);
  const forgets = (kind: string): boolean => kinds.get(kind)?.kind.forgetDone === true;
  const dead = await writeOutcomes(transaction, outcomes, { owner, now, forgets, hasHeir });
  await recordResults(transaction, ended);
  if (stranded) await letAllFirstGo(transaction);
  const leaseUntil = now + leaseMs;
  if (late.length > 0) await adopt(transaction, late, { owner, until: leaseUntil });
  // Whatever came of one of an order key, another of it may be due now.
  const inOrder = outcomes.filter(({ row }) => row.order_key !== null && !hasHeir(row.id));
  const freed = new Set(inOrder.map(({ row }) => row.kind));
  const claims: Claim[] = [];
  for (const kindState of asks === undefined ? [] : kinds.values()) {
    if (!asks?.has(kindState) && !freed.has(kindState.kind.name)) continue;
    const limit = slots.take(kindState);
    const ask = { kind: kindState.kind.name, limit, now, owner, leaseUntil, isBehind };
    const rows = limit === 0 ? [] : await claimJobs(transaction, dialect, ask);
    claims.push({ kindState, rows, all: rows.length < limit });
  }
  const unsure = claims.filter(({ kindState, rows, all }) => all && (kindState.askNext || rows.length === 0));
  const next = await nextRunAt(
    transaction,
    unsure.map(({ kindState }) => kindState.kind.name),
    now,
  );
  return { dead, claims, next };
}
