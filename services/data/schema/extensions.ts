import * as m from '#messages/data-problems';
import type { DataExtension } from '../../contracts/data/schema.ts';
import { quoteIdentifier } from '../../contracts/data/sql-names.ts';
import { Problem } from '../../contracts/problem.ts';
import { changeSchema, readCatalog, type SchemaOptions } from './catalog.ts';

/** Schema of new extensions, as in Supabase: their functions are not served. */
const extensionSchema = 'extensions';

const extensionsQuery = `
select a.name, coalesce(a.comment, '') as description, a.default_version as "defaultVersion",
  x.extversion as "installedVersion", n.nspname as schema, to_json(coalesce(v.requires, '{}')) as requires,
  case when x.oid is not null then pg_has_role(x.extowner, 'usage')
    else coalesce(v.trusted or not v.superuser, false) and has_database_privilege(current_database(), 'create')
  end as "canChange",
  coalesce((select json_agg(description order by description) from (
    select distinct pg_describe_object(d.classid, d.objid, d.objsubid) as description
    from pg_depend e join pg_depend d on d.refclassid = e.classid and d.refobjid = e.objid and d.deptype = 'n'
    where e.refclassid = 'pg_extension'::regclass and e.refobjid = x.oid and e.deptype = 'e'
      -- Members of operator families are not listed as members of the extension.
      and d.classid not in ('pg_amop'::regclass, 'pg_amproc'::regclass)
      and not exists (select from pg_depend o where o.classid = d.classid and o.objid = d.objid
        and o.refclassid = 'pg_extension'::regclass and o.refobjid = x.oid and o.deptype = 'e')
    union
    select pg_describe_object(d.classid, d.objid, d.objsubid) from pg_depend d
    where d.refclassid = 'pg_extension'::regclass and d.refobjid = x.oid and d.deptype = 'n'
    limit 50) as used), '[]') as dependents
from pg_available_extensions a
left join pg_available_extension_versions v on v.name = a.name and v.version = a.default_version
left join pg_extension x on x.extname = a.name left join pg_namespace n on n.oid = x.extnamespace
order by a.name`;

/** Lists the extensions that the server offers. */
export function listExtensions({ database }: Pick<SchemaOptions, 'database'>): Promise<DataExtension[]> {
  return readCatalog(database, extensionsQuery);
}

/**
 * Enables or disables an extension. Enabling also creates the extensions that it requires.
 *
 * @throws Problem `data.unknown_extension` (404), `data.refused` (409) while other objects depend on it
 */
export async function changeExtension(
  { database }: Pick<SchemaOptions, 'database'>,
  name: string,
  isEnabled: boolean,
): Promise<void> {
  const extension = (await listExtensions({ database })).find((each) => each.name === name);
  if (extension === undefined) throw new Problem('data.unknown_extension', 404, m.extensionNotFound());
  await changeSchema(database, async (client) => {
    const quoted = quoteIdentifier(extension.name);
    if (!isEnabled) return void (await client.query(`drop extension if exists ${quoted} restrict`));
    await client.query(`create schema if not exists ${quoteIdentifier(extensionSchema)}`);
    await client.query(
      `create extension if not exists ${quoted} with schema ${quoteIdentifier(extensionSchema)} cascade`,
    );
  });
}
