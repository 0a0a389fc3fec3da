import { sql, type Kysely } from 'kysely';
import { executeCached } from '../../../services/kit/cached-statement.ts';
import { columns, type JobRow } from './table.ts';

/** Duration of a lease unless it is renewed. */
export const leaseMs = 60_000;

/** Request to claim up to `limit` due jobs of a kind. */
export interface ClaimRequest {
  readonly kind: string;
  readonly limit: number;
  readonly now: number;
  readonly owner: string;
}

/**
 * Selects the due jobs of a kind. The two conditions on the order key are separate queries: each is one index lookup,
 * while `or` would read the whole chain for every claim.
 */
function due(selection: ReturnType<typeof sql>, { kind, now, limit }: ClaimRequest) {
  return sql`select ${selection} from jobs as due
    where due.state = 'waiting' and due.held = 0 and due.kind = ${kind} and due.run_at <= ${now}
    and (due.order_key is null or not exists (select 1 from jobs as earlier where earlier.kind = due.kind
      and earlier.order_key = due.order_key and earlier.state in ('waiting', 'running') and earlier.id < due.id)
      and not exists (select 1 from jobs as other where other.kind = due.kind
      and other.order_key = due.order_key and other.state = 'running'))
    order by due.run_at, due.id limit ${limit}`;
}

function claimedRows({ owner, now }: Pick<ClaimRequest, 'owner' | 'now'>) {
  return sql`state = 'running', attempts = attempts + 1, lease_owner = ${owner}, lease_until = ${now + leaseMs}`;
}

/** Jobs that this process runs or has ended, possibly unknown to the table. */
interface JobsInProgress {
  readonly count: number;
  /** Returns whether it contains another job with the same order key. */
  readonly isBehind: (row: JobRow) => boolean;
}

/**
 * Claims jobs when no other host does: a transaction combines two statements, since SQLite would build a table in
 * memory for one. Claims less than the limit only when no more is due.
 */
export async function claimAlone(
  db: Kysely<any>,
  request: ClaimRequest,
  { count, isBehind }: JobsInProgress,
): Promise<readonly JobRow[]> {
  const find = async (limit: number): Promise<readonly JobRow[]> => {
    const build = () => sql<JobRow>`${due(columns, { ...request, limit })}`.compile(db);
    return (await executeCached(db, 'jobs.due', [request.kind, request.now, limit], build)).rows;
  };
  const candidates = await find(request.limit);
  // Each job in progress hides at most one job that the table shows as due.
  const dueRows = candidates.some(isBehind) ? await find(request.limit + count) : candidates;
  const rows = dueRows.filter((row) => !isBehind(row)).slice(0, request.limit);
  if (rows.length === 0) return rows;
  const ids = sql.join(rows.map(({ id }) => id));
  await sql`update jobs set ${claimedRows(request)} where id in (${ids})`.execute(db);
  return rows.map((row) => ({ ...row, attempts: row.attempts + 1 }));
}

/** Marks jobs as running that were started without a claim. */
export async function adopt(db: Kysely<any>, ids: readonly number[], owner: string, now: number): Promise<void> {
  await sql`update jobs set ${claimedRows({ owner, now })}, held = 0
    where id in (${sql.join(ids)}) and state = 'waiting'`.execute(db);
}

/** Claims jobs concurrently with other hosts. */
export async function claimBesideOthers(db: Kysely<any>, request: ClaimRequest): Promise<readonly JobRow[]> {
  const { rows } = await sql<JobRow>`with picked as (${due(sql`due.id`, request)} for update skip locked)
    update jobs set ${claimedRows(request)} where id in (select id from picked) returning ${columns}`.execute(db);
  return [...rows].sort((a, b) => a.run_at - b.run_at || a.id - b.id);
}
