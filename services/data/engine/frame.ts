import type { SchemaStep } from './steps.ts';

/** The role that owns people's tables in a PostgreSQL of our own, and runs their statements. No superuser: one reads files. */
export const ownerRole = 'postgres';

/**
 * Tell of each change of the schema; only a superuser may have them. Whoever prepared the database without being one has
 * none, and must not own what runs at the statements of a superuser.
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

/** Roles and functions that policies are written with, as Supabase has them. */
export const frameSteps: readonly SchemaStep[] = [
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
