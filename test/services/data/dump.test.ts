import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { openDataFixture, type DataFixture } from './data-fixture.ts';

const password = 'a password for psql';
let fixture: DataFixture;
let port: number;
beforeAll(async () => {
  port = await freePort();
  fixture = await openDataFixture({ settings: { directPort: port, directPassword: password } });
});
afterAll(() => fixture[Symbol.asyncDispose]());

/** Beginning of a Supabase dump. */
const head = `
SET statement_timeout = 0; SET lock_timeout = 0; SET client_encoding = 'UTF8'; SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false; SET client_min_messages = warning; SET row_security = off;
COMMENT ON SCHEMA "public" IS 'standard public schema';
CREATE SCHEMA IF NOT EXISTS "extensions";
CREATE EXTENSION IF NOT EXISTS "pg_stat_statements" WITH SCHEMA "extensions";
CREATE EXTENSION IF NOT EXISTS "pgcrypto" WITH SCHEMA "extensions";
CREATE EXTENSION IF NOT EXISTS "uuid-ossp" WITH SCHEMA "extensions";
CREATE EXTENSION IF NOT EXISTS "citext" WITH SCHEMA "extensions";
CREATE EXTENSION IF NOT EXISTS "moddatetime" WITH SCHEMA "extensions";
CREATE TABLE "public"."notes" (
  "id" "uuid" DEFAULT "extensions"."uuid_generate_v4"() NOT NULL PRIMARY KEY,
  "body" "extensions"."citext", "changed_at" timestamp with time zone DEFAULT "now"()
);
CREATE TRIGGER "handle_change" BEFORE UPDATE ON "public"."notes"
  FOR EACH ROW EXECUTE FUNCTION "extensions"."moddatetime"('changed_at');`;

describe('Supabase dump', () => {
  it('loads its first lines, and its defaults work for every role', async () => {
    await fixture.sql(head);
    const row = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"body":"Hello"}' };
    expect((await fixture.request('/rest/v1/notes', row)).status).toBe(201);
    const service = { ...row, headers: { ...row.headers, apikey: fixture.serviceKey } };
    expect((await fixture.request('/rest/v1/notes', service)).status).toBe(201);
    // The operators of an extension are on the search path of requests.
    const result = await fixture.request('/rest/v1/notes?body=eq.HELLO&select=body');
    expect(await result.json()).toEqual([{ body: 'Hello' }, { body: 'Hello' }]);
  });

  it('finds functions of extensions without their schema', async () => {
    await fixture.sql('create extension if not exists "uuid-ossp" with schema extensions');
    expect(await fixture.sql('select uuid_generate_v4() is not null as made')).toEqual([{ made: true }]);
  });
});

describe('port for psql', () => {
  const connect = async (user: string, secret: string): Promise<pg.Client> => {
    const client = new pg.Client({ host: '127.0.0.1', port, user, password: secret, database: 'postgres' });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  };

  it('accepts the owner of the tables with the password of the settings', async () => {
    const client = await connect('postgres', password);
    const { rows } = await client.query('select rolsuper from pg_roles where rolname = current_user');
    await client.query('create table by_psql (a int)');
    await client.end();
    expect(rows).toEqual([{ rolsuper: false }]);
    expect((await fixture.request('/rest/v1/by_psql')).status).toBe(200);
  });

  it('refuses every other password and every other role', async () => {
    await expect(connect('postgres', 'wrong')).rejects.toThrow(/password/);
    for (const role of ['homeport', 'authenticator', 'service_role', 'anon']) {
      await expect(connect(role, password)).rejects.toThrow(/password|not permitted/);
    }
  });
});
