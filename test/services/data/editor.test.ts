import * as m from '#messages/data-problems';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TypeInference } from '../../../services/data/csv/type-inference.ts';
import { parseCsvRows } from '../../../services/data/csv/parse.ts';
import { adminAuthorization } from '../../support/host.ts';
import { openDataFixture, type DataFixture } from './data-fixture.ts';

/** Table editor: rows that are read, inserted, updated and deleted, and imported files. */
let fixture: DataFixture;
beforeAll(async () => {
  fixture = await openDataFixture();
  await fixture.sql(`
    create type mood as enum ('sad', 'glad');
    create table notes (id bigint generated always as identity primary key, title text not null, n int, meta jsonb, tags text[], mood mood,
      at timestamptz, done boolean not null default false, twice int generated always as (n * 2) stored);
    alter table notes enable row level security;
    create table pairs ("a b" int, c text, primary key ("a b", c));
    create table keyless (a int);
    create view titles as select title from notes;`);
});
afterAll(() => fixture[Symbol.asyncDispose]());

async function callApp(method: string, path: string, body?: unknown, bytes?: string): Promise<any> {
  const reply = await fetch(`${fixture.host.url('control')}/api/data${path}`, {
    method,
    headers: {
      authorization: adminAuthorization,
      'content-type': bytes === undefined ? 'application/json' : 'application/octet-stream',
    },
    ...(bytes === undefined ? (body === undefined ? {} : { body: JSON.stringify(body) }) : { body: bytes }),
  });
  return { status: reply.status, ...((await reply.json()) as object) };
}

test('lists the columns of a table and their possible values', async () => {
  const { columns, isProtected } = await callApp('GET', '/tables/public/notes');
  expect(isProtected).toBe(true);
  expect(columns.find(({ name }: any) => name === 'mood')).toEqual({
    ...{ name: 'mood', type: 'public.mood', isNullable: true, defaultValue: null, isGenerated: false, isKey: false },
    choices: ['sad', 'glad'],
    ...{ isIdentity: false, unique: null, reference: null },
  });
  expect(columns.filter(({ isGenerated }: any) => isGenerated).map(({ name }: any) => name)).toEqual(['id', 'twice']);
  expect(columns.filter(({ isKey }: any) => isKey).map(({ name }: any) => name)).toEqual(['id']);
  expect((await callApp('GET', '/tables/pg_catalog/pg_authid')).status).toBe(404);
  expect((await callApp('GET', '/tables/auth/users/rows')).status).toBe(404);
});

test('inserts, reads, updates and deletes a row with nulls, lists and JSON', async () => {
  const values = {
    title: "it's",
    n: '3',
    meta: '{"a": [1, 12345678901234567890]}',
    tags: '{x,"y z"}',
    mood: 'glad',
    at: '2024-02-29T10:00:00Z',
  };
  expect((await callApp('POST', '/tables/public/notes/rows', { values })).status).toBe(200);
  const { rows, total } = await callApp('GET', '/tables/public/notes/rows');
  expect(total).toBe(1);
  expect(rows[0].slice(0, 5)).toEqual(['1', "it's", '3', '{"a": [1, 12345678901234567890]}', '{x,"y z"}']);
  const key = { id: '1' };
  expect(
    (await callApp('PATCH', '/tables/public/notes/rows', { key, values: { meta: null, n: '4', done: 'true' } })).status,
  ).toBe(200);
  expect((await callApp('POST', '/tables/public/notes/rows/read', { key })).values).toMatchObject({
    meta: null,
    n: '4',
    twice: '8',
    done: 'true',
  });
  expect(await callApp('POST', '/tables/public/notes/rows/remove', { keys: [key] })).toMatchObject({ removed: 1 });
  expect((await callApp('PATCH', '/tables/public/notes/rows', { key, values: { n: '1' } })).status).toBe(404);
  // A key that is invalid for its column.
  const invalidKey = await callApp('POST', '/tables/public/notes/rows/read', { key: { id: 'seven' } });
  expect([invalidKey.status, invalidKey.error.detail]).toEqual([409, expect.stringContaining('invalid input syntax')]);
  // Keys of several columns, with any names.
  const pair = { 'a b': '1', c: 'x"; drop table notes; --' };
  expect((await callApp('POST', '/tables/public/pairs/rows', { values: pair })).status).toBe(200);
  expect(await callApp('POST', '/tables/public/pairs/rows/remove', { keys: [pair] })).toMatchObject({ removed: 1 });
});

test('returns long keys completely, so that the row is found by them', async () => {
  const [slug, body] = ['s'.repeat(400), 'b'.repeat(400)];
  await fixture.sql('create table slugs (slug text primary key, body text)');
  expect((await callApp('POST', '/tables/public/slugs/rows', { values: { slug, body } })).status).toBe(200);
  const { rows } = await callApp('GET', '/tables/public/slugs/rows');
  expect(rows).toEqual([[slug, body.slice(0, 300)]]);
  const keys = [{ slug: rows[0][0] }];
  expect(await callApp('POST', '/tables/public/slugs/rows/remove', { keys })).toMatchObject({ removed: 1 });
  expect(await callApp('POST', '/tables/public/slugs/rows/remove', { keys })).toMatchObject({ removed: 0 });
});

test('reports an invalid value at its field', async () => {
  const add = (values: object): Promise<any> => callApp('POST', '/tables/public/notes/rows', { values });
  expect((await add({ title: 'x', n: 'three', mood: 'angry' })).error.fields).toEqual({
    n: m.refusalWithOriginal({
      explanation: m.valueInvalidForType({ type: 'integer' }),
      original: 'invalid input syntax for type integer: "three".',
    }),
    mood: m.refusalWithOriginal({
      explanation: m.valueInvalidForType({ type: 'public.mood' }),
      original: 'invalid input value for enum mood: "angry".',
    }),
  });
  expect(Object.keys((await add({ n: '1' })).error.fields)).toEqual(['title']);
  expect(Object.keys((await add({ title: null })).error.fields)).toEqual(['title']);
  expect((await add({ title: 'x', nope: '1' })).status).toBe(404);
  expect((await callApp('POST', '/tables/public/keyless/rows', { values: { a: '1' } })).status).toBe(200);
  const change = await callApp('PATCH', '/tables/public/keyless/rows', { key: { a: '1' }, values: { a: '2' } });
  expect([change.status, change.error.code]).toEqual([409, 'data.no_key']);
  expect((await callApp('POST', '/tables/public/titles/rows', { values: { title: 'x' } })).status).toBe(409);
  expect((await callApp('GET', '/tables/public/notes/rows?order=id;drop table notes')).status).toBe(404);
});

test('pages through a hundred thousand rows in any order, with filters', async () => {
  await fixture.sql(
    `create table many (id int primary key, word text); insert into many select n, 'w' || (n % 1000) from generate_series(1, 100000) n`,
  );
  const last = await callApp('GET', '/tables/public/many/rows?offset=99990&limit=100');
  expect([last.total, last.rows.length, last.rows.at(-1)]).toEqual([100_000, 10, ['100000', 'w0']]);
  const down = await callApp('GET', '/tables/public/many/rows?direction=desc&limit=2&count=false');
  expect([down.total, down.rows]).toEqual([
    null,
    [
      ['100000', 'w0'],
      ['99999', 'w999'],
    ],
  ]);
  const result = await callApp('GET', '/tables/public/many/rows?column=word&condition=eq&value=w7&limit=1');
  expect([result.total, result.rows]).toEqual([100, [['7', 'w7']]]);
  const partialResult = await callApp(
    'GET',
    '/tables/public/many/rows?column=word&condition=contains&value=W99&order=word&limit=1',
  );
  expect(partialResult.total).toBe(1100);
  expect((await callApp('GET', '/tables/public/many/rows?column=id&condition=gt&value=x')).status).toBe(400);
});

const file =
  'id,Name,price,since,code,ok,extra\r\n1,"Ann ""A"", Lee",12.50,2024-01-31,007,true,\r\n2,"two\n' +
  'lines",3,2024-02-01,042,false,"{""a"":1}"\r\n';

test('imports a file as a private table with inferred types and counted lines', async () => {
  const preview = await callApp('POST', '/csv/preview', undefined, file);
  expect(preview.count).toBe(2);
  expect(preview.columns.map(({ name, type }: any) => `${name} ${type}`)).toEqual([
    'id bigint',
    'Name text',
    'price numeric',
    'since date',
    'code text',
    'ok boolean',
    'extra jsonb',
  ]);
  const query = new URLSearchParams({
    ...{ schema: 'public', table: 'imported' },
    columns: JSON.stringify(['id', 'name', 'price', 'since', 'code', '', 'extra']),
    types: JSON.stringify(preview.columns.map(({ type }: any) => type)),
  });
  expect(await callApp('POST', `/csv/load?${query}`, undefined, file)).toMatchObject({ status: 200, rows: 2 });
  expect(await fixture.sql('select * from imported order by id')).toEqual([
    { id: '1', name: 'Ann "A", Lee', price: '12.50', since: expect.anything(), code: '007', extra: null },
    { id: '2', name: 'two\nlines', price: '3', since: expect.anything(), code: '042', extra: { a: 1 } },
  ]);
  expect(await (await fixture.request('/rest/v1/imported')).json()).toEqual([]);
  const secondImport = await callApp('POST', `/csv/load?${query}`, undefined, file);
  expect([secondImport.status, secondImport.error.fields]).toEqual([409, { table: m.tableExists() }]);
});

test('imports a file into an existing table completely or not at all, and names the refused line', async () => {
  const load = (text: string): Promise<any> =>
    callApp(
      'POST',
      `/csv/load?${new URLSearchParams({ schema: 'public', table: 'many', columns: '["id","word"]' })}`,
      undefined,
      text,
    );
  const good = Array.from({ length: 5000 }, (_, index) => `${200_001 + index};new`).join('\n');
  expect(await load(`id;word\n${good}\n`)).toMatchObject({ status: 200, rows: 5000 });
  const wrong = Array.from({ length: 3000 }, (_, index) => `${index === 2500 ? 'oops' : 300_001 + index};new`).join(
    '\n',
  );
  const refused = await load(`id;word\n${wrong}`);
  expect([refused.status, refused.error.detail]).toEqual([
    409,
    m.lineRejected({ line: 2502, reason: 'invalid input syntax for type integer: "oops".' }),
  ]);
  const twice = await load('id;word\n400001;a\n400002;b\n400001;c');
  expect(twice.error.detail).toContain('Line 4');
  expect(await fixture.sql('select count(*)::int from many where id > 300000')).toEqual([{ count: 0 }]);
  expect((await load('id;word\n1;2;3')).error.detail).toBe(m.csvFieldCountDiffers({ line: 2, count: 3, expected: 2 }));
  expect((await load('id;word\n1;"open')).error.code).toBe('data.bad_csv');
  expect((await load('')).error.code).toBe('data.empty_csv');
});

test('exports a table as a file that imports as the same table', async () => {
  await fixture.sql(`create table saved (id int primary key, text text, n numeric, at timestamptz);
    insert into saved values (2, E'a "word",\\nand another', 1.50, '2024-02-29T10:00:00Z'), (1, '', null,
      null), (3, 'ü; x', 12345678901234567890, null);
    create table wide (id int primary key, body text); alter table wide alter body set storage external;
    insert into wide select n, repeat('x', 1000000) from generate_series(1, 70) n;
    create table long (id int primary key, body text); insert into long values (1, repeat('x', 60000000));
      insert into long select n, body from long, generate_series(2, 10) n;
    create table empty (id int primary key, body text)`);
  const save = (name: string): Promise<Response> =>
    fetch(`${fixture.host.url('control')}/api/data/tables/public/${name}/csv`, {
      headers: { authorization: adminAuthorization },
    });
  const reply = await save('saved');
  expect([reply.status, reply.headers.get('content-type'), reply.headers.get('content-disposition')]).toEqual([
    200,
    'text/csv; charset=utf-8',
    expect.stringContaining('saved.csv'),
  ]);
  const text = await reply.text();
  expect(text).toBe(
    'id,text,n,at\n1,"",,\n2,"a ""word"",\nand another",1.50,2024-02-29 10:00:00+00\n3,"ü; x",12345678901234567890,\n',
  );
  const columns = JSON.stringify(['id', 'text', 'n', 'at']);
  const types = JSON.stringify(['bigint', 'text', 'numeric', 'timestamptz']);
  expect(
    await callApp(
      'POST',
      `/csv/load?${String(new URLSearchParams({ schema: 'public', table: 'again', columns, types }))}`,
      undefined,
      text,
    ),
  ).toMatchObject({ status: 200, rows: 3 });
  expect(await fixture.sql('select count(*)::int as same from saved join again using (id, n, at)')).toEqual([
    { same: 1 },
  ]);
  expect(
    await fixture.sql(
      'select id from saved join again using (id) where saved.n is not distinct from again.n and ' +
        'saved.at is not distinct from again.at order by id',
    ),
  ).toEqual([{ id: '1' }, { id: '2' }, { id: '3' }]);
  expect((await save('wide')).status).toBe(413);
  // The rows are longer than the maximum text together and read in one query: they must not be loaded into this
  // process.
  expect((await save('long')).status).toBe(413);
  await fixture.sql('drop table long');
  expect(await (await save('empty')).text()).toBe('id,body\n');
  expect((await save('nothing')).status).toBe(404);
});

test.each([
  [
    'a,b\n1,2',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  ['a\r\n\r\n"x\r\ny"\r\n', [['a'], [''], ['x\r\ny']]],
  ['\uFEFFa,,\n', [['a', '', '']]],
  ['"a""b"', [['a"b']]],
  ['a,', [['a', '']]],
  ['', []],
])('%j is read as CSV', (text, expected) => {
  expect([...parseCsvRows(text)]).toEqual(expected);
});

test('refuses CSV with a broken quote in the row API', async () => {
  const post = (body: string): Promise<Response> =>
    fixture.request('/rest/v1/keyless', { method: 'POST', headers: { 'content-type': 'text/csv' }, body });
  expect((await post('a\n1\n2\n')).status).toBe(201);
  expect((await post('a\n"1"x\n2\n')).status).toBe(400);
  // A field of several MiB.
  expect([...parseCsvRows(`"${'x""'.repeat(1_000_000)}"`)][0]?.[0]?.length).toBe(2_000_000);
});

test.each([
  [['1', '', '-20'], 'bigint'],
  [['1', '2.5'], 'numeric'],
  [['0123', '1'], 'text'],
  [['2024-02-30'], 'text'],
  [['2024-02-29'], 'date'],
  [['2024-02-29 10:00', '2024-02-29T10:00:00.5Z'], 'timestamptz'],
  [['t', 'No'], 'boolean'],
  [['11111111-1111-4111-8111-111111111111'], 'uuid'],
  [['[1]', '{"a":1}'], 'jsonb'],
  [['[1', '2'], 'text'],
  [['', ''], 'text'],
])('%j is %s', (values, type) => {
  const guess = new TypeInference();
  for (const value of values) guess.add(value);
  expect(guess.type).toBe(type);
});
