import { sql, type Kysely } from 'kysely';
import { executeKnown, inKnownSizes } from '../../../services/kit/known-statement.ts';

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

/** A job that was written. */
export interface InsertedJob {
  readonly id: number;
  /** 1 behind another of its order key. */
  readonly held: number;
  readonly run_at: number;
  /** What a claim would tell of it; undefined where others of the statement were not written. */
  readonly row: JobRow | undefined;
}

/** Writes the jobs in one statement; returns those whose key was free, in their order. */
export async function insertJobs(db: Kysely<any>, jobs: readonly NewJob[]): Promise<readonly InsertedJob[]> {
  const orderKeys = new Set<string>();
  const rows = jobs.map(({ kind, key = null, orderKey = null, payload, createdAt, runAt }) => {
    const isFirst = orderKey !== null && !orderKeys.has(orderKey);
    if (orderKey !== null) orderKeys.add(orderKey);
    const held = isFirst ? undefined : orderKey === null ? 0 : 1;
    return { kind, key, orderKey, held, payload, createdAt, runAt };
  });
  const build = () =>
    db
      .insertInto('jobs')
      .values(
        rows.map(({ kind, key, orderKey, held, payload, createdAt, runAt }) => ({
          kind,
          job_key: key,
          order_key: orderKey,
          held: held ?? behindAnother(kind, orderKey),
          payload,
          created_at: createdAt,
          run_at: runAt,
        })),
      )
      .onConflict((conflict) => conflict.columns(['kind', 'job_key']).doNothing())
      .returning(['id', 'held', 'run_at'])
      .compile();
  const values = rows.flatMap(({ kind, key, orderKey, held, payload, createdAt, runAt }) => [
    ...[kind, key, orderKey],
    ...(held === undefined ? [kind, orderKey] : [held]),
    ...[payload, createdAt, runAt],
  ]);
  const shape = `jobs ${rows.map(({ held }) => held ?? '?').join('')}`;
  const { rows: returned } = await executeKnown(db, shape, values, build);
  const inserted = returned as Omit<InsertedJob, 'row'>[];
  // Ids are given in the order of the rows, and no dialect promises one for what is returned.
  inserted.sort((a, b) => a.id - b.id);
  if (inserted.length === jobs.length) return inserted.map((job, at) => ({ ...job, row: rowOf(job.id, jobs[at]) }));
  const kind = jobs[0]?.kind;
  // The first of an order key may be one that was there already, and perhaps done: the others must not wait for it.
  if (kind !== undefined && orderKeys.size > 0) await letNextGo(db, kind, [...orderKeys]);
  return inserted.map((job) => ({ ...job, held: 0, row: undefined }));
}

/** As its first claim would read it. */
function rowOf(id: number, job: NewJob | undefined): JobRow | undefined {
  if (job === undefined) return undefined;
  const { kind, key, orderKey, payload, createdAt, runAt } = job;
  const keys = { job_key: key ?? null, order_key: orderKey ?? null };
  return { id, kind, ...keys, payload, attempts: 1, created_at: createdAt, run_at: runAt };
}

function behindAnother(kind: string, orderKey: string | null) {
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
  const first = () =>
    orderKeys.length === 1
      ? sql`= (select min(id) from jobs where kind = ${kind} and order_key = ${orderKeys[0]}
          and state in ('waiting', 'running'))`
      : sql`in (select min(id) from jobs where kind = ${kind} and order_key in (${sql.join(orderKeys)})
          and state in ('waiting', 'running') group by order_key)`;
  const build = () => sql<never>`update jobs set held = 0 where held = 1 and id ${first()}`.compile(db);
  await executeKnown(db, `jobs.next ${String(orderKeys.length)}`, [kind, ...orderKeys], build);
}

/**
 * The same for all order keys at once. Two transactions on PostgreSQL that do not see each other, one adding a job and
 * one ending its predecessor, leave a job held behind nothing; this finds it.
 */
export async function letAllFirstGo(db: Kysely<any>): Promise<void> {
  await sql`update jobs set held = 0 where state = 'waiting' and held = 1 and id in (select min(id) from jobs
    where order_key is not null and state in ('waiting', 'running') group by kind, order_key)`.execute(db);
}

/**
 * When the next job of each kind falls due. What is due already and was not claimed waits for another of its order key,
 * whose end has the claims look again.
 */
export async function nextRunAt(
  db: Kysely<any>,
  kinds: readonly string[],
  now: number,
): Promise<ReadonlyMap<string, number>> {
  const next = new Map<string, number>();
  for (const kind of kinds) {
    const build = () =>
      sql<{ run_at: number | null }>`select min(run_at) as run_at from jobs
      where state = 'waiting' and held = 0 and kind = ${kind} and run_at > ${now}`.compile(db);
    const { rows } = await executeKnown(db, 'jobs.alarm', [kind, now], build);
    const runAt = rows[0]?.run_at;
    if (typeof runAt === 'number') next.set(kind, runAt);
  }
  return next;
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
  await sql`update jobs set state = 'done', attempts = case when state = 'waiting' then attempts + 1 else attempts end,
    payload = 'null', finished_at = ${now}, lease_owner = null, lease_until = null, last_error = null
    where id in (${sql.join(ids)}) and ${endable(owner)}`.execute(db);
}

/** Takes the rows of jobs away that are done, for kinds whose keys need not be known any longer. */
export async function removeDone(db: Kysely<any>, ids: readonly number[], owner: string): Promise<void> {
  for (const some of inKnownSizes(ids)) {
    const build = () => sql<never>`delete from jobs where id in (${sql.join(some)}) and ${endable(owner)}`.compile(db);
    await executeKnown(db, `jobs.done ${String(some.length)}`, [...some, owner], build);
  }
}

/** Marks jobs that were begun without a claim as running, with their first attempt. */
export async function adopt(
  db: Kysely<any>,
  ids: readonly number[],
  { owner, until }: { readonly owner: string; readonly until: number },
): Promise<void> {
  await sql`update jobs set state = 'running', held = 0, attempts = attempts + 1, lease_owner = ${owner},
    lease_until = ${until} where id in (${sql.join(ids)}) and state = 'waiting'`.execute(db);
}

/**
 * Ends an attempt that did not succeed; `attempts` counts it, unless it was given back. False when another worker has
 * the job, and nothing was changed. A waiting row is of one that was begun without a claim; then nobody has counted.
 */
export async function endAttempt(
  db: Kysely<any>,
  { id, attempts }: JobRow,
  owner: string,
  change:
    | { readonly state: 'waiting'; readonly run_at: number; readonly last_error: string; readonly order_key?: null }
    | { readonly state: 'dead'; readonly finished_at: number; readonly last_error: string }
    | { readonly state: 'waiting' },
): Promise<boolean> {
  const counted = 'last_error' in change ? attempts : attempts - 1;
  const ended = await db
    .updateTable('jobs')
    .set({ ...change, attempts: counted, held: 0, lease_owner: null, lease_until: null })
    .where('id', '=', id)
    .where(
      sql<boolean>`((state = 'running' and lease_owner = ${owner}) or (state = 'waiting' and attempts = ${attempts - 1}))`,
    )
    .returning('id')
    .execute();
  return ended.length > 0;
}
