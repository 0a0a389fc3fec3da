import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildPolicyStatement } from '../../../services/contracts/data/policies.ts';
import { quoteIdentifier, quoteQualified } from '../../../services/contracts/data/sql-names.ts';
import { adminAuthorization } from '../../support/host.ts';
import { openDataFixture, type DataFixture } from './data-fixture.ts';

/** Names that break statements which do not quote them. */
const hostileNames = ['a"b', "it's", '__proto__', 'naïve 表', 'select', 'x; drop table hulls --', 'a/b.c?d#e%20'];

let fixture: DataFixture;
beforeAll(async () => {
  fixture = await openDataFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(async () => {
  await fixture.sql(`drop schema public cascade; create schema public;
    grant usage on schema public to anon, authenticated, service_role;
    create table hulls (id int primary key, owner uuid, name text, length int, unique (name));
    create table berths (id int primary key, hull int references hulls on delete cascade);`);
});

const call = async (method: string, path: string, body?: unknown): Promise<any> => {
  const reply = await fetch(`${fixture.host.url('control')}/api/data${path}`, {
    method,
    headers: { authorization: adminAuthorization, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: reply.status, ...((await reply.json()) as object) };
};
const toPath = (...parts: readonly string[]): string => parts.map(encodeURIComponent).join('/');

describe('row policies', () => {
  const path = '/tables/public/hulls/policies';
  const read = async (): Promise<any[]> => (await call('GET', '/tables/public/hulls')).policies;

  it('creates, replaces and deletes a policy', async () => {
    const policy = { name: 'Owners', roles: ['authenticated'], condition: 'owner = (select auth.uid())' };
    expect(await call('POST', path, policy)).toMatchObject({ status: 200, ok: true });
    expect(await read()).toMatchObject([{ name: 'Owners', command: 'ALL', isPermissive: true, check: null }]);
    const changed = {
      name: 'New hulls',
      isPermissive: false,
      command: 'INSERT',
      roles: ['anon', 'authenticated'],
      check: 'length < 20',
    };
    expect(await call('PUT', `${path}/Owners`, changed)).toMatchObject({ status: 200 });
    expect(await read()).toEqual([
      {
        name: 'New hulls',
        command: 'INSERT',
        isPermissive: false,
        roles: ['anon', 'authenticated'],
        condition: null,
        check: '(length < 20)',
      },
    ]);
    expect(await call('DELETE', `${path}/${toPath('New hulls')}`)).toMatchObject({ status: 200 });
    expect(await read()).toEqual([]);
    expect(await call('DELETE', `${path}/Owners`)).toMatchObject({
      status: 404,
      error: { code: 'data.unknown_policy' },
    });
  });

  it.each([
    ['condition', { condition: 'ownr = auth.uid()' }, 'column "ownr" does not exist'],
    ['condition', { condition: 'length' }, 'argument of POLICY must be type boolean, not type integer'],
    ['condition', { condition: '(true' }, 'syntax error'],
    ['check', { condition: 'true', check: 'nope(id)' }, 'function nope(integer) does not exist'],
    ['roles', { roles: ['captain'] }, 'role "captain" does not exist'],
  ])('reports an error in the field %s', async (field, policy, message) => {
    const reply = await call('POST', path, { name: 'Broken', ...policy });
    expect(reply).toMatchObject({ status: 409, error: { code: 'data.refused' } });
    expect(reply.error.fields).toEqual({ [field]: expect.stringContaining(message) });
    expect(await read()).toEqual([]);
  });

  it('keeps the earlier policy when the new one is invalid or has the name of another', async () => {
    await call('POST', path, { name: 'One', condition: 'true' });
    await call('POST', path, { name: 'Two', condition: 'true' });
    expect((await call('PUT', `${path}/One`, { name: 'Two', condition: 'false' })).error.fields).toEqual({
      name: expect.stringContaining('already exists'),
    });
    expect((await call('PUT', `${path}/One`, { name: 'One', condition: 'nope' })).status).toBe(409);
    expect((await read()).map(({ name, condition }) => [name, condition])).toEqual([
      ['One', 'true'],
      ['Two', 'true'],
    ]);
  });

  it('accepts comments in expressions, and never runs a second statement', async () => {
    expect(await call('POST', path, { name: 'Comment', condition: 'length > 3 -- short hulls' })).toMatchObject({
      status: 200,
    });
    const reply = await call('POST', path, { name: 'Two', condition: 'true); drop table berths; select (true' });
    expect(reply.status).toBe(409);
    expect((await call('GET', '/tables/public/berths')).status).toBe(200);
  });

  it.each(hostileNames)('handles the name %s', async (name) => {
    await fixture.sql(`create table ${quoteIdentifier(name)} (${quoteIdentifier(name)} boolean)`);
    const at = `/tables/${toPath('public', name)}/policies`;
    expect(await call('POST', at, { name, condition: quoteIdentifier(name) })).toMatchObject({ status: 200 });
    expect(await call('PUT', `${at}/${toPath(name)}`, { name, condition: 'true' })).toMatchObject({ status: 200 });
    expect((await call('GET', `/tables/${toPath('public', name)}`)).policies).toMatchObject([{ name }]);
    expect(await call('DELETE', `${at}/${toPath(name)}`)).toMatchObject({ status: 200 });
  });

  it('lists the roles that policies apply to', async () => {
    const { roles } = await call('GET', '/policy-roles');
    expect(roles).toEqual(expect.arrayContaining(['anon', 'authenticated']));
    expect(roles).not.toContain('service_role');
  });
});

describe('buildPolicyStatement', () => {
  it('leaves out expressions that PostgreSQL does not accept for the command', () => {
    const policy = { name: 'P', isPermissive: true, roles: [], condition: 'a', check: 'b' };
    const build = (command: 'SELECT' | 'INSERT'): string => buildPolicyStatement('t', { ...policy, command }).text;
    expect(build('SELECT')).toBe('create policy "P" on t\n  for select\n  using (\n    a\n  )');
    expect(build('INSERT')).toBe('create policy "P" on t\n  for insert\n  with check (\n    b\n  )');
  });
});

describe('schema diagram', () => {
  it('lists tables, keys and foreign keys, also to tables of other schemas', async () => {
    await fixture.sql(`alter table hulls add foreign key (owner) references auth.users (id);
      create view long_hulls as select * from hulls where length > 10`);
    const { tables, foreignKeys } = await call('GET', '/schema/diagram');
    expect(tables.map((table: any) => [table.schema, table.name, table.isView, table.isServed])).toEqual([
      ['auth', 'users', false, false],
      ['public', 'berths', false, true],
      ['public', 'hulls', false, true],
      ['public', 'long_hulls', true, true],
    ]);
    expect(tables[0].columns).toEqual([{ name: 'id', type: 'uuid', isKey: true, isNullable: false, isUnique: false }]);
    expect(tables[2].columns.map((column: any) => [column.name, column.isKey, column.isUnique])).toEqual([
      ['id', true, false],
      ['owner', false, false],
      ['name', false, true],
      ['length', false, false],
    ]);
    expect(foreignKeys).toEqual([
      {
        name: 'berths_hull_fkey',
        from: { schema: 'public', table: 'berths', columns: ['hull'] },
        to: { schema: 'public', table: 'hulls', columns: ['id'] },
      },
      {
        name: 'hulls_owner_fkey',
        from: { schema: 'public', table: 'hulls', columns: ['owner'] },
        to: { schema: 'auth', table: 'users', columns: ['id'] },
      },
    ]);
  });

  it.each(hostileNames)('handles the name %s', async (name) => {
    const quoted = quoteIdentifier(name);
    await fixture.sql(`create table ${quoted} (${quoted} int primary key, parent int references ${quoted})`);
    const { tables, foreignKeys } = await call('GET', '/schema/diagram');
    expect(tables.find((table: any) => table.name === name).columns[0].name).toBe(name);
    expect(foreignKeys.find((key: any) => key.from.table === name).to).toEqual({
      schema: 'public',
      table: name,
      columns: [name],
    });
  });
});

describe('indexes', () => {
  const find = async (name: string): Promise<any> =>
    (await call('GET', '/schema/indexes')).indexes.find((index: any) => index.name === name);

  it('creates, counts and drops an index, and restores it', async () => {
    const input = { schema: 'public', table: 'hulls', name: 'hulls_by_length', columns: ['length', 'name'] };
    expect(await call('POST', '/schema/indexes', input)).toMatchObject({ status: 200 });
    expect(await find('hulls_by_length')).toMatchObject({
      schema: 'public',
      table: 'hulls',
      method: 'btree',
      columns: ['length', 'name'],
      isUnique: false,
      isValid: true,
      constraint: null,
      scans: 0,
      bytes: expect.any(Number),
    });
    expect(await find('hulls_pkey')).toMatchObject({ isPrimary: true, constraint: 'hulls_pkey' });
    await fixture.sql(
      `set enable_seqscan = off; select * from hulls where length = 3; select pg_stat_force_next_flush()`,
    );
    await expect.poll(async () => (await find('hulls_by_length')).scans, { timeout: 10_000 }).toBeGreaterThan(0);
    const { undo } = await call('DELETE', '/schema/indexes/public/hulls_by_length');
    expect(await find('hulls_by_length')).toBeUndefined();
    await fixture.sql(undo);
    expect(await find('hulls_by_length')).toMatchObject({ columns: ['length', 'name'] });
  });

  it('removes the unusable index of a failed creation', async () => {
    await fixture.sql('insert into hulls (id, length) values (1, 5), (2, 5)');
    const input = { schema: 'public', table: 'hulls', name: 'one_length', columns: ['length'], isUnique: true };
    expect(await call('POST', '/schema/indexes', input)).toMatchObject({ status: 409 });
    expect(await find('one_length')).toBeUndefined();
    await fixture.sql('delete from hulls where id = 2');
    expect(await call('POST', '/schema/indexes', input)).toMatchObject({ status: 200 });
  });

  it('reports the field that caused an error', async () => {
    const create = async (change: object): Promise<any> =>
      (
        await call('POST', '/schema/indexes', {
          schema: 'public',
          table: 'hulls',
          name: 'wrong',
          columns: ['length'],
          ...change,
        })
      ).error;
    expect((await create({ name: 'hulls_pkey' })).fields).toEqual({ name: expect.stringContaining('already exists') });
    expect((await create({ columns: ['depth'] })).fields).toEqual({ columns: expect.stringContaining('depth') });
    expect((await create({ method: 'gin' })).fields).toEqual({ columns: expect.stringContaining('operator class') });
    expect((await create({ schema: 'pg_catalog', table: 'pg_class' })).code).toBe('data.unknown_table');
  });

  it('refuses to drop the index of a constraint', async () => {
    expect(await call('DELETE', '/schema/indexes/public/hulls_pkey')).toMatchObject({
      status: 409,
      error: { code: 'data.refused' },
    });
    expect(await call('DELETE', '/schema/indexes/auth/users_pkey')).toMatchObject({ status: 404 });
  });

  it('creates an index of a partitioned table', async () => {
    await fixture.sql(`create table trips (id int, day date) partition by range (day);
      create table trips_2026 partition of trips for values from ('2026-01-01') to ('2027-01-01')`);
    const input = { schema: 'public', table: 'trips', name: 'trips_day', columns: ['day'] };
    expect(await call('POST', '/schema/indexes', input)).toMatchObject({ status: 200 });
    expect(await find('trips_day')).toMatchObject({ table: 'trips' });
  });

  it('lists sizes while a table is locked', async () => {
    const locked = fixture.sql('begin; lock table hulls in access exclusive mode; select pg_sleep(2); commit');
    await expect
      .poll(async () => (await fixture.sql(`select 1 from pg_locks where mode = 'AccessExclusiveLock'`)).length)
      .toBeGreaterThan(0);
    expect(await find('hulls_pkey')).toMatchObject({ bytes: expect.any(Number) });
    await locked;
  });

  it.each(hostileNames)('handles the name %s', async (name) => {
    await fixture.sql(`create table ${quoteIdentifier(name)} (${quoteIdentifier(name)} int)`);
    const input = { schema: 'public', table: name, name: `${name} index`, columns: [name] };
    expect(await call('POST', '/schema/indexes', input)).toMatchObject({ status: 200 });
    const { undo } = await call('DELETE', `/schema/indexes/${toPath('public', input.name)}`);
    await fixture.sql(undo);
    expect(await find(input.name)).toMatchObject({ table: name });
  });
});

describe('triggers and functions', () => {
  const create = (name: string): Promise<unknown> =>
    fixture.sql(`create function ${quoteIdentifier(name)}() returns trigger language plpgsql as $$ begin
        new.length := 1; return new; end $$;
      create trigger ${quoteIdentifier(name)} before insert or update of length on hulls
        for each row execute function ${quoteIdentifier(name)}()`);
  const insertLength = async (): Promise<unknown> => {
    await fixture.sql('delete from hulls; insert into hulls (id, length) values (1, 9)');
    return (await fixture.sql('select length from hulls'))[0].length;
  };

  it('disables, enables, drops and restores a trigger', async () => {
    await create('shorten');
    const { triggers } = await call('GET', '/schema/triggers');
    expect(triggers).toMatchObject([
      {
        schema: 'public',
        table: 'hulls',
        name: 'shorten',
        timing: 'BEFORE',
        events: ['INSERT', 'UPDATE'],
        level: 'ROW',
        function: { name: 'public.shorten', id: 'public.shorten()' },
        isEnabled: true,
      },
    ]);
    const path = '/schema/triggers/public/hulls/shorten';
    expect(await insertLength()).toBe(1);
    expect(await call('PATCH', path, { enabled: false })).toMatchObject({ status: 200 });
    expect(await insertLength()).toBe(9);
    const { undo } = await call('DELETE', path);
    expect((await call('GET', '/schema/triggers')).triggers).toEqual([]);
    await fixture.sql(undo);
    expect((await call('GET', '/schema/triggers')).triggers).toMatchObject([{ name: 'shorten', isEnabled: false }]);
    expect(await call('PATCH', path, { enabled: true })).toMatchObject({ status: 200 });
    expect(await insertLength()).toBe(1);
    expect(await call('PATCH', '/schema/triggers/public/hulls/none', { enabled: true })).toMatchObject({
      status: 404,
    });
  });

  it('shows a function with its source and use, and drops it only when it is unused', async () => {
    await create('shorten');
    const path = `/schema/functions/${toPath('public.shorten()')}`;
    expect(await call('GET', path)).toMatchObject({
      kind: 'trigger',
      language: 'plpgsql',
      volatility: 'volatile',
      isSecurityDefiner: false,
      definition: expect.stringContaining('new.length := 1'),
      triggers: [{ schema: 'public', table: 'hulls', name: 'shorten' }],
    });
    expect(await call('DELETE', path)).toMatchObject({ status: 409, error: { code: 'data.refused' } });
    expect(await call('GET', `/schema/functions/${toPath('pg_catalog.now()')}`)).toMatchObject({ status: 404 });
  });

  it('restores a dropped function with its comment and permissions', async () => {
    await fixture.sql(`create function add(a int, b int default 1) returns int language sql immutable security definer
        as 'select a + b';
      comment on function add is 'Adds two ''numbers''';
      revoke all on function add from public, anon, service_role; grant execute on function add to authenticated`);
    const { functions } = await call('GET', '/schema/functions');
    expect(functions).toMatchObject([
      {
        id: 'public.add(integer,integer)',
        name: 'add',
        arguments: 'a integer, b integer DEFAULT 1',
        result: 'integer',
        kind: 'function',
        volatility: 'immutable',
        isSecurityDefiner: true,
      },
    ]);
    const path = `/schema/functions/${toPath('public.add(integer,integer)')}`;
    const before = await call('GET', path);
    const { undo } = await call('DELETE', path);
    expect(await call('GET', path)).toMatchObject({ status: 404 });
    await fixture.sql(undo);
    expect(await call('GET', path)).toEqual(before);
    expect(before).toMatchObject({ comment: `Adds two 'numbers'` });
    expect(before.callers).toContain('authenticated');
    expect(before.callers).not.toContain('anon');
  });

  it.each(hostileNames)('handles the name %s', async (name) => {
    await create(name);
    const trigger = `/schema/triggers/${toPath('public', 'hulls', name)}`;
    expect(await call('PATCH', trigger, { enabled: false })).toMatchObject({ status: 200 });
    const droppedTrigger = await call('DELETE', trigger);
    const { functions } = await call('GET', '/schema/functions');
    const { id } = functions.find((each: any) => each.name === name);
    const droppedFunction = await call('DELETE', `/schema/functions/${toPath(id)}`);
    await fixture.sql(droppedFunction.undo);
    await fixture.sql(droppedTrigger.undo);
    expect((await call('GET', '/schema/triggers')).triggers).toMatchObject([{ name, isEnabled: false }]);
  });
});

describe('extensions', () => {
  const find = async (name: string): Promise<any> =>
    (await call('GET', '/schema/extensions')).extensions.find((extension: any) => extension.name === name);

  it('enables and disables an extension', async () => {
    expect(await find('citext')).toMatchObject({ installedVersion: null, canChange: true, dependents: [] });
    expect(await call('PATCH', '/schema/extensions/citext', { enabled: true })).toMatchObject({ status: 200 });
    expect(await find('citext')).toMatchObject({ installedVersion: expect.any(String), schema: 'extensions' });
    await fixture.sql('create table sailors (name extensions.citext)');
    expect((await find('citext')).dependents).toEqual([expect.stringContaining('column name of table')]);
    expect(await call('PATCH', '/schema/extensions/citext', { enabled: false })).toMatchObject({
      status: 409,
      error: { code: 'data.refused' },
    });
    await fixture.sql('drop table sailors');
    expect(await call('PATCH', '/schema/extensions/citext', { enabled: false })).toMatchObject({ status: 200 });
    expect(await find('citext')).toMatchObject({ installedVersion: null });
  });

  it('refuses unknown extensions and those that need a superuser', async () => {
    expect(await call('PATCH', '/schema/extensions/none', { enabled: true })).toMatchObject({ status: 404 });
    expect(await find('plpgsql')).toMatchObject({ canChange: false });
    expect(await find('pageinspect')).toMatchObject({ canChange: false });
    expect(await call('PATCH', '/schema/extensions/pageinspect', { enabled: true })).toMatchObject({ status: 409 });
  });
});

it('lists roles with their permissions', async () => {
  const { roles } = await call('GET', '/schema/roles');
  const find = (name: string): any => roles.find((role: any) => role.name === name);
  expect(find('authenticator')).toMatchObject({ canLogin: true, memberOf: ['anon', 'authenticated', 'service_role'] });
  expect(find('service_role')).toMatchObject({ bypassesPolicies: true, canLogin: false });
  expect(find('anon').settings).toContain('statement_timeout=3s');
  await fixture.sql('grant select on hulls to anon; revoke all on berths from anon');
  expect((await call('GET', '/schema/roles')).roles.find((role: any) => role.name === 'anon').tables).toBe(1);
});

it('quotes identifiers', () => {
  expect(quoteIdentifier('a"b\0c')).toBe('"a""bc"');
  expect(quoteQualified('public', '__proto__')).toBe('"public"."__proto__"');
});
