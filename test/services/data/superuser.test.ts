import { existsSync, mkdtempSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { adminAuthorization } from '../../support/host.ts';
import { startPostgres, type PostgresServer } from '../../support/postgres.ts';
import { openDataFixture, type DataFixture } from './data-fixture.ts';

const servers: PostgresServer[] = [];
afterAll(async () => {
  for (const server of servers) await server[Symbol.asyncDispose]();
});

/** External server with the address of its superuser. */
async function ownServer(): Promise<string> {
  const server = await startPostgres();
  servers.push(server);
  return server.url;
}

async function pageTables(fixture: DataFixture): Promise<{ name: string; rows: number | null; isEstimate: boolean }[]> {
  const reply = await fetch(`${fixture.host.url('control')}/api/data/tables`, {
    headers: { authorization: adminAuthorization },
  });
  expect(reply.status).toBe(200);
  const { tables } = (await reply.json()) as { tables: { name: string; rows: number | null; isEstimate: boolean }[] };
  return tables;
}

/** Function that writes a file when a superuser runs it, and records the roles that have run it. */
function trap(file: string): string {
  return `
    create table ran (name text, is_super boolean);
    create function evil() returns int language plpgsql volatile as $$
    begin
      insert into public.ran select current_user, rolsuper from pg_catalog.pg_roles where rolname = current_user;
      if (select rolsuper from pg_catalog.pg_roles where rolname = current_user) then
        execute 'copy (select 1) to program ''id > ${file}''';
      end if;
      return 1;
    end $$;
    create table zz (a int);
    insert into zz values (1);`;
}

const swap = `begin; drop table zz; create view zz as select 1 a where evil() = 1; select pg_sleep(0.15); commit;
  begin; drop view zz; create table zz (a int); insert into zz values (1); commit;`;

/** Replaces a table by a view repeatedly while pages list tables. */
async function race(fixture: DataFixture): Promise<void> {
  let isOver = false;
  const swapping = (async () => {
    while (!isOver) await fixture.sql(swap);
  })();
  for (let load = 0; load < 12; load += 1) {
    await pageTables(fixture);
    await delay(30);
  }
  isOver = true;
  await swapping;
}

describe.each(['bundled server', 'own server with the address of a superuser'])('statements in the %s', (kind) => {
  it('does not run code of users as a superuser, even when it replaces a table', async () => {
    const environment = kind === 'bundled server' ? {} : { DATABASE_URL: await ownServer() };
    await using fixture = await openDataFixture({ environment });
    const folder = mkdtempSync(join(tmpdir(), 'homeport-trap-'));
    chmodSync(folder, 0o777);
    const file = join(folder, 'ran');
    await fixture.sql(trap(file));
    await race(fixture);
    expect(existsSync(file)).toBe(false);
    expect(await fixture.sql('select count(*)::int as count from ran where is_super')).toEqual([{ count: 0 }]);
    // The function runs where it may, so the absence of the file means that no superuser ran it.
    await fixture.sql(`${swap.split(' select pg_sleep')[0] ?? ''} commit; select * from zz;`);
    expect(await fixture.sql('select count(*) > 0 as "hasRun" from ran')).toEqual([{ hasRun: true }]);
  });

  it('gives the service key no superuser rights, directly or indirectly', async () => {
    const environment = kind === 'bundled server' ? {} : { DATABASE_URL: await ownServer() };
    await using fixture = await openDataFixture({ environment });
    const query = 'select rolsuper from pg_roles where rolname in (current_user, session_user)';
    for (const before of ['', 'reset role;', 'set role none;', 'reset session authorization;']) {
      const rows = await fixture.sql(`${before} ${query}`);
      expect(rows.map(({ rolsuper }) => rolsuper)).toEqual(rows.map(() => false));
    }
    const refused = [
      `copy (select 1) to program 'id'`,
      `select pg_read_file('/etc/hostname')`,
      'create extension plpython3u',
      'create event trigger mine on ddl_command_end execute function homeport.schema_changed()',
      'alter role current_user superuser',
      `do $$ begin execute format('alter role %I nologin', (select rolname from pg_roles where oid = 10)); end $$`,
      `do $$ begin execute format('set role %I', (select rolname from pg_roles where oid = 10)); end $$`,
      'set role homeport',
      `alter system set log_statement = 'all'`,
      'grant pg_execute_server_program to current_user',
      'create table homeport.mine (a int)',
      `update homeport.steps set name = ''`,
    ];
    for (const statement of refused) {
      await expect(fixture.sql(statement), statement).rejects.toThrow(/42501|42704|58P01|0A000|55000|22023/);
    }
  });
});

/** Runs `work` with a connection of the superuser. */
async function asSuperuser<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const namesIn = (url: string, table: string): Promise<string[]> =>
  asSuperuser(url, async (client) => {
    const { rows } = await client.query<{ name: string }>(`select name from ${table}`);
    return rows.map(({ name }) => name);
  });

it('transfers tables that the superuser of the address created before', async () => {
  const url = await ownServer();
  await asSuperuser(url, (client) =>
    client.query(`create type mood as enum ('good');
      create table old (id bigserial primary key, mood mood);
      create view seen as select * from old;
      insert into old (mood) values ('good')`),
  );
  await using fixture = await openDataFixture({ environment: { DATABASE_URL: url } });
  await fixture.sql(`alter table old add column more text; insert into old (more) values ('1')`);
  expect(await fixture.sql('select id, mood from seen order by id')).toEqual([
    { id: '1', mood: 'good' },
    { id: '2', mood: null },
  ]);
  expect(await pageTables(fixture)).toMatchObject([{ name: 'old', rows: 2, isEstimate: false }, { name: 'seen' }]);
});

it('ignores code of another user in the steps table when a superuser connects', async () => {
  const url = await ownServer();
  await asSuperuser(url, (client) =>
    client.query(`create role other login; create schema homeport authorization other; set role other;
      create table homeport.ran (name text); grant all on homeport.ran to public;
      create function homeport.evil() returns text language plpgsql as $$
      begin insert into homeport.ran values (current_user); return now()::text; end $$;
      create function homeport.evil_trigger() returns trigger language plpgsql as $$
      begin insert into homeport.ran values (current_user); return new; end $$;
      create table homeport.steps (name text primary key, taken_at text default homeport.evil());
      create trigger evil before insert on homeport.steps for each row execute function homeport.evil_trigger();
      insert into homeport.steps (name, taken_at) values ('nothing', 'now'); truncate homeport.ran`),
  );
  await using fixture = await openDataFixture({ environment: { DATABASE_URL: url } });
  await fixture.sql('select 1');
  expect(await namesIn(url, 'homeport.ran')).toEqual([]);
  expect(await namesIn(url, 'homeport.steps')).toContain('nothing');
});

it('uses no functions of users instead of those of PostgreSQL during preparation', async () => {
  const url = await ownServer();
  await asSuperuser(url, (client) =>
    client.query(`create table ran (name text);
      create function public.format(text, name) returns text language plpgsql as $$
      begin insert into public.ran values (current_user); return pg_catalog.format($1, $2); end $$;
      create function public.nextval(text) returns bigint language plpgsql as $$
      begin insert into public.ran values (current_user); return 1; end $$`),
  );
  await using fixture = await openDataFixture({ environment: { DATABASE_URL: url } });
  await fixture.sql('create table later (id int)');
  expect(await namesIn(url, 'ran')).toEqual([]);
});
