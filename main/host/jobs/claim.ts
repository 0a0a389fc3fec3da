import { sql, type Kysely } from 'kysely';
import { executeKnown } from '../../../services/kit/known-statement.ts';
import type { JobRow } from './table.ts';

interface Ask {
  readonly kind: string;
  readonly limit: number;
  readonly now: number;
  readonly owner: string;
  readonly leaseUntil: number;
  /** Another job of the same order key is under way here, which the table need not know. */
  readonly isBehind: (row: JobRow) => boolean;
}

/**
 * The due jobs of a kind. The two conditions on the order key stay apart: each is one look into its own index, joined by
 * `or` they would read the whole chain for every claim.
 */
function due(columns: ReturnType<typeof sql>, { kind, now, limit }: Ask) {
  return sql`select ${columns} from jobs as due
    where due.state = 'waiting' and due.held = 0 and due.kind = ${kind} and due.run_at <= ${now}
    and (due.order_key is null or not exists (select 1 from jobs as earlier where earlier.kind = due.kind
      and earlier.order_key = due.order_key and earlier.state in ('waiting', 'running') and earlier.id < due.id)
      and not exists (select 1 from jobs as other where other.kind = due.kind
      and other.order_key = due.order_key and other.state = 'running'))
    order by due.run_at, due.id limit ${limit}`;
}

/**
 * Takes up to `limit` due jobs of a kind, in one statement, so that replicas on PostgreSQL can claim side by side. SQLite
 * has one writer and builds a table in memory for such a statement, on every claim; there the transaction holds the two
 * together.
 */
export function claimJobs(db: Kysely<any>, dialect: 'sqlite' | 'postgres', ask: Ask): Promise<readonly JobRow[]> {
  return dialect === 'sqlite' ? claimAlone(db, ask) : claimBesideOthers(db, ask);
}

async function claimAlone(db: Kysely<any>, ask: Ask): Promise<readonly JobRow[]> {
  const columns = sql`id, kind, job_key, order_key, payload, attempts, created_at, run_at`;
  const build = () => sql<JobRow>`${due(columns, ask)}`.compile(db);
  const found = await executeKnown(db, 'jobs.due', [ask.kind, ask.now, ask.limit], build);
  const rows = found.rows.filter((row) => !ask.isBehind(row));
  if (rows.length === 0) return rows;
  const ids = rows.map(({ id }) => id);
  const which = ids.length === 1 ? sql`= ${ids[0]}` : sql`in (${sql.join(ids)})`;
  await sql`update jobs set ${taken(ask)} where id ${which}`.execute(db);
  return rows.map((row) => ({ ...row, attempts: row.attempts + 1 }));
}

async function claimBesideOthers(db: Kysely<any>, ask: Ask): Promise<readonly JobRow[]> {
  const { rows } = await sql<JobRow>`with picked as (${due(sql`due.id`, ask)} for update skip locked)
    update jobs set ${taken(ask)} where id in (select id from picked)
    returning id, kind, job_key, order_key, payload, attempts, created_at, run_at`.execute(db);
  return [...rows].sort((a, b) => a.run_at - b.run_at || a.id - b.id);
}

function taken({ owner, leaseUntil }: Ask) {
  return sql`state = 'running', attempts = attempts + 1, lease_owner = ${owner}, lease_until = ${leaseUntil}`;
}
