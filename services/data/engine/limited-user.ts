import * as m from '#messages/data-problems';
import pg from 'pg';
import { Problem } from '../../contracts/problem.ts';
import type { Text } from '../../contracts/text.ts';
import { baseSchemaSteps } from './base-schema.ts';
import type { SchemaStep } from './schema-steps.ts';

/** Roles of requests. */
const requestRoles = ['anon', 'authenticated', 'service_role'] as const;

interface UserRights {
  readonly name: string;
  readonly database: string;
  readonly isSuperuser: boolean;
  readonly version: number;
  readonly mayCreateRoles: boolean;
  readonly bypassesRowSecurity: boolean;
  readonly mayCreate: boolean;
  readonly mayCreateInPublic: boolean;
  readonly isPrepared: boolean;
  /**
   * Rights in schemas that another user has prepared: create objects in them, and use all of their tables and
   * sequences.
   */
  readonly mayExtendBaseSchema: boolean;
  readonly mayUseBaseSchema: boolean;
  /** Request roles that exist. */
  readonly roles: readonly {
    readonly name: string;
    readonly bypassesRowSecurity: boolean;
    readonly isMember: boolean;
  }[];
}

const rightsQuery = `
select current_user as name, current_database() as database, r.rolsuper as "isSuperuser",
  current_setting('server_version_num')::int as version,
  r.rolcreaterole as "mayCreateRoles", r.rolbypassrls as "bypassesRowSecurity",
  has_database_privilege(current_database(), 'create') as "mayCreate",
  coalesce((select has_schema_privilege(oid, 'create') from pg_namespace where nspname = 'public'), false) as "mayCreateInPublic",
  exists (select from pg_namespace where nspname = 'homeport') as "isPrepared",
  coalesce((select bool_and(has_schema_privilege(oid, 'usage') and has_schema_privilege(oid, 'create'))
    from pg_namespace where nspname in ('homeport', 'auth')), true) as "mayExtendBaseSchema",
  coalesce((select bool_and(case when c.relkind = 'S' then has_sequence_privilege(c.oid, 'usage')
    and has_sequence_privilege(c.oid, 'select')
      else has_table_privilege(c.oid, 'select') and has_table_privilege(c.oid, 'insert')
        and has_table_privilege(c.oid, 'update') and has_table_privilege(c.oid, 'delete') end)
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('homeport', 'auth') and c.relkind in ('r', 'p', 'S')), true) as "mayUseBaseSchema",
  coalesce((select json_agg(json_build_object('name', o.rolname, 'bypassesRowSecurity', o.rolbypassrls or o.rolsuper,
      'isMember', pg_has_role(current_user, o.oid, case when current_setting('server_version_num')::int >= 160000
        then 'set' else 'member' end)))
    from pg_roles o where o.rolname = any($1)), '[]') as roles
from pg_roles r where r.rolname = current_user`;

/** Reads the rights of the current user of an external PostgreSQL. */
async function readRights(client: pg.ClientBase): Promise<UserRights> {
  const { rows } = await client.query<UserRights>(rightsQuery, [requestRoles]);
  if (rows[0] === undefined) throw new Error('pg_roles has no row for the current user');
  return rows[0];
}

/** Schema steps and limitations of an external PostgreSQL. */
export interface PreparationPlan {
  /** Undefined for a superuser, who can run all steps. */
  readonly steps: readonly SchemaStep[] | undefined;
  readonly limits: readonly Text[];
}

/**
 * Checks the rights of the user before anything is changed.
 *
 * @throws Problem `data.missing_rights` (503) with the statements that an administrator of the server has to run.
 */
export async function planPreparation(client: pg.ClientBase): Promise<PreparationPlan> {
  const rights = await readRights(client);
  if (rights.version < 140_000) {
    throw new Problem('data.old_server', 503, m.oldServer);
  }
  if (rights.isSuperuser) return { steps: undefined, limits: [] };
  const statements = buildMissingGrants(rights);
  if (statements.length > 0) {
    const detail = (): string =>
      m.missingRights({ name: rights.name, database: rights.database, statements: statements.join(' ') });
    throw new Problem('data.missing_rights', 503, detail);
  }
  return {
    steps: buildLimitedSteps(rights.name),
    limits: [() => m.limitedUser({ name: rights.name })],
  };
}

/** Returns the statements that an administrator has to run; empty when nothing is missing. */
function buildMissingGrants(rights: UserRights): readonly string[] {
  const user = pg.escapeIdentifier(rights.name);
  const database = pg.escapeIdentifier(rights.database);
  const statements: string[] = [];
  for (const name of requestRoles) {
    const role = rights.roles.find((each) => each.name === name);
    const bypasses = name === 'service_role';
    // Since PostgreSQL 16 only roles with BYPASSRLS can grant it.
    if (role === undefined && (!rights.mayCreateRoles || (bypasses && !rights.bypassesRowSecurity))) {
      statements.push(
        `create role ${name} nologin noinherit${bypasses ? ' bypassrls' : ''};`,
        `grant ${name} to ${user};`,
      );
    }
    if (role !== undefined && bypasses && !role.bypassesRowSecurity) statements.push(`alter role ${name} bypassrls;`);
    if (role !== undefined && !role.isMember) statements.push(`grant ${name} to ${user};`);
  }
  if (!rights.mayCreate && !rights.isPrepared) statements.push(`grant create on database ${database} to ${user};`);
  if (!rights.mayExtendBaseSchema) statements.push(`grant usage, create on schema homeport, auth to ${user};`);
  if (!rights.mayUseBaseSchema) {
    for (const kind of ['tables', 'sequences'])
      statements.push(`grant all on all ${kind} in schema homeport, auth to ${user};`);
  }
  if (!rights.mayCreateInPublic) statements.push(`grant usage, create on schema public to ${user};`);
  return statements;
}

/** Replacements for base schema steps, by step name, that need no superuser. */
const limitedSqlByStep: Readonly<Record<string, string>> = {
  'frame-001-roles': `
do $$
declare
  wanted record;
begin
  for wanted in select * from (values
    ('anon', 'nologin noinherit'), ('authenticated', 'nologin noinherit'), ('service_role', 'nologin noinherit bypassrls')
  ) as roles (name, options) loop
    if not exists (select from pg_roles where rolname = wanted.name) then
      execute format('create role %I %s', wanted.name, wanted.options);
      execute format('grant %I to current_user', wanted.name);
    end if;
  end loop;
end $$;
`,
  'frame-002-public': `
grant usage on schema public to anon, authenticated, service_role;
alter default privileges in schema public grant all on tables to anon, authenticated, service_role;
alter default privileges in schema public grant all on sequences to anon, authenticated, service_role;
alter default privileges in schema public grant all on routines to anon, authenticated, service_role;
`,
};

/**
 * Returns the steps under separate names, so that a later superuser still runs the complete ones. Steps that only an
 * owner may repeat are skipped when a superuser has run them; default privileges are set for each user who creates
 * tables.
 */
function buildLimitedSteps(user: string): readonly SchemaStep[] {
  return baseSchemaSteps.map(({ name, sql }) => {
    const limited = limitedSqlByStep[name];
    return limited === undefined
      ? { name: `limited-${name}`, sql, unless: name }
      : { name: `limited-${name}-${user}`, sql: limited };
  });
}
