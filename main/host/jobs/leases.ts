import { sql, type Kysely } from 'kysely';

/** Prolongs all leases of one owner; returns the ids that are still his. */
export async function renewLeases(db: Kysely<any>, owner: string, until: number): Promise<ReadonlySet<number>> {
  const rows: { id: number }[] = await db
    .updateTable('jobs')
    .set({ lease_until: until })
    .where('state', '=', 'running')
    .where('lease_owner', '=', owner)
    .returning('id')
    .execute();
  return new Set(rows.map((row) => row.id));
}

/**
 * Gives back what an owner holds without knowing of it. A commit whose answer was lost on the way, or whose sync failed,
 * may have stored its claims; nobody would ever end them, and the leases would be renewed for ever.
 */
export async function giveBackUnknown(db: Kysely<any>, owner: string, known: readonly number[]): Promise<void> {
  let query = db
    .updateTable('jobs')
    .set({ state: 'waiting', attempts: sql`attempts - 1`, lease_owner: null, lease_until: null })
    .where('state', '=', 'running')
    .where('lease_owner', '=', owner);
  if (known.length > 0) query = query.where('id', 'not in', known);
  await query.execute();
}

/** Makes the jobs of crashed workers due again: those of owners known to be gone, and those whose lease ran out. */
export async function takeBack(
  db: Kysely<any>,
  now: number,
  self: string,
  isGone: (owner: string) => boolean,
): Promise<number> {
  const leases: { id: number; lease_owner: string; lease_until: number }[] = await db
    .selectFrom('jobs')
    .select(['id', 'lease_owner', 'lease_until'])
    .where('state', '=', sql.lit('running'))
    .where('lease_owner', '!=', self)
    .execute();
  let taken = 0;
  for (const { id, lease_owner, lease_until } of leases) {
    if (lease_until >= now && !isGone(lease_owner)) continue;
    const row = await db
      .updateTable('jobs')
      .set({ state: 'waiting', run_at: now, lease_owner: null, lease_until: null })
      .where('id', '=', id)
      .where('state', '=', 'running')
      .where('lease_owner', '=', lease_owner)
      .where('lease_until', '=', lease_until)
      .returning('id')
      .execute();
    taken += row.length;
  }
  return taken;
}
