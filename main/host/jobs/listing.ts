import { sql, type Kysely } from 'kysely';
import type { JobState } from '../../../services/contracts/jobs.ts';

/** Makes a dead or waiting job due now. Undefined when it does not exist. */
export async function makeDue(db: Kysely<any>, id: number, now: number): Promise<{ kind: string } | undefined> {
  const { rows } = await sql<{ kind: string }>`update jobs set run_at = ${now}, finished_at = null,
    held = case when state = 'dead' then 0 else held end, state = 'waiting', lease_owner = null, lease_until = null
    where id = ${id} and state in ('waiting', 'dead') returning kind`.execute(db);
  return rows[0];
}

/** Makes the first job of an order key due now, if it waits after a failure; that attempt is not counted. */
export async function makeFirstDue(
  db: Kysely<any>,
  { kind, orderKey, now }: { readonly kind: string; readonly orderKey: string; readonly now: number },
): Promise<boolean> {
  const { rows } = await sql`update jobs set run_at = ${now}, attempts = attempts - 1
    where state = 'waiting' and attempts > 0 and run_at > ${now} and id = (select min(id) from jobs
      where kind = ${kind} and order_key = ${orderKey} and state in ('waiting', 'running')) returning id`.execute(db);
  return rows.length > 0;
}

export async function deleteJob(
  db: Kysely<any>,
  id: number,
): Promise<{ kind: string; order_key: string | null } | undefined> {
  const row = await db
    .deleteFrom('jobs')
    .where('id', '=', id)
    .where('state', 'in', ['waiting', 'dead'])
    .returning(['kind', 'order_key'])
    .executeTakeFirst();
  return row;
}

/** Deletes up to `limit` jobs that were done before a time; returns their number. */
export async function purgeDone(db: Kysely<any>, before: number, limit: number): Promise<number> {
  const deleted = await sql`delete from jobs where id in (select id from jobs
    where state = 'done' and finished_at < ${before} order by id limit ${limit}) returning id`.execute(db);
  return deleted.rows.length;
}

export interface ListedJob {
  readonly id: number;
  readonly kind: string;
  readonly job_key: string | null;
  readonly state: JobState;
  readonly attempts: number;
  readonly created_at: number;
  readonly run_at: number;
  readonly last_error: string | null;
}

/** Next attempt of a job: not before its predecessor with the same order key. */
const nextRunAt = sql<number>`case when jobs.state = 'waiting' and jobs.order_key is not null then
  (select case when first.run_at > jobs.run_at then first.run_at else jobs.run_at end from jobs as first
    where first.kind = jobs.kind and first.order_key = jobs.order_key and first.state in ('waiting', 'running')
    order by first.id limit 1)
  else jobs.run_at end`;

/** Lists jobs, newest first, without payloads. */
export async function listJobs(
  db: Kysely<any>,
  filter: {
    readonly state?: JobState;
    readonly kind?: string;
    readonly keys?: readonly string[];
    readonly before?: string | undefined;
    readonly limit: number;
  },
): Promise<readonly ListedJob[]> {
  let query = db
    .selectFrom('jobs')
    .select(['id', 'kind', 'job_key', 'state', 'attempts', 'created_at', 'last_error'])
    .select(nextRunAt.as('run_at'))
    .orderBy('id', 'desc')
    .limit(filter.limit);
  if (filter.state !== undefined) query = query.where('state', '=', filter.state);
  if (filter.kind !== undefined) query = query.where('kind', '=', filter.kind);
  if (filter.keys !== undefined) query = query.where('job_key', 'in', filter.keys);
  if (filter.before !== undefined) query = query.where('id', '<', Number(filter.before));
  return await query.execute();
}

/** Lists keys, newest first, which reads only the rows themselves. */
export async function listKeys(
  db: Kysely<any>,
  { kind, state, limit }: { readonly kind: string; readonly state: JobState; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('jobs')
    .select('job_key')
    .where('state', '=', state)
    .where('kind', '=', kind)
    .where('job_key', 'is not', null)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map((row) => row['job_key'] as string);
}

export async function countJobs(db: Kysely<any>, state: JobState): Promise<number> {
  const row = await db
    .selectFrom('jobs')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('state', '=', state)
    .executeTakeFirstOrThrow();
  return row['count'];
}
