import { createClient, type SupabaseClient } from '@supabase/supabase-js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDataFixture, type DataFixture } from './data-fixture.ts';

/** Prepared statements must not outlive the schema and role that they were prepared for. */
let fixture: DataFixture;
let db: SupabaseClient<any>;
beforeAll(async () => {
  fixture = await openDataFixture({ settings: { schemas: ['public', 'shop'] } });
  db = createClient<any>(fixture.url, fixture.serviceKey);
});
afterAll(() => fixture[Symbol.asyncDispose]());

const wait = async <T>(query: PromiseLike<{ data: T; error: unknown }>): Promise<T> => {
  const { data, error } = await query;
  expect(error).toBeNull();
  return data;
};

test('uses a changed column type immediately for statements that ran many times', async () => {
  await fixture.sql('create table things (id int primary key, code int); insert into things values (1, 7), (2, 8)');
  const seven = () => db.from('things').select('id, code').eq('code', '7');
  for (let turn = 0; turn < 8; turn += 1) expect(await wait(seven())).toEqual([{ id: 1, code: 7 }]);
  for (const [type, code] of [
    ['text', '7'],
    ['int', 7],
    ['jsonb', 7],
    ['text', '7'],
  ] as const) {
    const using = type === 'int' ? 'code::text::int' : type === 'jsonb' ? 'to_jsonb(code)' : 'code::text';
    await fixture.sql(`alter table things alter code type ${type} using ${using}`);
    expect(await wait(seven())).toEqual([{ id: 1, code }]);
  }
  // The column accepts letters now; the former failure is not cached.
  expect(await wait(db.from('things').select('id').eq('code', 'seven'))).toEqual([]);
  await fixture.sql('alter table things rename code to number');
  const { error } = await seven();
  expect(error?.code).toBe('42703');
});

test('reports the failure of a statement each time and keeps the connection', async () => {
  await fixture.sql('create table numbers (id int primary key, n int)');
  for (let turn = 0; turn < 4; turn += 1) {
    expect((await db.from('numbers').select().eq('n', 'three')).error?.code).toBe('22P02');
    expect((await db.from('numbers').insert({ id: turn, n: turn })).error).toBeNull();
    expect((await db.from('numbers').insert({ id: turn, n: 0 })).error?.code).toBe('23505');
    expect(
      (
        await db
          .from('numbers')
          .insert([{ id: 10 + turn }, { id: 0 }])
          .select()
      ).error?.code,
    ).toBe('23505');
  }
  expect(await wait(db.from('numbers').select('id').order('id'))).toEqual([0, 1, 2, 3].map((id) => ({ id })));
});

test('limits the prepared statements of a connection', async () => {
  await fixture.sql(
    'create table wide (id int primary key, a int, b int, c int, d int, e int, f int, g int, h int);' +
      ' create function kept_here() returns bigint language sql stable as $$ select count(*) from ' +
      'pg_prepared_statements $$',
  );
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  for (let mask = 1; mask < 128; mask += 1) {
    const chosen = names.filter((_, index) => (mask >> index) % 2 === 1).join(',');
    await wait(db.from('wide').select(chosen).gt('id', 0));
  }
  const stored = Number(await wait(db.rpc('kept_here')));
  expect(stored).toBeGreaterThan(10);
  expect(stored).toBeLessThan(60);
});

test('does not share prepared statements between roles and checks policies each time', async () => {
  const [ann, bob] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'];
  await fixture.sql(`create table own (id int primary key, owner uuid); alter table own enable row level security;
    create policy mine on own for select to authenticated using (owner = (select auth.uid()));
    insert into own values (1, '${ann}'), (2, '${bob}')`);
  const seen = async (token: string | undefined): Promise<unknown> =>
    (
      await fixture.request('/rest/v1/own?select=id', {
        headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
      })
    ).json();
  for (let turn = 0; turn < 12; turn += 1) {
    expect(await seen(fixture.token(ann))).toEqual([{ id: 1 }]);
    expect(await seen(undefined)).toEqual([]);
    expect(await seen(fixture.token(bob))).toEqual([{ id: 2 }]);
    expect(await seen(fixture.serviceKey)).toEqual([{ id: 1 }, { id: 2 }]);
  }
});

test('refuses a role that lost its right to a schema although another role prepared the statement', async () => {
  await fixture.sql(`create table books (id int primary key); create table shelves (id int primary key);
    create schema shop; grant usage on schema shop to anon, service_role;
    create table shop.places (book int references books, shelf int references shelves, primary key (book, shelf));
    grant select on shop.places to anon, service_role;
    insert into books values (1); insert into shelves values (2); insert into shop.places values (1, 2)`);
  const rows = async (apikey: string): Promise<unknown> =>
    (await fixture.request('/rest/v1/books?select=id,shelves(id)', { headers: { apikey } })).json();
  const all = [{ id: 1, shelves: [{ id: 2 }] }];
  await fixture.sql('revoke usage on schema shop from anon');
  for (let turn = 0; turn < 3; turn += 1) {
    expect(await rows(fixture.serviceKey)).toEqual(all);
    expect(await rows(fixture.anonKey)).toMatchObject({ code: '42501' });
  }
  await fixture.sql('grant usage on schema shop to anon');
  expect(await rows(fixture.anonKey)).toEqual(all);
});

test('accepts a value that fits the new type of a column although the statement was prepared before', async () => {
  await fixture.sql('create table marks (id int primary key, mark int); insert into marks values (1, 7)');
  const marked = (mark: string) => db.from('marks').select('id').eq('mark', mark);
  for (let turn = 0; turn < 3; turn += 1) expect(await wait(marked('7'))).toEqual([{ id: 1 }]);
  expect((await marked('seven')).error?.code).toBe('22P02');
  await fixture.sql('alter table marks alter mark type text using mark::text');
  expect(await wait(marked('seven'))).toEqual([]);
});

test('runs a refused request once', async () => {
  await fixture.sql(`create sequence tickets; create function ticket(code text) returns bigint language plpgsql as $$
    declare n bigint := nextval('tickets');
    begin
      if code <> '' then raise exception 'no' using errcode = code; end if;
      return n;
    end $$`);
  let drawn = 0;
  for (const code of ['', '', '22P02', '42501', '42883', '0A000', '26000', '']) {
    const { data, error } = await db.rpc('ticket', { code });
    drawn += 1;
    expect([code, error?.code ?? '', code === '' ? data : drawn]).toEqual([code, code, drawn]);
  }
  expect(await fixture.sql('select last_value::int as drawn from tickets')).toEqual([{ drawn }]);
});

test('continues after the prepared statements of a connection were discarded', async () => {
  await fixture.sql(`create table kept (id int primary key); insert into kept values (1);
    create function forget_all() returns int language plpgsql as $$ begin execute 'deallocate all'; return 1; end $$`);
  const read = () => wait(db.from('kept').select('id'));
  for (let turn = 0; turn < 3; turn += 1) {
    expect(await read()).toEqual([{ id: 1 }]);
    expect(await wait(db.rpc('forget_all'))).toBe(1);
    // A statement that the connection has prepared, and a new one.
    expect(await read()).toEqual([{ id: 1 }]);
    expect(await wait(db.rpc('forget_all'))).toBe(1);
    expect(
      await wait(
        db
          .from('kept')
          .select('id')
          .gt('id', turn)
          .limit(turn + 1),
      ),
    ).toEqual(turn === 0 ? [{ id: 1 }] : []);
  }
});
