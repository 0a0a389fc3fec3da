import type { DataDiagramTable, DataForeignKey } from '../../contracts/data/schema.ts';
import { readCatalog, type SchemaOptions } from './catalog.ts';

const tablesQuery = `
select n.nspname as schema, c.relname as name, c.relkind in ('v', 'm') as "isView", n.nspname = any($1) as "isServed",
  coalesce((select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
      'isNullable', not a.attnotnull,
      'isKey', exists (select from pg_constraint k
        where k.conrelid = c.oid and k.contype = 'p' and a.attnum = any(k.conkey)),
      'isUnique', exists (select from pg_constraint k
        where k.conrelid = c.oid and k.contype = 'u' and k.conkey = array[a.attnum])) order by a.attnum)
    from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      and (n.nspname = any($1) or exists (select from pg_constraint k join pg_class f on f.oid = k.conrelid
        join pg_namespace fn on fn.oid = f.relnamespace
        where k.confrelid = c.oid and k.contype = 'f' and fn.nspname = any($1) and a.attnum = any(k.confkey)))
    ), '[]') as columns
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition
  and (n.nspname = any($1) or exists (select from pg_constraint k join pg_class f on f.oid = k.conrelid
    join pg_namespace fn on fn.oid = f.relnamespace
    where k.confrelid = c.oid and k.contype = 'f' and fn.nspname = any($1)))
order by 1, 2`;

const foreignKeysQuery = `
select k.conname as name,
  json_build_object('schema', n.nspname, 'table', c.relname, 'columns', (select json_agg(a.attname order by i)
    from unnest(k.conkey) with ordinality as u (attnum, i)
    join pg_attribute a on a.attrelid = k.conrelid and a.attnum = u.attnum)) as "from",
  json_build_object('schema', rn.nspname, 'table', r.relname, 'columns', (select json_agg(a.attname order by i)
    from unnest(k.confkey) with ordinality as u (attnum, i)
    join pg_attribute a on a.attrelid = k.confrelid and a.attnum = u.attnum)) as "to"
from pg_constraint k
join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
join pg_class r on r.oid = k.confrelid join pg_namespace rn on rn.oid = r.relnamespace
where k.contype = 'f' and k.conparentid = 0 and n.nspname = any($1) and not c.relispartition and not r.relispartition
order by n.nspname, c.relname, k.conname`;

/** Reads the tables of the served schemas, the tables that they reference, and the foreign keys. */
export async function readDiagram({
  database,
  settings,
}: SchemaOptions): Promise<{ tables: DataDiagramTable[]; foreignKeys: DataForeignKey[] }> {
  const tables = await readCatalog<DataDiagramTable>(database, tablesQuery, [settings.schemas]);
  const foreignKeys = await readCatalog<DataForeignKey>(database, foreignKeysQuery, [settings.schemas]);
  return { tables, foreignKeys };
}
