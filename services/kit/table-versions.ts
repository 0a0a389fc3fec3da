import { sql, type Kysely } from 'kysely';

/**
 * Returns a text for each table that differs after every committed change of a row, so that a host notices changes of
 * other hosts. It uses system columns of PostgreSQL and reads all rows: for tables with few rows and on PostgreSQL only.
 */
export async function readTableVersions(
  db: Kysely<any>,
  tables: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const queries = tables.map(
    (table) => sql`select ${sql.lit(table)} as name,
      concat(count(*), ':', sum(hashtextextended(concat(xmin, ' ', ctid), 0))) as version from ${sql.table(table)}`,
  );
  const { rows } = await sql<{ name: string; version: string }>`${sql.join(queries, sql` union all `)}`.execute(db);
  return new Map(rows.map(({ name, version }) => [name, version]));
}
