import pg from 'pg';
import type { SchemaStep } from './schema-steps.ts';

/**
 * Role that owns the tables of projects in the embedded PostgreSQL and runs their statements. It is not a superuser,
 * because superusers can read files of the server.
 */
export const ownerRole = 'postgres';

/**
 * Name of that role in an external PostgreSQL whose address names a superuser. Such a server may already have a
 * superuser named `postgres`, so the role has a different name.
 */
export const externalOwnerRole = 'homeport_owner';

/**
 * Creates event triggers that report each change of the schema. Only a superuser may own them: a user without superuser
 * rights must not own code that runs during statements of a superuser.
 */
export const eventTriggers = `
do $$ begin
  if (select rolsuper from pg_roles where rolname = current_user) then
    alter function homeport.schema_changed() owner to current_user;
    drop event trigger if exists homeport_schema_changed;
    drop event trigger if exists homeport_schema_dropped;
    create event trigger homeport_schema_changed on ddl_command_end execute function homeport.schema_changed();
    create event trigger homeport_schema_dropped on sql_drop execute function homeport.schema_changed();
  end if;
end $$;
`;

/** Roles and functions that row policies refer to, compatible with Supabase. */
export const baseSchemaSteps: readonly SchemaStep[] = [
  {
    name: 'frame-001-roles',
    sql: `
do $$
declare
  wanted record;
begin
  for wanted in select * from (values
    ('anon', 'nologin noinherit'),
    ('authenticated', 'nologin noinherit'),
    ('service_role', 'nologin noinherit bypassrls'),
    ('authenticator', 'login noinherit'),
    ('postgres', 'login createrole createdb bypassrls')
  ) as roles (name, options) loop
    if not exists (select from pg_roles where rolname = wanted.name) then
      execute format('create role %I %s', wanted.name, wanted.options);
    end if;
  end loop;
end $$;
grant anon, authenticated, service_role to authenticator;
do $$ begin
  if current_user <> 'postgres' then
    grant anon, authenticated, service_role to postgres;
    execute format('grant create, temporary on database %I to postgres', current_database());
  end if;
end $$;
alter role anon set statement_timeout = '3s';
alter role authenticated set statement_timeout = '8s';
`,
  },
  {
    name: 'frame-002-public',
    sql: `
grant usage on schema public to anon, authenticated, service_role;
grant usage, create on schema public to postgres with grant option;
do $$
declare
  owner text;
begin
  foreach owner in array array[current_user::text, 'postgres'] loop
    if pg_has_role(owner, 'member') then
      execute format('alter default privileges for role %I in schema public grant all on tables to anon, authenticated, service_role, postgres', owner);
      execute format('alter default privileges for role %I in schema public grant all on sequences to anon, authenticated, service_role, postgres', owner);
      execute format('alter default privileges for role %I in schema public grant all on routines to anon, authenticated, service_role, postgres', owner);
    end if;
  end loop;
end $$;
`,
  },
  {
    name: 'frame-003-auth',
    sql: `
create schema if not exists auth;
grant usage on schema auth to anon, authenticated, service_role;
do $$ begin
  if current_user <> 'postgres' and exists (select from pg_roles where rolname = 'postgres') then
    grant usage on schema auth to postgres;
    alter default privileges in schema auth grant select, insert, update, delete, references, trigger on tables to postgres;
  end if;
end $$;
create or replace function auth.jwt() returns jsonb language sql stable as
  $$ select coalesce(nullif(current_setting('request.jwt.claims', true), ''), '{}')::jsonb $$;
create or replace function auth.uid() returns uuid language sql stable as
  $$ select nullif(auth.jwt() ->> 'sub', '')::uuid $$;
create or replace function auth.role() returns text language sql stable as
  $$ select auth.jwt() ->> 'role' $$;
create or replace function auth.email() returns text language sql stable as
  $$ select auth.jwt() ->> 'email' $$;
grant execute on all functions in schema auth to anon, authenticated, service_role;
do $$ begin
  if exists (select from pg_roles where rolname = 'postgres') then
    grant execute on all functions in schema auth to postgres;
  end if;
end $$;
`,
  },
  {
    name: 'frame-004-schema-changes',
    sql: `
create sequence if not exists homeport.schema_version;
create or replace function homeport.schema_changed() returns event_trigger language plpgsql security definer
set search_path = pg_catalog as $$
begin
  perform nextval('homeport.schema_version');
  perform pg_notify('homeport_schema', '');
end $$;
${eventTriggers}`,
  },
];

/** Builds the grants that let the owner role use the base schema. */
const buildOwnerGrants = (role: string): string => `
grant usage on schema homeport to ${role};
grant select on sequence homeport.schema_version to ${role};
create schema if not exists extensions authorization ${role};
grant usage on schema extensions to anon, authenticated, service_role, ${role};
`;

/**
 * Creates extensions that Supabase dumps refer to and that only a superuser may create. They are safe: triggers that
 * maintain timestamps and references, and statistics. The owner role itself can create extensions that PostgreSQL marks
 * as trusted, such as pgcrypto.
 */
const untrustedExtensions = `
do $$
declare
  extension text;
begin
  foreach extension in array array['moddatetime', 'insert_username', 'autoinc', 'refint', 'pg_stat_statements'] loop
    if exists (select from pg_available_extensions where name = extension) then
      begin
        execute format('create extension if not exists %I with schema extensions', extension);
      exception when others then
        -- A function of that name may already exist.
        raise notice 'was not created: %', extension;
      end;
    end if;
  end loop;
end $$;
`;

/**
 * Builds the statements that create the owner role in an external server that a superuser prepares. It becomes a member
 * of the request roles.
 */
const buildExternalOwner = (role: string): string => `
do $$
declare
  -- Before version 16 a role with CREATEROLE could join roles that run programs and read files.
  options text := case
    when current_setting('server_version_num')::int >= 160000 then 'createrole' else 'nocreaterole' end;
  relation regclass;
begin
  if not exists (select from pg_roles where rolname = '${role}') then
    execute format('create role ${role} login createdb bypassrls nosuperuser %s', options);
  end if;
  execute format('grant create, temporary on database %I to ${role}', current_database());
  for relation in select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'auth' and c.relkind in ('r', 'p') loop
    execute format('alter table %s owner to ${role}', relation);
  end loop;
end $$;
grant anon, authenticated, service_role to ${role};
grant usage, create on schema public to ${role} with grant option;
grant usage, create on schema auth to ${role};
grant select, usage on all sequences in schema auth to ${role};
grant execute on all functions in schema auth to ${role};
alter default privileges for role ${role} in schema public grant all on tables to anon, authenticated, service_role;
alter default privileges for role ${role} in schema public grant all on sequences to anon, authenticated, service_role;
alter default privileges for role ${role} in schema public grant all on routines to anon, authenticated, service_role;
`;

/**
 * Builds the statements that transfer objects of the superuser of the address in the exposed schemas to the owner role,
 * because statements of the pages and of the service key ran as that superuser in earlier versions. Security definer
 * functions are excluded: a new owner would change their rights.
 */
const buildOwnershipTransfer = (role: string, schemas: readonly string[]): string => {
  const names = schemas.map((name) => pg.escapeLiteral(name)).join(', ');
  return `
do $$
declare
  schema name;
  statement text;
begin
  for schema in select nspname from pg_namespace where nspname in (${names}) loop
    execute format('grant usage, create on schema %I to ${role}', schema);
    execute format('grant all on all tables in schema %I to ${role}', schema);
    execute format('grant all on all sequences in schema %I to ${role}', schema);
    execute format('grant execute on all routines in schema %I to ${role}', schema);
  end loop;
  for statement in
    select format('alter %s %s owner to ${role}',
        case c.relkind when 'v' then 'view' when 'm' then 'materialized view' when 'S' then 'sequence' else 'table' end,
        c.oid::regclass)
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname in (${names}) and c.relkind in ('r', 'p', 'v', 'm', 'S') and c.relowner = current_user::regrole
        and not exists (select from pg_depend d
          where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype in ('e', 'a', 'i'))
        -- Views read tables with the rights of their owner: views of tables in other schemas keep their owner.
        and not exists (select from pg_rewrite r
          join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid
          join pg_class below on d.refclassid = 'pg_class'::regclass and below.oid = d.refobjid
          join pg_namespace elsewhere on elsewhere.oid = below.relnamespace
          where c.relkind in ('v', 'm') and r.ev_class = c.oid and elsewhere.nspname not in (${names}))
    union all
    select format('alter type %s owner to ${role}', t.oid::regtype)
      from pg_type t join pg_namespace n on n.oid = t.typnamespace left join pg_class c on c.oid = t.typrelid
      where n.nspname in (${names}) and t.typowner = current_user::regrole
        and (t.typtype in ('e', 'd') or c.relkind = 'c')
        and not exists (select from pg_depend d
          where d.classid = 'pg_type'::regclass and d.objid = t.oid and d.deptype = 'e')
    union all
    select format('alter routine %s owner to ${role}', p.oid::regprocedure)
      from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where n.nspname in (${names}) and p.proowner = current_user::regrole and not p.prosecdef and p.prokind <> 'a'
        and not exists (select from pg_depend d
          where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
  loop
    begin
      execute statement;
    exception when others then
      raise notice 'stays with its owner: %', statement;
    end;
  end loop;
end $$;
`;
};

/** Returns the schema steps for the owner role. With `schemas` the steps are for an external server. */
export function getOwnerSteps(role: string, schemas?: readonly string[]): readonly SchemaStep[] {
  if (schemas === undefined) {
    return [
      {
        name: `owner-001-${role}`,
        // Dumps contain COMMENT ON SCHEMA, which only the owner may run.
        sql: `${buildOwnerGrants(role)}alter schema public owner to ${role};`,
      },
      { name: 'extensions-001', sql: untrustedExtensions },
    ];
  }
  return [
    { name: `owner-001-${role}`, sql: buildExternalOwner(role) + buildOwnerGrants(role) },
    ...schemas.map((schema) => ({ name: `owner-002-${role}-${schema}`, sql: buildOwnershipTransfer(role, [schema]) })),
  ];
}
