import { sql, type Kysely } from 'kysely';
import { executeCached, chunkRows } from '../../../services/kit/cached-statement.ts';

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

/** The columns of a `JobRow`. */
export const columns = sql`id, kind, job_key, order_key, payload, attempts, created_at, run_at`;

export interface NewJob {
  readonly key?: string | undefined;
  readonly orderKey?: string | undefined;
  readonly payload: string;
  readonly runAt: number;
}

/** A job that was written, as its first claim would read it. */
export interface InsertedJob {
  readonly row: JobRow;
  /** It waits behind another of its order key. */
  readonly held: boolean;
}

/** Writes jobs of a kind in one statement; returns those whose key was free, in their order. */
export async function insertJobs(
  db: Kysely<any>,
  kind: string,
  jobs: readonly NewJob[],
  now: number,
): Promise<readonly InsertedJob[]> {
  const orderKeys = new Set<string>();
  const rows = jobs.map(({ key = null, orderKey = null, payload, runAt }) => {
    const isLater = orderKey !== null && orderKeys.has(orderKey);
    if (orderKey !== null) orderKeys.add(orderKey);
    return [kind, key, orderKey, isLater ? 1 : 0, kind, orderKey, payload, now, runAt] as const;
  });
  const build = () => {
    const values = rows.map(
      ([kind, key, orderKey, isLater, ofKind, ofOrderKey, payload, createdAt, runAt]) =>
        sql`(${kind}, ${key}, ${orderKey}, case when ${isLater} = 1 or exists (select 1 from jobs as earlier
          where earlier.kind = ${ofKind} and earlier.order_key = ${ofOrderKey} and earlier.state in ('waiting', 'running'))
          then 1 else 0 end, ${payload}, ${createdAt}, ${runAt})`,
    );
    return sql<{ id: number; held: number }>`insert into jobs
      (kind, job_key, order_key, held, payload, created_at, run_at) values ${sql.join(values)}
      on conflict (kind, job_key) do nothing returning id, held`.compile(db);
  };
  const { rows: returned } = await executeCached(db, `jobs.insert ${String(rows.length)}`, rows.flat(), build);
  // Ids are given in the order of the rows, and no dialect promises one for what is returned.
  const inserted = [...returned].sort((a, b) => a.id - b.id);
  if (inserted.length === jobs.length) {
    return jobs.map(({ key = null, orderKey = null, payload, runAt }, at) => {
      const { id = 0, held } = inserted[at] ?? {};
      const keys = { job_key: key, order_key: orderKey };
      return { row: { id, kind, ...keys, payload, attempts: 1, created_at: now, run_at: runAt }, held: held === 1 };
    });
  }
  // The first of an order key may be one that was there already, and perhaps done: the others must not wait for it.
  if (orderKeys.size > 0) await letNextGo(db, kind, [...orderKeys]);
  const written = await readActive(
    db,
    inserted.map(({ id }) => id),
  );
  return written.map(({ held, ...row }) => ({ row: { ...row, attempts: 1 }, held: held === 1 }));
}

/** Reads those of these jobs that wait or run, by their ids. */
export async function readActive(
  db: Kysely<any>,
  ids: readonly number[],
): Promise<readonly (JobRow & { readonly held: number })[]> {
  const found = [];
  for (const some of chunkRows(ids)) {
    const { rows } = await sql<JobRow & { held: number }>`select ${columns}, held from jobs
      where id in (${sql.join(some)}) and state in ('waiting', 'running') order by id`.execute(db);
    found.push(...rows);
  }
  return found;
}

/** The id under which a key is stored. */
export async function findByKey(db: Kysely<any>, kind: string, key: string): Promise<number | undefined> {
  const { rows } = await sql<{ id: number }>`select id from jobs where kind = ${kind} and job_key = ${key}`.execute(db);
  return rows[0]?.id;
}

/** Shows the first active job of each of these order keys to the claims. */
export async function letNextGo(db: Kysely<any>, kind: string, orderKeys: readonly string[]): Promise<void> {
  for (const some of chunkRows(orderKeys)) {
    // A chain has one; a list makes SQLite build a table for it, which costs more than the rest.
    const first = () =>
      some.length === 1
        ? sql`= (select min(id) from jobs where kind = ${kind} and order_key = ${some[0]}
            and state in ('waiting', 'running'))`
        : sql`in (select min(id) from jobs where kind = ${kind} and order_key in (${sql.join(some)})
            and state in ('waiting', 'running') group by order_key)`;
    const build = () => sql<never>`update jobs set held = 0 where held = 1 and id ${first()}`.compile(db);
    await executeCached(db, `jobs.next ${String(some.length)}`, [kind, ...some], build);
  }
}

/**
 * The same for all order keys at once. Two transactions on PostgreSQL that do not see each other, one adding a job and
 * one ending its predecessor, leave a job held behind nothing; so does a process that is killed. This finds it.
 */
export async function letAllFirstGo(db: Kysely<any>): Promise<void> {
  await sql`update jobs set held = 0 where state = 'waiting' and held = 1 and id in (select min(id) from jobs
    where order_key is not null and state in ('waiting', 'running') group by kind, order_key)`.execute(db);
}

/**
 * When the next job of a kind falls due; Infinity where there is none. What is due already and was not claimed waits for
 * another of its order key, whose end has the claims look again.
 */
export async function nextRunAt(db: Kysely<any>, kind: string, now: number): Promise<number> {
  const build = () =>
    sql<{ run_at: number | null }>`select min(run_at) as run_at from jobs
      where state = 'waiting' and held = 0 and kind = ${kind} and run_at > ${now}`.compile(db);
  const { rows } = await executeCached(db, 'jobs.alarm', [kind, now], build);
  return rows[0]?.run_at ?? Infinity;
}

/**
 * Jobs that may be ended: the owner's, and those that wait. Of these some were begun without a claim, others lost theirs,
 * as when a server of PostgreSQL crashed. The state stands in the text: a value bound there makes SQLite prepare the
 * statement anew each time, since a partial index may serve one value and not another.
 */
function endable(owner: string) {
  return sql<boolean>`(lease_owner = ${owner} or state = 'waiting')`;
}

/** Marks jobs as done and forgets their payloads, which may hold secrets. The rows stay for their keys. */
export async function markDone(db: Kysely<any>, ids: readonly number[], owner: string, now: number): Promise<void> {
  if (ids.length === 0) return;
  await sql`update jobs set state = 'done', attempts = case when state = 'waiting' then attempts + 1 else attempts end,
    payload = 'null', finished_at = ${now}, lease_owner = null, lease_until = null, last_error = null
    where id in (${sql.join(ids)}) and ${endable(owner)}`.execute(db);
}

/** Takes the rows of jobs away that are done, for kinds whose keys need not be known any longer. */
export async function removeDone(db: Kysely<any>, ids: readonly number[], owner: string): Promise<void> {
  for (const some of chunkRows(ids)) {
    const build = () => sql<never>`delete from jobs where id in (${sql.join(some)}) and ${endable(owner)}`.compile(db);
    await executeCached(db, `jobs.done ${String(some.length)}`, [...some, owner], build);
  }
}

/** What becomes of a job whose attempt did not succeed; `attempts` counts it, unless it was given back. */
export interface Change {
  readonly state: 'waiting' | 'dead';
  readonly attempts: number;
  readonly run_at?: number;
  readonly order_key?: null;
  readonly finished_at?: number;
  readonly last_error?: string;
  /** Who is to tell of a dead letter, and until when. */
  readonly lease_owner?: string;
  readonly lease_until?: number;
}

/**
 * Ends an attempt that did not succeed. False when another worker has the job, and nothing was changed. A waiting row is of
 * one that was begun without a claim; then nobody has counted. A dead one of this owner was stored in a commit whose answer
 * was lost.
 */
export async function endAttempt(db: Kysely<any>, row: JobRow, owner: string, change: Change): Promise<boolean> {
  const ended = await db
    .updateTable('jobs')
    .set({ held: 0, lease_owner: null, lease_until: null, ...change })
    .where('id', '=', row.id)
    .where(
      sql<boolean>`((state in ('running', 'dead') and lease_owner = ${owner})
        or (state = 'waiting' and attempts = ${row.attempts - 1}))`,
    )
    .returning('id')
    .execute();
  return ended.length > 0;
}

/**
 * Gives back what an owner holds without knowing of it. A commit whose answer was lost on the way, or whose sync failed,
 * may have stored its claims; nobody would ever end them, and the leases would be renewed for ever.
 */
export async function giveBackUnknown(db: Kysely<any>, owner: string, known: readonly number[]): Promise<void> {
  const unknown = known.length === 0 ? sql`` : sql`and id not in (${sql.join(known)})`;
  await sql`update jobs set state = 'waiting', attempts = attempts - 1, lease_owner = null, lease_until = null
    where state = 'running' and lease_owner = ${owner} ${unknown}`.execute(db);
}

/** Makes all due again that a process left behind. */
export async function releaseAll(db: Kysely<any>, now: number): Promise<void> {
  await sql`update jobs set state = 'waiting', run_at = ${now}, lease_owner = null, lease_until = null
    where state = 'running'`.execute(db);
}
