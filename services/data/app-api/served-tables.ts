import type { DataTable } from '../../contracts/data/api.ts';
import { inTransaction, type Database } from '../engine/database.ts';
import { quote } from '../postgrest-api/statement/sql.ts';

/**
 * Estimated number of rows up to which a table is counted. The size on disk would be more reliable, but reading it
 * waits for locks of concurrent changes.
 */
const countedRows = 10_000;

const listing = `
select n.nspname as schema, c.relname as name, c.relkind in ('v', 'm') as "isView",
  case when c.reltuples >= 0 then c.reltuples::float8 when c.relkind in ('r', 'm') then nullif(pg_stat_get_live_tuples(c.oid), 0)::float8 end as rows,
  c.relrowsecurity as "isProtected",
  (select count(*)::int from pg_policy p where p.polrelid = c.oid) as policies,
  c.relkind = 'r' and has_table_privilege(c.oid, 'select')
    and greatest(c.reltuples::float8, pg_stat_get_live_tuples(c.oid)::float8) <= $2 as "isSmall"
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname = any($1) and c.relkind in ('r', 'p', 'v', 'm', 'f')
order by 1, 2`;

type Listed = Omit<DataTable, 'isEstimate'> & { readonly isSmall: boolean };

/** Lists the tables and views of the schemas. Rows of small tables are counted, others are estimated by PostgreSQL. */
export async function servedTables(database: Database, schemas: readonly string[]): Promise<DataTable[]> {
  const { rows: listed } = await database.withCatalogue((pool) => pool.query<Listed>(listing, [schemas, countedRows]));
  const counts = await countsOf(
    database,
    listed.filter(({ isSmall }) => isSmall),
  );
  return listed.map(({ isSmall: _, ...table }) => {
    const count = counts.get(nameOf(table));
    return { ...table, rows: count ?? table.rows, isEstimate: count === undefined };
  });
}

const nameOf = ({ schema, name }: Pick<DataTable, 'schema' | 'name'>): string => `${quote(schema)}.${quote(name)}`;

async function countsOf(database: Database, tables: readonly Listed[]): Promise<ReadonlyMap<string, number>> {
  if (tables.length === 0) return new Map();
  const each = tables.map((table, at) => `select ${String(at)} as at, count(*)::float8 as rows from ${nameOf(table)}`);
  try {
    // A view may have replaced a table since the listing; its functions run only with the rights of the owner role.
    return await database.asOwner((pool) =>
      inTransaction(pool, async (client) => {
        // A concurrent change may lock a table for a long time.
        await client.query("set local lock_timeout = '200ms'; set local statement_timeout = '2s'");
        const { rows } = await client.query<{ at: number; rows: number }>(each.join(' union all '));
        const counted = rows.map(({ at, rows: count }) => [tables[at], count] as const);
        return new Map(counted.flatMap(([table, count]) => (table ? [[nameOf(table), count] as const] : [])));
      }),
    );
  } catch {
    // A table is locked or was dropped: the estimates are used.
    return new Map();
  }
}
