import { PostgrestClient } from '@supabase/postgrest-js';
import { createClient, type SupabaseClient } from '@supabase/supabase-js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDataFixture, type DataFixture } from './data-fixture.ts';
import { rows, schema } from './schema.ts';

let fixture: DataFixture;
let client: SupabaseClient<any, any, any>;
beforeAll(async () => {
  fixture = await openDataFixture();
  await fixture.sql(schema);
  await fixture.sql(rows);
  client = createClient(fixture.url, fixture.anonKey);
});
afterAll(() => fixture[Symbol.asyncDispose]());

const ids = (data: readonly any[] | null): number[] => (data ?? []).map((row: { id: number }) => row.id);

describe('filters of supabase-js', () => {
  test.each<[string, (from: any) => any, number[]]>([
    ['eq', (from) => from.eq('id', 2), [2]],
    ['neq', (from) => from.neq('id', 2), [1, 3]],
    ['gt and lte', (from) => from.gt('id', 1).lte('id', 2), [2]],
    ['like', (from) => from.like('title', '%ir%'), [1, 3]],
    ['ilike any', (from) => from.ilikeAnyOf('title', ['FIRST', 'SEC%']), [1, 2]],
    ['like all', (from) => from.likeAllOf('title', ['%i%', '%r%']), [1, 3]],
    ['is null', (from) => from.is('meta', null), [3]],
    ['is true', (from) => from.is('done', true), [1]],
    ['not is null', (from) => from.not('meta', 'is', null), [1, 2]],
    ['in', (from) => from.in('id', [1, 3]), [1, 3]],
    ['in, with commas and quotes', (from) => from.in('title', ['first', 'a,b', 'say "hi" now, (no)']), [1]],
    ['in, empty', (from) => from.in('id', []), []],
    ['contains an array', (from) => from.contains('tags', ['b']), [1, 2]],
    ['contains json', (from) => from.contains('meta', { lang: 'en' }), [1]],
    ['contained by', (from) => from.containedBy('tags', ['a', 'b', 'x']), [1]],
    ['overlaps', (from) => from.overlaps('tags', ['c']), [2]],
    ['range gt', (from) => from.rangeGt('span', '[1,5)'), [2]],
    ['range adjacent', (from) => from.rangeAdjacent('span', '[1,5)'), [2]],
    ['range overlaps', (from) => from.overlaps('span', '[4,6)'), [1, 2]],
    ['text search', (from) => from.textSearch('search', "'cat'", { config: 'english' }), [1]],
    ['text search of a text', (from) => from.textSearch('title', 'second', { type: 'plain' }), [2]],
    [
      'websearch',
      (from) => from.textSearch('search', 'cats or dogs', { type: 'websearch', config: 'english' }),
      [1, 2],
    ],
    ['match', (from) => from.match({ id: 1, title: 'first' }), [1]],
    ['or', (from) => from.or('id.eq.1,and(id.gt.2,title.not.is.null)'), [1, 3]],
    ['not or', (from) => from.not('id', 'in', '(1,2)'), [3]],
    ['json path', (from) => from.eq('meta->>lang', 'de'), [2]],
    ['json path of numbers', (from) => from.gt('meta->n', 1), [2]],
    ['deep json path', (from) => from.eq('meta->deep->0->>y', 'x'), [1]],
    ['regular expression', (from) => from.filter('title', 'match', '^f'), [1]],
    ['is distinct', (from) => from.filter('done', 'isdistinct', 'true'), [2, 3]],
  ])('%s', async (_, filter, expected) => {
    const { data, error } = await filter(client.from('docs').select('id')).order('id');
    expect(error).toBeNull();
    expect(ids(data)).toEqual(expected);
  });
});

describe('results', () => {
  test('returns casts, aliases, JSON paths and numbers like PostgreSQL', async () => {
    const reply = await fixture.request(
      '/rest/v1/docs?id=eq.1&select=key:id::text,lang:meta->>lang,meta->n,y:meta->deep->0->y,at,price,tags,span',
    );
    expect(await reply.text()).toBe(
      '[{"key":"1","lang":"en","n":1,"y":"x","at":"1974-05-01T00:00:00+00:00",' +
        '"price":12345678901234567890.5,"tags":["a","b"],"span":"[1,5)"}]',
    );
  });

  test('orders rows, with nulls first or last', async () => {
    const { data } = await client.from('docs').select('id').order('price', { ascending: false, nullsFirst: false });
    expect(ids(data)).toEqual([1, 2, 3]);
    const { data: first } = await client.from('docs').select('id').order('meta->>lang', { nullsFirst: true }).limit(2);
    expect(ids(first)).toEqual([3, 2]);
  });

  test('pages and counts rows', async () => {
    const { data, count, status } = await client.from('items').select('id', { count: 'exact' }).order('id').range(2, 4);
    expect([ids(data), count, status]).toEqual([[3, 4, 5], 15, 206]);
    const head = await client.from('items').select('*', { count: 'exact', head: true });
    expect([head.count, head.data]).toEqual([15, null]);
    const { count: estimated } = await client.from('items').select('id', { count: 'estimated' }).limit(1);
    expect(estimated).toBe(15);
    const { count: planned } = await client.from('items').select('id', { count: 'planned' }).limit(1);
    expect(planned).toBeGreaterThan(0);
    const range = await fixture.request('/rest/v1/items?order=id', { headers: { Range: '10-12' } });
    expect(range.headers.get('content-range')).toBe('10-12/*');
  });

  test('returns one row, an optional row or CSV', async () => {
    expect((await client.from('items').select().eq('id', 3).single()).data).toEqual({ id: 3 });
    expect((await client.from('items').select().eq('id', 99).maybeSingle()).data).toBeNull();
    expect((await client.from('items').select().single()).error?.code).toBe('PGRST116');
    const { data } = await client.from('docs').select('id,title,tags').lte('id', 2).order('id').csv();
    expect(data).toBe('id,title,tags\n1,first,"{a,b}"\n2,second,"{b,c}"');
  });

  test('accepts any characters in names', async () => {
    const { data, error } = await client.from('Weird Näme').select('id,"a.b","say \\"hi\\"","x,y"').eq('"a.b"', 'dot');
    expect(error).toBeNull();
    expect(data).toEqual([{ id: 1, 'a.b': 'dot', 'say "hi"': 'quoted', 'x,y': 3 }]);
  });
});

describe('embeds', () => {
  test.each<[string, string, string, unknown]>([
    [
      'to one',
      'projects?id=eq.1&select=name,clients(name)',
      '',
      [{ name: 'Windows 7', clients: { name: 'Microsoft' } }],
    ],
    ['to none', 'projects?id=eq.5&select=id,clients(name)', '', [{ id: 5, clients: null }]],
    ['by the foreign key column', 'projects?id=eq.3&select=client_id(name)', '', [{ client_id: { name: 'Apple' } }]],
    ['by the constraint', 'projects?id=eq.3&select=c:projects_client_id_fkey(name)', '', [{ c: { name: 'Apple' } }]],
    [
      'to many',
      'clients?select=id,projects(id)&order=id&projects.order=id.desc',
      '',
      [
        { id: 1, projects: [{ id: 2 }, { id: 1 }] },
        { id: 2, projects: [{ id: 4 }, { id: 3 }] },
      ],
    ],
    [
      'a page of each',
      'clients?select=projects(id)&order=id&projects.order=id&projects.limit=1&projects.offset=1',
      '',
      [{ projects: [{ id: 2 }] }, { projects: [{ id: 4 }] }],
    ],
    [
      'many to many',
      'users?id=eq.1&select=name,tasks(id)&tasks.order=id',
      '',
      [{ name: 'Angela Martin', tasks: [{ id: 1 }, { id: 2 }] }],
    ],
    ['one to one', 'users?id=eq.1&select=id,profiles(bio)', '', [{ id: 1, profiles: { bio: 'works' } }]],
    [
      'three deep',
      'clients?id=eq.1&select=projects(name,tasks(name))&projects.id=eq.1&projects.tasks.order=id',
      '',
      [{ projects: [{ name: 'Windows 7', tasks: [{ name: 'Design w7' }, { name: 'Code w7' }] }] }],
    ],
    [
      'a filter keeps the parents',
      'clients?select=id,projects(id)&projects.id=eq.3&order=id',
      '',
      [
        { id: 1, projects: [] },
        { id: 2, projects: [{ id: 3 }] },
      ],
    ],
    [
      'inner drops them',
      'clients?select=id,projects!inner(id)&projects.id=eq.3',
      '',
      [{ id: 2, projects: [{ id: 3 }] }],
    ],
    ['inner to one', 'projects?select=id,clients!inner()&clients.name=eq.Apple&order=id', '', [{ id: 3 }, { id: 4 }]],
    ['anti join', 'users?select=id,profiles(bio)&profiles=is.null', '', [{ id: 3, profiles: null }]],
    ['semi join', 'users?select=id,profiles()&profiles=not.is.null&order=id', '', [{ id: 1 }, { id: 2 }]],
    [
      'inside or',
      'users?select=id,profiles(),users_tasks()&or=(profiles.not.is.null,users_tasks.is.null)&order=id',
      '',
      [{ id: 1 }, { id: 2 }],
    ],
    [
      'or of an embed',
      'clients?select=id,projects(id)&projects.or=(id.eq.1,id.eq.4)&order=id',
      '',
      [
        { id: 1, projects: [{ id: 1 }] },
        { id: 2, projects: [{ id: 4 }] },
      ],
    ],
    ['spread to one', 'projects?id=eq.1&select=id,...clients(client:name)', '', [{ id: 1, client: 'Microsoft' }]],
    [
      'spread to many',
      'clients?id=eq.1&select=id,...projects(names:name)&projects.order=id',
      '',
      [{ id: 1, names: ['Windows 7', 'Windows 10'] }],
    ],
    [
      'count of them',
      'clients?select=name,projects(count)&order=id',
      '',
      [
        { name: 'Microsoft', projects: [{ count: 2 }] },
        { name: 'Apple', projects: [{ count: 2 }] },
      ],
    ],
    [
      'order by them',
      'projects?select=id,clients(name)&order=clients(name).asc,id.desc&clients=not.is.null',
      '',
      [
        { id: 4, clients: { name: 'Apple' } },
        { id: 3, clients: { name: 'Apple' } },
        { id: 2, clients: { name: 'Microsoft' } },
        { id: 1, clients: { name: 'Microsoft' } },
      ],
    ],
    [
      'through a view',
      'project_names?id=eq.1&select=title,clients(name)',
      '',
      [{ title: 'Windows 7', clients: { name: 'Microsoft' } }],
    ],
    [
      'to a view',
      'clients?id=eq.2&select=project_names(title)&project_names.order=id',
      '',
      [{ project_names: [{ title: 'IOS' }, { title: 'OSX' }] }],
    ],
    [
      'by a hint',
      'messages?id=eq.1&select=body,from:people!messages_sender_fkey(name),to:people!receiver(name)',
      '',
      [{ body: 'Hello, Jane', from: { name: 'John' }, to: { name: 'Jane' } }],
    ],
    ['a computed column', 'projects?id=eq.3&select=upper_name', '', [{ upper_name: 'IOS' }]],
  ])('%s', async (_, path, __, expected) => {
    const reply = await fixture.request(`/rest/v1/${path}`);
    expect([reply.status, await reply.json()]).toEqual([200, expected]);
  });

  test('lists ambiguous relationships', async () => {
    const reply = await fixture.request('/rest/v1/messages?select=people(name)');
    expect(reply.status).toBe(300);
    const { code, details } = await reply.json();
    expect(code).toBe('PGRST201');
    expect(details.map((entry: { cardinality: string }) => entry.cardinality)).toEqual(['many-to-one', 'many-to-one']);
  });

  test('requires the service key for aggregates', async () => {
    expect((await client.from('items').select('id.sum()')).error?.code).toBe('PGRST123');
    const service = createClient(fixture.url, fixture.serviceKey);
    const { data } = await service.from('projects').select('client_id, count(), top:id.max()').order('client_id');
    expect(data).toEqual([
      { client_id: 1, count: 2, top: 2 },
      { client_id: 2, count: 2, top: 4 },
      { client_id: null, count: 1, top: 5 },
    ]);
  });
});

describe('functions', () => {
  test('returns every kind of result', async () => {
    expect((await client.rpc('add_them', { a: 1, b: 2 })).data).toBe(3);
    expect((await client.rpc('add_them', { a: 1, b: 2 }, { get: true })).data).toBe(3);
    expect((await client.rpc('many', { n: 3 })).data).toEqual([1, 2, 3]);
    expect((await client.rpc('projects_of', { client: 1 }).select('id, clients(name)').eq('id', 2)).data).toEqual([
      { id: 2, clients: { name: 'Microsoft' } },
    ]);
    expect((await client.rpc('one_project', { pid: 3 })).data).toEqual({ id: 3, name: 'IOS', client_id: 2 });
    expect((await client.rpc('projects_of', { client: 2 }, { count: 'exact' }).limit(1)).count).toBe(2);
    const emptyResult = await client.rpc('nothing');
    expect([emptyResult.status, emptyResult.data]).toEqual([204, null]);
    expect((await client.rpc('sum_of', { v: [1, 2, 3] })).data).toBe(6);
    const complete = await fixture.request('/rest/v1/rpc/whole', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"x":[1]}',
    });
    expect(await complete.json()).toEqual({ x: [1] });
  });

  test('applies status, headers and errors of functions', async () => {
    const tea = await fixture.request('/rest/v1/rpc/teapot', { method: 'POST' });
    expect([tea.status, tea.headers.get('x-tea'), await tea.json()]).toEqual([418, 'green', { tea: 1 }]);
    const callApp = await fixture.request('/rest/v1/rpc/custom_error', { method: 'POST' });
    expect([callApp.status, callApp.headers.get('x-my-header'), await callApp.json()]).toEqual([
      332,
      'nice',
      { code: '123', message: 'ABC', details: 'DEF', hint: 'XYZ' },
    ]);
  });
});

test('serves a new table immediately and not a dropped one', async () => {
  await fixture.sql('create table fresh (id int primary key); insert into fresh values (1)');
  expect((await client.from('fresh').select()).data).toEqual([{ id: 1 }]);
  await fixture.sql('alter table fresh add column more text');
  expect((await client.from('fresh').insert({ id: 2, more: 'x' }).select()).data).toEqual([{ id: 2, more: 'x' }]);
  await fixture.sql('drop table fresh');
  expect((await client.from('fresh').select()).status).toBe(404);
});

test('works with postgrest-js and refuses a schema that is not exposed', async () => {
  const callApp = new PostgrestClient<any>(`${fixture.url}/rest/v1`, { headers: { apikey: fixture.anonKey } });
  expect((await callApp.from('clients').select('name').eq('id', 2).single()).data).toEqual({ name: 'Apple' });
  expect((await callApp.schema('auth').from('users').select()).error?.code).toBe('PGRST106');
});
