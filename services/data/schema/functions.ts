import * as m from '#messages/data-problems';
import type pg from 'pg';
import type { DataFunction, DataFunctionDetails } from '../../contracts/data/schema.ts';
import { quoteIdentifier } from '../../contracts/data/sql-names.ts';
import { Problem } from '../../contracts/problem.ts';
import { changeSchema, readCatalog, type SchemaOptions } from './catalog.ts';

const columns = `
  p.oid::regprocedure::text as id, n.nspname as schema, p.proname as name, pg_get_function_arguments(p.oid) as arguments,
  coalesce(pg_get_function_result(p.oid), '') as result, l.lanname as language, p.prosecdef as "isSecurityDefiner",
  case when p.prorettype = 'trigger'::regtype then 'trigger' when p.prokind = 'p' then 'procedure'
    when p.prokind = 'a' then 'aggregate' when p.prokind = 'w' then 'window' else 'function' end as kind,
  case p.provolatile when 'i' then 'immutable' when 's' then 'stable' else 'volatile' end as volatility,
  (select e.extname from pg_depend d join pg_extension e on e.oid = d.refobjid
    where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e' limit 1) as extension`;
const source = `
from pg_proc p join pg_namespace n on n.oid = p.pronamespace join pg_language l on l.oid = p.prolang
where n.nspname = any($1)`;

const detailsQuery = `
select ${columns},
  case when p.prokind <> 'a' then pg_get_functiondef(p.oid) end as definition,
  coalesce(obj_description(p.oid, 'pg_proc'), '') as comment, pg_get_userbyid(p.proowner) as owner,
  coalesce((select json_agg(distinct case when g.grantee = 0 then 'public' else pg_get_userbyid(g.grantee) end)
    from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) g where g.privilege_type = 'EXECUTE'), '[]') as callers,
  coalesce((select json_agg(json_build_object('schema', tn.nspname, 'table', c.relname, 'name', t.tgname)
      order by tn.nspname, c.relname, t.tgname)
    from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace tn on tn.oid = c.relnamespace
    where t.tgfoid = p.oid and not t.tgisinternal and t.tgparentid = 0), '[]') as triggers
${source} and p.oid::regprocedure::text = $2`;

/** Lists the functions and procedures of the served schemas. */
export function listFunctions({ database, settings }: SchemaOptions): Promise<DataFunction[]> {
  return readCatalog(database, `select ${columns} ${source} order by n.nspname, p.proname, 4`, [settings.schemas]);
}

/** Reads a function with its source. @throws Problem `data.unknown_function` (404). */
export async function readFunction({ database, settings }: SchemaOptions, id: string): Promise<DataFunctionDetails> {
  // PostgreSQL refuses texts with NUL.
  const values = [settings.schemas, id.replaceAll('\0', '')];
  const [found] = await readCatalog<DataFunctionDetails>(database, detailsQuery, values);
  return found ?? throwUnknown();
}

/**
 * Drops a function and returns the statements that create it again with its comment and permissions; empty for
 * aggregates, whose definition PostgreSQL cannot print.
 *
 * @throws Problem `data.unknown_function` (404), `data.refused` (409) while other objects use it
 */
export async function dropFunction({ database, settings }: SchemaOptions, id: string): Promise<string> {
  return changeSchema(database, async (client) => {
    const { rows } = await client.query<DataFunctionDetails>(detailsQuery, [settings.schemas, id.replaceAll('\0', '')]);
    const details = rows[0] ?? throwUnknown();
    await client.query(`drop routine ${details.id}`);
    return buildRestore(client, details);
  });
}

function throwUnknown(): never {
  throw new Problem('data.unknown_function', 404, m.functionNotFound());
}

function buildRestore(client: pg.PoolClient, { id, definition, comment, callers, owner }: DataFunctionDetails): string {
  if (definition === null) return '';
  const grantees = callers.filter((caller) => caller !== owner).map((caller) => toGrantee(caller));
  return [
    definition.trimEnd(),
    // Default privileges grant a new function to these roles.
    `revoke all on routine ${id} from public, anon, authenticated, service_role`,
    ...(grantees.length === 0 ? [] : [`grant execute on routine ${id} to ${grantees.join(', ')}`]),
    ...(comment === '' ? [] : [`comment on routine ${id} is ${client.escapeLiteral(comment)}`]),
  ].join(';\n');
}

const toGrantee = (caller: string): string => (caller === 'public' ? 'public' : quoteIdentifier(caller));
