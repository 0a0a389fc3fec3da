import type { DataNames } from '../../contracts/data/sql.ts';
import type { Database } from '../engine/database.ts';

/** Maximum numbers of names, because the page holds all of them. */
const maxTables = 2000;
const maxFunctions = 2000;

const tablesQuery = `
select n.nspname as schema, c.relname as name, c.relkind in ('v', 'm') as "isView",
  coalesce((select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod))
      order by a.attnum) from pg_attribute a
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped), '[]') as columns
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname = any($1) and c.relkind in ('r', 'p', 'v', 'm', 'f')
order by 1, 2 limit ${maxTables}`;

const functionsQuery = `
select n.nspname as schema, p.proname as name, pg_get_function_arguments(p.oid) as arguments
from pg_proc p join pg_namespace n on n.oid = p.pronamespace
where n.nspname = any($1) and p.prorettype not in ('trigger'::regtype, 'event_trigger'::regtype)
order by 1, 2, 3 limit ${maxFunctions}`;

/** Returns the names that the SQL editor completes: of the served schemas, and of the users of apps. */
export async function listSqlNames(database: Database, schemas: readonly string[]): Promise<DataNames> {
  const completed = [...schemas, 'auth'];
  return database.withCatalogue(async (pool) => {
    const [tables, functions] = await Promise.all([
      pool.query<DataNames['tables'][number]>(tablesQuery, [completed]),
      pool.query<DataNames['functions'][number]>(functionsQuery, [completed]),
    ]);
    return { tables: tables.rows, functions: functions.rows };
  });
}
