import { sql, type Kysely } from 'kysely';
import { isGone } from './owner.ts';

/** Returns whether a lease has expired or its owner is known to be gone. */
export function hasLapsed(owner: string, until: number, now: number): boolean {
  return until < now || isGone(owner);
}

/** Renews all leases of an owner; returns the ids that it still has. */
export async function renewLeases(db: Kysely<any>, owner: string, until: number): Promise<ReadonlySet<number>> {
  const { rows } = await sql<{ id: number }>`update jobs set lease_until = ${until}
    where state = 'running' and lease_owner = ${owner} returning id`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/** Lists the other owners of running jobs and of dead letters that were not reported yet. */
export async function listOwners(db: Kysely<any>, self: string): Promise<readonly string[]> {
  const { rows } = await sql<{ lease_owner: string }>`select distinct lease_owner from jobs
    where state in ('running', 'dead') and lease_owner is not null and lease_owner != ${self}`.execute(db);
  return rows.map(({ lease_owner: owner }) => owner);
}

/** Makes jobs whose owners no longer run them due again; returns their number. */
export async function releaseExpired(
  db: Kysely<any>,
  now: number,
  self: string,
  isAbandoned: (owner: string, until: number) => boolean,
): Promise<number> {
  const { rows } = await sql<{ lease_owner: string; lease_until: number }>`select distinct lease_owner, lease_until
    from jobs where state = 'running' and lease_owner != ${self}`.execute(db);
  let released = 0;
  for (const { lease_owner: owner, lease_until: until } of rows) {
    if (!isAbandoned(owner, until)) continue;
    const freed = await sql`update jobs set state = 'waiting', run_at = ${now}, lease_owner = null, lease_until = null
      where state = 'running' and lease_owner = ${owner} and lease_until = ${until} returning id`.execute(db);
    released += freed.rows.length;
  }
  return released;
}
