import type { DataTable } from '../../contracts/data/api.ts';
import { inTransaction, type Database } from '../engine/database.ts';
import { quote } from '../postgrest-api/statement/sql.ts';

/**
 * Estimated number of rows up to which a table is counted. The size on disk would be more reliable, but reading it
 * waits for locks of concurrent changes.
 */
const maxCountedRows = 10_000;

const tablesQuery = `
select n.nspname as schema, c.relname as name, c.relkind in ('v', 'm') as "isView",
  case when c.reltuples >= 0 then c.reltuples::float8 when c.relkind in ('r', 'm')
    then nullif(pg_stat_get_live_tuples(c.oid), 0)::float8 end as rows,
  c.relrowsecurity as "isProtected",
  (select count(*)::int from pg_policy p where p.polrelid = c.oid) as policies,
  c.relkind = 'r' and has_table_privilege(c.oid, 'select')
    and greatest(c.reltuples::float8, pg_stat_get_live_tuples(c.oid)::float8) <= $2 as "isSmall"
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname = any($1) and c.relkind in ('r', 'p', 'v', 'm', 'f')
order by 1, 2`;

type TableRow = Omit<DataTable, 'isEstimate'> & { readonly isSmall: boolean };

/** Lists the tables and views of the schemas. Rows of small tables are counted, others are estimated by PostgreSQL. */
export async function listServedTables(database: Database, schemas: readonly string[]): Promise<DataTable[]> {
  const { rows: tables } = await database.withCatalogue((pool) =>
    pool.query<TableRow>(tablesQuery, [schemas, maxCountedRows]),
  );
  const counts = await countTables(
    database,
    tables.filter(({ isSmall }) => isSmall),
  );
  return tables.map(({ isSmall: _, ...table }) => {
    const count = counts.get(toReference(table));
    return { ...table, rows: count ?? table.rows, isEstimate: count === undefined };
  });
}

const toReference = ({ schema, name }: Pick<DataTable, 'schema' | 'name'>): string => `${quote(schema)}.${quote(name)}`;

async function countTables(database: Database, tables: readonly TableRow[]): Promise<ReadonlyMap<string, number>> {
  if (tables.length === 0) return new Map();
  const countQueries = tables.map(
    (table, index) => `select ${String(index)} as table_index, count(*)::float8 as rows from ${toReference(table)}`,
  );
  try {
    // A view may have replaced a table since the listing; its functions run only with the rights of the owner role.
    return await database.asOwner((pool) =>
      inTransaction(pool, async (client) => {
        // A concurrent change may lock a table for a long time.
        await client.query("set local lock_timeout = '200ms'; set local statement_timeout = '2s'");
        const { rows } = await client.query<{ table_index: number; rows: number }>(countQueries.join(' union all '));
        const counted = rows.map(({ table_index, rows: count }) => [tables[table_index], count] as const);
        return new Map(counted.flatMap(([table, count]) => (table ? [[toReference(table), count] as const] : [])));
      }),
    );
  } catch {
    // A table is locked or was dropped: the estimates are used.
    return new Map();
  }
}
