import { sql, type Kysely } from 'kysely';
import { executeCached } from '../../../services/kit/cached-statement.ts';
import { columns, type JobRow } from './table.ts';

/** How long a claim holds unless it is renewed. */
export const leaseMs = 60_000;

/** A claim for up to `limit` due jobs of a kind. */
export interface Ask {
  readonly kind: string;
  readonly limit: number;
  readonly now: number;
  readonly owner: string;
}

/**
 * The due jobs of a kind. The two conditions on the order key stay apart: each is one look into its own index, joined by
 * `or` they would read the whole chain for every claim.
 */
function due(what: ReturnType<typeof sql>, { kind, now, limit }: Ask) {
  return sql`select ${what} from jobs as due
    where due.state = 'waiting' and due.held = 0 and due.kind = ${kind} and due.run_at <= ${now}
    and (due.order_key is null or not exists (select 1 from jobs as earlier where earlier.kind = due.kind
      and earlier.order_key = due.order_key and earlier.state in ('waiting', 'running') and earlier.id < due.id)
      and not exists (select 1 from jobs as other where other.kind = due.kind
      and other.order_key = due.order_key and other.state = 'running'))
    order by due.run_at, due.id limit ${limit}`;
}

function taken({ owner, now }: Pick<Ask, 'owner' | 'now'>) {
  return sql`state = 'running', attempts = attempts + 1, lease_owner = ${owner}, lease_until = ${now + leaseMs}`;
}

/** The jobs under way here; the table need not know of one that it runs, or has ended. */
interface UnderWay {
  readonly count: number;
  /** Another job of the order key of this one is among them. */
  readonly isBehind: (row: JobRow) => boolean;
}

/**
 * Claims where nobody else does: the transaction holds two statements together, since SQLite would build a table in memory
 * for one. It claims less than it may only where no more is due.
 */
export async function claimAlone(db: Kysely<any>, ask: Ask, { count, isBehind }: UnderWay): Promise<readonly JobRow[]> {
  const find = async (limit: number): Promise<readonly JobRow[]> => {
    const build = () => sql<JobRow>`${due(columns, { ...ask, limit })}`.compile(db);
    return (await executeCached(db, 'jobs.due', [ask.kind, ask.now, limit], build)).rows;
  };
  const first = await find(ask.limit);
  // Behind each that is under way there is one at most that the table shows as due.
  const found = first.some(isBehind) ? await find(ask.limit + count) : first;
  const rows = found.filter((row) => !isBehind(row)).slice(0, ask.limit);
  if (rows.length === 0) return rows;
  const ids = sql.join(rows.map(({ id }) => id));
  await sql`update jobs set ${taken(ask)} where id in (${ids})`.execute(db);
  return rows.map((row) => ({ ...row, attempts: row.attempts + 1 }));
}

/** Shows jobs as running that were begun without a claim. */
export async function adopt(db: Kysely<any>, ids: readonly number[], owner: string, now: number): Promise<void> {
  await sql`update jobs set ${taken({ owner, now })}, held = 0
    where id in (${sql.join(ids)}) and state = 'waiting'`.execute(db);
}

/** Claims side by side with other hosts. */
export async function claimBesideOthers(db: Kysely<any>, ask: Ask): Promise<readonly JobRow[]> {
  const { rows } = await sql<JobRow>`with picked as (${due(sql`due.id`, ask)} for update skip locked)
    update jobs set ${taken(ask)} where id in (select id from picked) returning ${columns}`.execute(db);
  return [...rows].sort((a, b) => a.run_at - b.run_at || a.id - b.id);
}
