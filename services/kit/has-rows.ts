import { sql, type Kysely } from 'kysely';

/** Returns whether any of the tables has a row. */
export async function hasRows(db: Kysely<any>, tables: readonly string[]): Promise<boolean> {
  for (const table of tables) {
    const { rows } = await sql`select 1 from ${sql.table(table)} limit 1`.execute(db);
    if (rows.length > 0) return true;
  }
  return false;
}
