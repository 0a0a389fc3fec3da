import { sql, type Kysely, type RawBuilder } from 'kysely';

/** Time after which a lease that is not renewed expires. */
export const leaseMs = 6000;

/** Lease of this host. */
export interface LeaseRow {
  readonly name: string;
  readonly token: number;
}

/** Current time of the database in ms since the epoch. The clocks of hosts can differ. */
const databaseNow: RawBuilder<number> = sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

/** Renews leases of an owner, and returns those that it still has. */
export async function renewLeases(
  db: Kysely<any>,
  names: readonly string[],
  owner: string,
): Promise<readonly LeaseRow[]> {
  const { rows } = await sql<LeaseRow>`update leases set expires_at = ${databaseNow} + ${sql.lit(leaseMs)}
    where owner = ${owner} and name in (${sql.join(names)}) returning name, token`.execute(db);
  return rows;
}

/**
 * Takes the leases with these names that no host holds: expired ones, released ones, and those of owners that have
 * certainly ended. A lease that a transaction of its former owner is using is skipped, since the transaction verified
 * the lease and may still commit.
 */
export function takeLeases(
  db: Kysely<any>,
  names: readonly string[],
  owner: string,
  isGone: (owner: string) => boolean,
): Promise<readonly LeaseRow[]> {
  return db.transaction().execute(async (transaction) => {
    await transaction
      .insertInto('leases')
      .values(names.map((name) => ({ name, token: 0, owner: null, expires_at: 0 })))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const candidates = await sql<{ name: string; owner: string | null; expired: boolean }>`
      select name, owner, expires_at < ${databaseNow} as expired from leases
      where name in (${sql.join(names)}) for update skip locked`.execute(transaction);
    const free = candidates.rows.filter(
      (row) => row.expired || row.owner === null || row.owner === owner || isGone(row.owner),
    );
    if (free.length === 0) return [];
    const { rows } = await sql<LeaseRow>`update leases
      set owner = ${owner}, token = token + 1, expires_at = ${databaseNow} + ${sql.lit(leaseMs)}
      where name in (${sql.join(free.map(({ name }) => name))}) returning name, token`.execute(transaction);
    return rows;
  });
}

/** Releases a lease, so that another host can take it immediately. Its token remains. */
export async function releaseLease(db: Kysely<any>, { name, token }: LeaseRow, owner: string): Promise<void> {
  await sql`update leases set owner = null, expires_at = 0
    where name = ${name} and token = ${token} and owner = ${owner}`.execute(db);
}

/** Returns those of the leases that an owner holds that may still run. */
export async function findHeldLeases(
  db: Kysely<any>,
  names: readonly string[],
  isGone: (owner: string) => boolean,
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ name: string; owner: string }>`select name, owner from leases
    where name in (${sql.join(names)}) and owner is not null and expires_at >= ${databaseNow}`.execute(db);
  return new Set(rows.filter(({ owner }) => !isGone(owner)).map(({ name }) => name));
}

/** Deletes leases with names of one use that expired more than a day ago. */
export async function deleteOldLeases(db: Kysely<any>, prefix: string): Promise<void> {
  await sql`delete from leases where name like ${`${prefix}%`}
    and expires_at < ${databaseNow} - 86400000`.execute(db);
}

/**
 * Returns whether a lease is still that of a token, and prevents that another host takes it before the transaction
 * ends. A renewal does not wait for the transaction, because it changes no key. `schema` is that of the leases.
 */
export async function lockLease(
  transaction: Kysely<any>,
  schema: string,
  { name, token }: LeaseRow,
  owner: string,
): Promise<boolean> {
  const { rows } = await sql`select 1 from ${sql.table(`${schema}.leases`)}
    where name = ${name} and token = ${token} and owner = ${owner} for key share`.execute(transaction);
  return rows.length > 0;
}
