import * as m from '#messages/data-problems';
import type pg from 'pg';
import { Problem } from '../../contracts/problem.ts';
import type { DataColumn, DataPolicy } from '../../contracts/data/rows.ts';
import { quote } from '../postgrest-api/statement/sql.ts';

/** Table structure for the editor. */
export interface TableShape {
  /** Quoted name with schema. */
  readonly reference: string;
  readonly columns: readonly DataColumn[];
  readonly policies: readonly DataPolicy[];
  readonly isProtected: boolean;
  readonly isView: boolean;
}

const shapeQuery = `
select c.relkind in ('v', 'm') as "isView", c.relrowsecurity as "isProtected",
  coalesce((select json_agg(json_build_object(
      'name', a.attname, 'type', format_type(a.atttypid, a.atttypmod), 'isNullable', not a.attnotnull,
      'defaultValue', case when a.attidentity <> '' then 'counted up' when a.attgenerated = '' then pg_get_expr(d.adbin, d.adrelid) end,
      'isGenerated', a.attgenerated <> '' or a.attidentity = 'a',
      'isKey', exists (select from pg_constraint k where k.conrelid = c.oid and k.contype = 'p' and a.attnum = any(k.conkey)),
      'choices', coalesce((select json_agg(e.enumlabel order by e.enumsortorder) from pg_enum e where e.enumtypid = a.atttypid), '[]'),
      'isIdentity', a.attidentity <> '',
      'unique', (select min(k.conname) from pg_constraint k where k.conrelid = c.oid and k.contype = 'u' and k.conkey = array[a.attnum]),
      'reference', (select json_build_object('constraint', k.conname, 'schema', rn.nspname, 'name', r.relname,
          'column', (select f.attname from pg_attribute f where f.attrelid = k.confrelid and f.attnum = k.confkey[1]),
          'definition', pg_get_constraintdef(k.oid),
          'onDelete', case k.confdeltype when 'r' then 'restrict' when 'c' then 'cascade' when 'n' then 'set null'
            when 'd' then 'set default' else 'no action' end)
        from pg_constraint k join pg_class r on r.oid = k.confrelid join pg_namespace rn on rn.oid = r.relnamespace
        where k.conrelid = c.oid and k.contype = 'f' and k.conkey = array[a.attnum] order by k.conname limit 1)
    ) order by a.attnum)
    from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped), '[]') as columns,
  coalesce((select json_agg(json_build_object(
      'name', p.polname, 'isPermissive', p.polpermissive,
      'command', case p.polcmd when 'r' then 'SELECT' when 'a' then 'INSERT' when 'w' then 'UPDATE' when 'd' then 'DELETE' else 'ALL' end,
      'roles', coalesce((select json_agg(r.rolname order by r.rolname) from pg_roles r where r.oid = any(p.polroles)), '[]'),
      'condition', pg_get_expr(p.polqual, p.polrelid), 'check', pg_get_expr(p.polwithcheck, p.polrelid)
    ) order by p.polname) from pg_policy p where p.polrelid = c.oid), '[]') as policies
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname = $1 and c.relname = $2 and c.relkind in ('r', 'p', 'v', 'm', 'f')`;

/**
 * Reads the structure of a table.
 *
 * @throws Problem `data.unknown_table` (404)
 */
export async function readTableShape(
  client: pg.ClientBase | pg.Pool,
  schemas: readonly string[],
  { schema = '', name = '' }: Readonly<Record<string, string>>,
): Promise<TableShape> {
  const statement = { text: shapeQuery, values: [schema, name] };
  // Names cannot contain NUL, and PostgreSQL refuses texts with it.
  const isPossible = schemas.includes(schema) && !name.includes('\0');
  const { rows } = isPossible ? await client.query<Omit<TableShape, 'reference'>>(statement) : { rows: [] };
  const [shape] = rows;
  if (shape === undefined) throw new Problem('data.unknown_table', 404, m.tableNotFound());
  return { reference: `${quote(schema)}.${quote(name)}`, ...shape };
}
