import { sql, type Kysely } from 'kysely';
import type { JobState } from '../../../services/contracts/jobs.ts';

/** Makes a dead or waiting job due now. Undefined when there is none of that id. */
export async function makeDue(db: Kysely<any>, id: number, now: number): Promise<{ kind: string } | undefined> {
  const { rows } = await sql<{ kind: string }>`update jobs set run_at = ${now}, finished_at = null,
    held = case when state = 'dead' then 0 else held end, state = 'waiting'
    where id = ${id} and state in ('waiting', 'dead') returning kind`.execute(db);
  return rows[0];
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

/** Removes up to `limit` jobs that were done before a time; returns how many. */
export async function purgeDone(db: Kysely<any>, before: number, limit: number): Promise<number> {
  const gone = await sql`delete from jobs where id in (select id from jobs
    where state = 'done' and finished_at < ${before} order by id limit ${limit}) returning id`.execute(db);
  return gone.rows.length;
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

/** Newest first, without payloads. */
export async function listJobs(
  db: Kysely<any>,
  filter: {
    readonly state?: JobState;
    readonly kind?: string;
    readonly keys?: readonly string[];
    readonly limit: number;
  },
): Promise<readonly ListedJob[]> {
  let query = db
    .selectFrom('jobs')
    .select(['id', 'kind', 'job_key', 'state', 'attempts', 'created_at', 'run_at', 'last_error'])
    .orderBy('id', 'desc')
    .limit(filter.limit);
  if (filter.state !== undefined) query = query.where('state', '=', filter.state);
  if (filter.kind !== undefined) query = query.where('kind', '=', filter.kind);
  if (filter.keys !== undefined) query = query.where('job_key', 'in', filter.keys);
  return await query.execute();
}

export async function countJobs(db: Kysely<any>, state: JobState): Promise<number> {
  const row = await db
    .selectFrom('jobs')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('state', '=', state)
    .executeTakeFirstOrThrow();
  return row['count'];
}
