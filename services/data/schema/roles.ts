import type { DataDatabaseRole } from '../../contracts/data/schema.ts';
import { readCatalog, type SchemaOptions } from './catalog.ts';

const rolesQuery = `
select r.rolname as name, r.rolcanlogin as "canLogin", r.rolsuper as "isSuperuser", r.rolbypassrls as "bypassesPolicies",
  r.rolcreaterole as "canCreateRoles", r.rolcreatedb as "canCreateDatabases", r.rolconnlimit as "connectionLimit",
  (select count(*)::int from pg_stat_activity s where s.usesysid = r.oid) as connections,
  coalesce((select json_agg(distinct g.rolname) from pg_auth_members a join pg_roles g on g.oid = a.roleid
    where a.member = r.oid), '[]') as "memberOf",
  (select count(*)::int from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any($1) and c.relkind in ('r', 'p', 'v', 'm', 'f')
      and has_table_privilege(r.oid, c.oid, 'select, insert, update, delete')) as tables,
  to_json(coalesce(r.rolconfig, '{}')) as settings
from pg_roles r where r.rolname !~ '^pg_' order by r.rolname`;

/** Lists the roles of the server except the predefined ones. */
export function listRoles({ database, settings }: SchemaOptions): Promise<DataDatabaseRole[]> {
  return readCatalog(database, rolesQuery, [settings.schemas]);
}

/** Lists the roles that row policies apply to: all except those that bypass policies. */
export async function listPolicyRoles({ database }: Pick<SchemaOptions, 'database'>): Promise<string[]> {
  const rows = await readCatalog<{ name: string }>(
    database,
    `select rolname as name from pg_roles where rolname !~ '^pg_' and not rolsuper and not rolbypassrls order by rolname`,
  );
  return rows.map(({ name }) => name);
}
