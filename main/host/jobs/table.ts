import * as m from '#messages/host-problems';
import { sql, type Kysely } from 'kysely';
import { executeCached, chunkRows } from '../../../services/kit/cached-statement.ts';

/** Columns of a claimed job that a worker needs. Times are ms since the epoch. */
export interface JobRow {
  readonly id: number;
  readonly kind: string;
  readonly job_key: string | null;
  readonly order_key: string | null;
  readonly payload: string;
  /** Includes the attempt that begins with the claim. */
  readonly attempts: number;
  readonly created_at: number;
  readonly run_at: number;
}

/** Columns of a `JobRow`. */
export const columns = sql`id, kind, job_key, order_key, payload, attempts, created_at, run_at`;

export interface NewJob {
  readonly key?: string | undefined;
  readonly orderKey?: string | undefined;
  readonly payload: string;
  readonly runAt: number;
}

/** Inserted job, as its first claim would read it. */
export interface InsertedJob {
  readonly row: JobRow;
  /** Waits for another job with the same order key. */
  readonly held: boolean;
}

/** Inserts jobs of a kind in one statement; returns those whose key was free, in order. */
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
  // Ids are assigned in the order of rows, but no dialect guarantees the order of returned rows.
  const inserted = [...returned].sort((a, b) => a.id - b.id);
  if (inserted.length === jobs.length) {
    return jobs.map(({ key = null, orderKey = null, payload, runAt }, at) => {
      const { id = 0, held: heldFlag } = inserted[at] ?? {};
      const keys = { job_key: key, order_key: orderKey };
      return {
        row: { id, kind, ...keys, payload, attempts: 1, created_at: now, run_at: runAt },
        held: heldFlag === 1,
      };
    });
  }
  // The first job of an order key may already exist and be done: the others must not wait for it.
  if (orderKeys.size > 0) await releaseNext(db, kind, [...orderKeys]);
  const insertedRows = await readActive(
    db,
    inserted.map(({ id }) => id),
  );
  return insertedRows.map(({ held: heldFlag, ...row }) => ({
    row: { ...row, attempts: 1 },
    held: heldFlag === 1,
  }));
}

/** Reads the waiting and running jobs among these ids. */
export async function readActive(
  db: Kysely<any>,
  ids: readonly number[],
): Promise<readonly (JobRow & { readonly held: number })[]> {
  const row = [];
  for (const chunk of chunkRows(ids)) {
    const { rows } = await sql<JobRow & { held: number }>`select ${columns}, held from jobs
      where id in (${sql.join(chunk)}) and state in ('waiting', 'running') order by id`.execute(db);
    row.push(...rows);
  }
  return row;
}

/** Returns the id of the job with a key. */
export async function findByKey(db: Kysely<any>, kind: string, key: string): Promise<number | undefined> {
  const { rows } = await sql<{ id: number }>`select id from jobs where kind = ${kind} and job_key = ${key}`.execute(db);
  return rows[0]?.id;
}

/** Makes the first active job of each order key visible to claims. */
export async function releaseNext(db: Kysely<any>, kind: string, orderKeys: readonly string[]): Promise<void> {
  for (const chunk of chunkRows(orderKeys)) {
    // A chain has one; with a list SQLite builds a temporary table, which costs more than the rest.
    const first = () =>
      chunk.length === 1
        ? sql`= (select min(id) from jobs where kind = ${kind} and order_key = ${chunk[0]}
            and state in ('waiting', 'running'))`
        : sql`in (select min(id) from jobs where kind = ${kind} and order_key in (${sql.join(chunk)})
            and state in ('waiting', 'running') group by order_key)`;
    const build = () => sql<never>`update jobs set held = 0 where held = 1 and id ${first()}`.compile(db);
    await executeCached(db, `jobs.next ${String(chunk.length)}`, [kind, ...chunk], build);
  }
}

/**
 * Does the same for all order keys. Two concurrent transactions on PostgreSQL, one adding a job and one ending its
 * predecessor, can leave a job held without a predecessor; so can a killed process. This repairs it.
 */
export async function releaseAllFirst(db: Kysely<any>): Promise<void> {
  await sql`update jobs set held = 0 where state = 'waiting' and held = 1 and id in (select min(id) from jobs
    where order_key is not null and state in ('waiting', 'running') group by kind, order_key)`.execute(db);
}

/**
 * Returns the time when the next job of a kind is due; Infinity for none. Due jobs that were not claimed wait for
 * another one of their order key, whose end triggers another claim.
 */
export async function nextRunAt(db: Kysely<any>, kind: string, now: number): Promise<number> {
  const build = () =>
    sql<{ run_at: number | null }>`select min(run_at) as run_at from jobs
      where state = 'waiting' and held = 0 and kind = ${kind} and run_at > ${now}`.compile(db);
  const { rows } = await executeCached(db, 'jobs.alarm', [kind, now], build);
  return rows[0]?.run_at ?? Infinity;
}

/**
 * Selects jobs that may be ended: those of the owner, and waiting ones. Some of these were started without a claim;
 * others lost it, for example when a PostgreSQL server crashed. The state is a literal: with a bound value SQLite
 * prepares the statement again each time, since a partial index depends on it.
 */
function endable(owner: string) {
  return sql<boolean>`(lease_owner = ${owner} or state = 'waiting')`;
}

/** Marks jobs as done and deletes their payloads, which may contain secrets. The rows remain for their keys. */
export async function markDone(db: Kysely<any>, ids: readonly number[], owner: string, now: number): Promise<void> {
  if (ids.length === 0) return;
  await sql`update jobs set state = 'done', attempts = case when state = 'waiting' then attempts + 1 else attempts end,
    payload = 'null', finished_at = ${now}, lease_owner = null, lease_until = null, last_error = null
    where id in (${sql.join(ids)}) and ${endable(owner)}`.execute(db);
}

/** Deletes rows of completed jobs, for kinds whose keys need not be remembered. */
export async function removeDone(db: Kysely<any>, ids: readonly number[], owner: string): Promise<void> {
  for (const chunk of chunkRows(ids)) {
    const build = () => sql<never>`delete from jobs where id in (${sql.join(chunk)}) and ${endable(owner)}`.compile(db);
    await executeCached(db, `jobs.done ${String(chunk.length)}`, [...chunk, owner], build);
  }
}

/** Change of a job after an unsuccessful attempt; `attempts` includes it, unless it was returned. */
export interface Change {
  readonly state: 'waiting' | 'dead';
  readonly attempts: number;
  readonly run_at?: number;
  readonly order_key?: null;
  readonly finished_at?: number;
  readonly last_error?: string;
  /** Owner that reports a dead letter, and its time limit. */
  readonly lease_owner?: string;
  readonly lease_until?: number;
}

/**
 * Ends an unsuccessful attempt. Returns false when another worker has the job, and changes nothing. A waiting row
 * belongs to a job that started without a claim, whose attempt is not counted yet. A dead row of this owner was
 * stored by a commit whose result was lost.
 */
export async function endAttempt(db: Kysely<any>, row: JobRow, owner: string, change: Change): Promise<boolean> {
  const ended = await db
    .updateTable('jobs')
    .set({ held: 0, crashes: 0, lease_owner: null, lease_until: null, ...change })
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
 * Returns jobs that an owner has without knowing. A commit whose result was lost, or whose sync failed, may have
 * stored claims; nothing would ever end them, and their leases would be renewed forever.
 */
export async function releaseUnknownKinds(db: Kysely<any>, owner: string, knownIds: readonly number[]): Promise<void> {
  const unknown = knownIds.length === 0 ? sql`` : sql`and id not in (${sql.join(knownIds)})`;
  await sql`update jobs set state = 'waiting', attempts = attempts - 1, lease_owner = null, lease_until = null
    where state = 'running' and lease_owner = ${owner} ${unknown}`.execute(db);
}

/** Makes all jobs of a previous process due again. */
export async function releaseAll(db: Kysely<any>, now: number): Promise<void> {
  await sql`update jobs set state = 'waiting', run_at = ${now}, lease_owner = null, lease_until = null
    where state = 'running'`.execute(db);
}

/** Maximum number of crashes in a row at which a job may have been running. */
const maxCrashes = 5;

/**
 * Counts a crash for each job that was running. A job that was running at each of several crashes may have caused
 * them: it becomes a dead letter, which its service reports. Call it before {@link releaseAll}.
 * @returns the jobs that became dead letters
 */
export async function countCrash(db: Kysely<any>, now: number): Promise<readonly Pick<JobRow, 'id' | 'kind'>[]> {
  await sql`update jobs set crashes = crashes + 1 where state = 'running'`.execute(db);
  // The former owner stays until the dead letter is reported.
  const { rows } = await sql<Pick<JobRow, 'id' | 'kind'>>`update jobs
    set state = 'dead', finished_at = ${now}, last_error = ${m.jobCrashed({ count: String(maxCrashes) })}
    where state = 'running' and crashes >= ${maxCrashes} returning id, kind`.execute(db);
  return rows;
}
