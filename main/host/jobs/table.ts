import { sql, type Kysely } from 'kysely';

/** The columns a worker needs of a claimed job. Times are ms since the epoch. */
export interface JobRow {
  readonly id: number;
  readonly kind: string;
  readonly job_key: string | null;
  readonly order_key: string | null;
  readonly payload: string;
  /** Counts the attempt that begins with the claim. */
  readonly attempts: number;
  readonly created_at: number;
  readonly run_at: number;
}

export interface NewJob {
  readonly kind: string;
  readonly key: string | undefined;
  readonly orderKey: string | undefined;
  readonly payload: string;
  readonly createdAt: number;
  readonly runAt: number;
}

/** A job that was written. `held`: 1 behind another of its order key. */
export interface InsertedJob {
  readonly id: number;
  readonly held: number;
  readonly run_at: number;
}

/** Writes the jobs in one statement; returns those whose key was free. */
export async function insertJobs(db: Kysely<any>, jobs: readonly NewJob[]): Promise<readonly InsertedJob[]> {
  const orderKeys = new Set<string>();
  const rows = jobs.map(({ kind, key, orderKey, payload, createdAt, runAt }) => {
    const first = orderKey !== undefined && !orderKeys.has(orderKey);
    if (orderKey !== undefined) orderKeys.add(orderKey);
    const held = first ? behindAnother(kind, orderKey) : orderKey === undefined ? 0 : 1;
    return {
      kind,
      job_key: key ?? null,
      order_key: orderKey ?? null,
      held,
      payload,
      created_at: createdAt,
      run_at: runAt,
    };
  });
  const inserted: InsertedJob[] = await db
    .insertInto('jobs')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['kind', 'job_key']).doNothing())
    .returning(['id', 'held', 'run_at'])
    .execute();
  const kind = jobs[0]?.kind;
  // The first of an order key may be one that was there already, and perhaps done: the others must not wait for it.
  const mayGo = kind !== undefined && inserted.length < jobs.length && orderKeys.size > 0;
  if (!mayGo) return inserted;
  await letNextGo(db, kind, [...orderKeys]);
  return inserted.map((job) => ({ ...job, held: 0 }));
}

function behindAnother(kind: string, orderKey: string) {
  return sql<number>`case when exists (select 1 from jobs as earlier where earlier.kind = ${kind}
    and earlier.order_key = ${orderKey} and earlier.state in ('waiting', 'running')) then 1 else 0 end`;
}

/** The id under which a key is stored. */
export async function findByKey(db: Kysely<any>, kind: string, key: string): Promise<number | undefined> {
  const row = await db
    .selectFrom('jobs')
    .select('id')
    .where('kind', '=', kind)
    .where('job_key', '=', key)
    .executeTakeFirst();
  return (row as { id: number } | undefined)?.id;
}

/** Shows the first active job of each of these order keys to the claims. */
export async function letNextGo(db: Kysely<any>, kind: string, orderKeys: readonly string[]): Promise<void> {
  // A chain has one; a list makes SQLite build a table for it, which costs more than the rest.
  const first =
    orderKeys.length === 1
      ? sql`= (select min(id) from jobs where kind = ${kind} and order_key = ${orderKeys[0]}
          and state in ('waiting', 'running'))`
      : sql`in (select min(id) from jobs where kind = ${kind} and order_key in (${sql.join(orderKeys)})
          and state in ('waiting', 'running') group by order_key)`;
  await sql`update jobs set held = 0 where held = 1 and id ${first}`.execute(db);
}

/**
 * The same for all order keys at once. Two transactions on PostgreSQL that do not see each other, one adding a job and
 * one ending its predecessor, leave a job held behind nothing; this finds it.
 */
export async function letAllFirstGo(db: Kysely<any>): Promise<void> {
  await sql`update jobs set held = 0 where state = 'waiting' and held = 1 and id in (select min(id) from jobs
    where order_key is not null and state in ('waiting', 'running') group by kind, order_key)`.execute(db);
}

/** When the next job of each kind falls due. */
export async function nextRunAt(db: Kysely<any>, kinds: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const next = new Map<string, number>();
  for (const kind of kinds) {
    const { rows } = await sql<{ run_at: number | null }>`select min(run_at) as run_at from jobs
      where state = 'waiting' and held = 0 and kind = ${kind}`.execute(db);
    const runAt = rows[0]?.run_at;
    if (typeof runAt === 'number') next.set(kind, runAt);
  }
  return next;
}

/**
 * Marks jobs as done and forgets their payloads, which may hold secrets. The rows stay for their keys. One that waits
 * again lost its claim, as when a server of PostgreSQL crashed, and is done all the same.
 */
export async function markDone(db: Kysely<any>, ids: readonly number[], owner: string, now: number): Promise<void> {
  await db
    .updateTable('jobs')
    .set({ state: 'done', payload: 'null', finished_at: now, lease_owner: null, lease_until: null, last_error: null })
    .where('id', 'in', ids)
    .where((either) => either.or([either('lease_owner', '=', owner), either('state', '=', 'waiting')]))
    .execute();
}

/** Ends an attempt that did not succeed. False when the lease was lost meanwhile, and nothing was changed. */
export async function endAttempt(
  db: Kysely<any>,
  id: number,
  owner: string,
  change:
    | { readonly state: 'waiting'; readonly run_at: number; readonly last_error: string }
    | { readonly state: 'dead'; readonly finished_at: number; readonly last_error: string }
    | { readonly state: 'waiting'; readonly attempts: number },
): Promise<boolean> {
  const ended = await db
    .updateTable('jobs')
    .set({ ...change, lease_owner: null, lease_until: null })
    .where('id', '=', id)
    .where('state', '=', 'running')
    .where('lease_owner', '=', owner)
    .returning('id')
    .execute();
  return ended.length > 0;
}
