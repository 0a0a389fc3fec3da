import type { SchemaStep } from '../../engine/schema-steps.ts';

/**
 * Tables of the auth API with the names and types of Supabase, so that foreign keys to `auth.users`, triggers on it and
 * seeds keep working. Statements can run repeatedly.
 */
const tables: readonly string[] = [
  'create schema if not exists auth',
  ...[
    ['aal_level', 'aal1', 'aal2', 'aal3'],
    ['factor_type', 'totp', 'webauthn', 'phone'],
    ['factor_status', 'unverified', 'verified'],
    ['code_challenge_method', 's256', 'plain'],
  ].map(
    ([name = '', ...values]) =>
      `do $$ begin create type auth.${name} as enum (${values.map((value) => `'${value}'`).join(', ')}); exception
        when duplicate_object then null; end $$`,
  ),
  `create table if not exists auth.users (
        instance_id uuid,
        id uuid not null primary key,
        aud varchar(255),
        role varchar(255),
        email varchar(255),
        encrypted_password varchar(255),
        email_confirmed_at timestamptz,
        invited_at timestamptz,
        confirmation_token varchar(255),
        confirmation_sent_at timestamptz,
        recovery_token varchar(255),
        recovery_sent_at timestamptz,
        email_change_token_new varchar(255),
        email_change varchar(255),
        email_change_sent_at timestamptz,
        last_sign_in_at timestamptz,
        raw_app_meta_data jsonb,
        raw_user_meta_data jsonb,
        is_super_admin boolean,
        created_at timestamptz,
        updated_at timestamptz,
        phone text default null unique,
        phone_confirmed_at timestamptz,
        phone_change text default '',
        phone_change_token varchar(255) default '',
        phone_change_sent_at timestamptz,
        confirmed_at timestamptz generated always as (least(email_confirmed_at, phone_confirmed_at)) stored,
        email_change_token_current varchar(255) default '',
        email_change_confirm_status smallint default 0 check (email_change_confirm_status between 0 and 2),
        banned_until timestamptz,
        reauthentication_token varchar(255) default '',
        reauthentication_sent_at timestamptz,
        is_sso_user boolean not null default false,
        deleted_at timestamptz,
        is_anonymous boolean not null default false
      )`,
  'create unique index if not exists users_email_partial_key on auth.users (email) where is_sso_user = false',
  'create index if not exists users_instance_id_email_idx on auth.users (instance_id, lower(email::text))',
  'create index if not exists users_created_at_idx on auth.users (created_at desc)',
  ...[
    'confirmation_token',
    'recovery_token',
    'email_change_token_new',
    'email_change_token_current',
    'reauthentication_token',
  ].map(
    (column) =>
      `create unique index if not exists ${column}_idx on auth.users (${column}) where ${column}::text !~ '^[0-9 ]*$'`,
  ),
  `create table if not exists auth.identities (
        provider_id text not null,
        user_id uuid not null references auth.users (id) on delete cascade,
        identity_data jsonb not null,
        provider text not null,
        last_sign_in_at timestamptz,
        created_at timestamptz,
        updated_at timestamptz,
        email text generated always as (lower(identity_data ->> 'email')) stored,
        id uuid not null default gen_random_uuid() primary key,
        unique (provider_id, provider)
      )`,
  'create index if not exists identities_user_id_idx on auth.identities (user_id)',
  'create index if not exists identities_email_idx on auth.identities (email text_pattern_ops)',
  `create table if not exists auth.sessions (
        id uuid not null primary key,
        user_id uuid not null references auth.users (id) on delete cascade,
        created_at timestamptz,
        updated_at timestamptz,
        factor_id uuid,
        aal auth.aal_level,
        not_after timestamptz,
        refreshed_at timestamp,
        user_agent text,
        ip inet,
        tag text
      )`,
  'create index if not exists sessions_user_id_idx on auth.sessions (user_id)',
  `create table if not exists auth.refresh_tokens (
        instance_id uuid,
        id bigserial not null primary key,
        token varchar(255) unique,
        user_id varchar(255),
        revoked boolean,
        created_at timestamptz,
        updated_at timestamptz,
        parent varchar(255),
        session_id uuid references auth.sessions (id) on delete cascade
      )`,
  'create index if not exists refresh_tokens_session_id_revoked_idx on auth.refresh_tokens (session_id, revoked)',
  'create index if not exists refresh_tokens_updated_at_idx on auth.refresh_tokens (updated_at)',
  `create table if not exists auth.mfa_amr_claims (
        session_id uuid not null references auth.sessions (id) on delete cascade,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        authentication_method text not null,
        id uuid not null default gen_random_uuid() primary key,
        unique (session_id, authentication_method)
      )`,
  `create table if not exists auth.mfa_factors (
        id uuid not null primary key,
        user_id uuid not null references auth.users (id) on delete cascade,
        friendly_name text,
        factor_type auth.factor_type not null,
        status auth.factor_status not null,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        secret text,
        phone text,
        last_challenged_at timestamptz,
        last_step bigint
      )`,
  'create index if not exists mfa_factors_user_id_idx on auth.mfa_factors (user_id)',
  `create table if not exists auth.mfa_challenges (
        id uuid not null primary key,
        factor_id uuid not null references auth.mfa_factors (id) on delete cascade,
        created_at timestamptz not null,
        verified_at timestamptz,
        ip_address inet not null
      )`,
  'create index if not exists mfa_challenges_created_at_idx on auth.mfa_challenges (created_at)',
  'create index if not exists mfa_challenges_factor_id_idx on auth.mfa_challenges (factor_id)',
  `create table if not exists auth.flow_state (
        id uuid not null primary key,
        user_id uuid references auth.users (id) on delete cascade,
        auth_code text unique,
        code_challenge_method auth.code_challenge_method,
        code_challenge text,
        provider_type text not null,
        created_at timestamptz,
        updated_at timestamptz,
        authentication_method text not null,
        auth_code_issued_at timestamptz
      )`,
  'create index if not exists flow_state_user_id_idx on auth.flow_state (user_id, authentication_method)',
  'create index if not exists flow_state_created_at_idx on auth.flow_state (created_at)',
];

/**
 * Transfers the tables to the owner role: a user who creates a trigger on `auth.users` must be able to drop it. In an
 * external PostgreSQL they remain with the current user when it may not transfer them.
 */
const transferOwnership = `do $$
declare
  name text;
begin
  if current_user <> 'postgres' and exists (select from pg_roles where rolname = 'postgres') then
    grant usage on schema auth to postgres;
    grant select, insert, update, delete, references, trigger on all tables in schema auth to postgres;
    grant usage, select on all sequences in schema auth to postgres;
    begin
      for name in select tablename from pg_tables where schemaname = 'auth' loop
        execute format('alter table auth.%I owner to postgres', name);
      end loop;
    exception when insufficient_privilege then null;
    end;
  end if;
end $$`;

export const authSteps: readonly SchemaStep[] = [
  { name: 'auth-001-tables', sql: [...tables, transferOwnership].join(';\n') },
];
