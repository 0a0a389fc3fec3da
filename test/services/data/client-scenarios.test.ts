import { createClient, type SupabaseClient } from '@supabase/supabase-js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDataFixture, type DataFixture } from './data-fixture.ts';

/** Scenarios of the client's own database tests, with different tables. */
let fixture: DataFixture;
let db: SupabaseClient<any, { PostgrestVersion: '13' }>;
beforeAll(async () => {
  fixture = await openDataFixture();
  await fixture.sql(`
    create table members (name text primary key, state text, ages int4range, phrase tsvector);
    create table rooms (id int primary key, slug text);
    create table room_details (id int primary key references rooms, details text);
    create table posts (id int primary key, author text not null references members, room int not null references rooms, body text);
    create table pairs (id int primary key, one text not null references members,
      two text not null references members, three text references members);
    create table tree (id int primary key, parent int references tree, label text);
    create function posts_of(members) returns setof posts language sql stable as 'select * from posts where author = $1.name order by id';
    create function posts_of(rooms) returns setof posts language sql stable as 'select * from posts where room = $1.id order by id';
    create function author_of(posts) returns setof members rows 1 language sql stable as 'select * from members where name = $1.author';
    create function chosen(room_row rooms) returns setof posts language sql stable as
      'select * from posts where room = room_row.id order by id';
    create function chosen(member_row members) returns setof posts language sql stable as
      'select * from posts where author = member_row.name order by id';
    create function in_range(search int4range) returns int4range[] language sql stable as
      'select array_agg(ages order by name) from members where ages && search';
    create function remove_all() returns setof posts language sql volatile as 'delete from posts returning *';
    create function with_default(a int, b int default 10) returns int language sql immutable as 'select a + b';
    insert into members values ('ann', 'on', '[1,20)', 'fat cat'), ('ben', 'off', '[25,35)', 'bat cat'), ('cid', null, null, null);
    insert into rooms values (1, 'public'), (2, 'random'), (3, 'other');
    insert into room_details values (1, 'for all'), (2, 'for some');
    insert into posts values (1, 'ann', 1, 'Hello'), (2, 'ann', 2, 'Again'), (3, 'ben', 3, 'Third');
    insert into pairs values (1, 'ann', 'ben', 'cid'), (2, 'ann', 'cid', null);
    insert into tree values (1, null, 'root'), (2, 1, 'left'), (3, 1, 'right'), (4, 2, 'leaf');`);
  db = createClient<any, { PostgrestVersion: '13' }>(fixture.url, fixture.serviceKey);
});
afterAll(() => fixture[Symbol.asyncDispose]());

async function rows(query: PromiseLike<{ data: unknown; error: unknown }>): Promise<unknown> {
  const { data, error } = await query;
  expect(error).toBeNull();
  return data;
}

test('embeds computed relationships, also with one name for two tables and for one row', async () => {
  expect(await rows(db.from('members').select('name, posts_of(id)').order('name').limit(2))).toEqual([
    { name: 'ann', posts_of: [{ id: 1 }, { id: 2 }] },
    { name: 'ben', posts_of: [{ id: 3 }] },
  ]);
  expect(await rows(db.from('rooms').select('slug, all:posts_of(id, author_of(name))').eq('id', 2).single())).toEqual({
    slug: 'random',
    all: [{ id: 2, author_of: { name: 'ann' } }],
  });
});

test('resolves overloads with a row argument', async () => {
  expect(await rows(db.rpc('chosen', { room_row: { id: 3, slug: null } }).select('id'))).toEqual([{ id: 3 }]);
  expect(
    await rows(
      db
        .rpc('chosen', { member_row: { name: 'ann' } })
        .select('id, rooms(slug)')
        .gt('id', 1),
    ),
  ).toEqual([{ id: 2, rooms: { slug: 'random' } }]);
  expect(await rows(db.rpc('in_range', { search: '[10,30)' }))).toEqual(['[1,20)', '[25,35)']);
  expect(await rows(db.rpc('with_default', { a: 1 }, { get: true }))).toBe(11);
});

test('embeds by hints with several foreign keys and with self-references', async () => {
  const select = 'id, first:members!pairs_one_fkey(name), second:members!two(name), third:three(name)';
  expect(await rows(db.from('pairs').select(select).order('id'))).toEqual([
    { id: 1, first: { name: 'ann' }, second: { name: 'ben' }, third: { name: 'cid' } },
    { id: 2, first: { name: 'ann' }, second: { name: 'cid' }, third: null },
  ]);
  const back = await rows(
    db.from('members').select('name, chosen_by:pairs!pairs_two_fkey(id)').eq('name', 'cid').single(),
  );
  expect(back).toEqual({ name: 'cid', chosen_by: [{ id: 2 }] });
  expect((await db.from('pairs').select('members(name)')).status).toBe(300);
  expect(await rows(db.from('tree').select('label, tree(label)').eq('id', 1).single())).toEqual({
    label: 'root',
    tree: [{ label: 'left' }, { label: 'right' }],
  });
  expect(await rows(db.from('tree').select('label, up:parent(label, parent(label))').eq('id', 4).single())).toEqual({
    label: 'leaf',
    up: { label: 'left', parent: { label: 'root' } },
  });
});

test('supports nested, one-to-one and spread embeds and filters on embeds', async () => {
  const inner = await rows(db.from('posts').select('id, rooms!inner(slug, room_details!inner(details))').order('id'));
  expect(inner).toEqual([
    { id: 1, rooms: { slug: 'public', room_details: { details: 'for all' } } },
    { id: 2, rooms: { slug: 'random', room_details: { details: 'for some' } } },
  ]);
  expect(await rows(db.from('rooms').select('id, room_details(details)').eq('id', 3).single())).toEqual({
    id: 3,
    room_details: null,
  });
  expect(
    await rows(db.from('posts').select('id, ...rooms(slug, ...room_details(details))').eq('id', 1).single()),
  ).toEqual({ id: 1, slug: 'public', details: 'for all' });
  expect(await rows(db.from('members').select('name, ...posts(ids:id)').eq('name', 'ann').single())).toEqual({
    name: 'ann',
    ids: [1, 2],
  });
  const some = db
    .from('members')
    .select('name, posts(id)')
    .or('id.eq.2,body.eq.Hello', { referencedTable: 'posts' })
    .order('id', { referencedTable: 'posts', ascending: false })
    .limit(1, { referencedTable: 'posts' })
    .order('name')
    .limit(1);
  expect(await rows(some)).toEqual([{ name: 'ann', posts: [{ id: 2 }] }]);
  expect(await rows(db.from('rooms').select('slug, posts(count)').order('id'))).toEqual([
    { slug: 'public', posts: [{ count: 1 }] },
    { slug: 'random', posts: [{ count: 1 }] },
    { slug: 'other', posts: [{ count: 1 }] },
  ]);
  expect(await rows(db.from('members').select('name, posts(id.max(), id.count())').eq('name', 'ann').single())).toEqual(
    { name: 'ann', posts: [{ max: 2, count: 2 }] },
  );
});

test('filters by ranges, full text and all kinds of conditions', async () => {
  const names = async (query: PromiseLike<{ data: unknown; error: unknown }>): Promise<unknown> =>
    ((await rows(query)) as { name: string }[]).map(({ name }) => name);
  const all = () => db.from('members').select('name').order('name');
  expect(await names(all().rangeGt('ages', '[2,24)'))).toEqual(['ben']);
  expect(await names(all().rangeLte('ages', '[1,30)'))).toEqual(['ann']);
  expect(await names(all().rangeAdjacent('ages', '[20,22)'))).toEqual(['ann']);
  expect(await names(all().overlaps('ages', '[15,26)'))).toEqual(['ann', 'ben']);
  expect(await names(all().textSearch('phrase', `'fat' & 'cat'`, { config: 'simple' }))).toEqual(['ann']);
  expect(await names(all().likeAnyOf('name', ['a%', '%d']))).toEqual(['ann', 'cid']);
  expect(await names(all().not('state', 'is', null).neq('state', 'on'))).toEqual(['ben']);
  expect(await names(all().match({ state: 'on', name: 'ann' }))).toEqual(['ann']);
  expect(await names(all().or('state.is.null,and(state.eq.off,name.like.b*)'))).toEqual(['ben', 'cid']);
});

test('rolls back changes of too many rows, also by functions', async () => {
  const tooMany = await db.from('posts').delete().gt('id', 0).maxAffected(2);
  expect([tooMany.status, tooMany.error?.code]).toEqual([400, 'PGRST124']);
  const called = await db.rpc('remove_all').maxAffected(1);
  expect([called.status, called.error?.code]).toEqual([400, 'PGRST124']);
  const single = await db.rpc('with_default', { a: 1 }).maxAffected(1);
  expect([single.status, single.error?.code]).toEqual([400, 'PGRST128']);
  expect((await db.from('posts').select('*', { count: 'exact', head: true })).count).toBe(3);
  const few = await db.from('posts').update({ body: 'new' }).eq('id', 1).maxAffected(1).select('body');
  expect(few.data).toEqual([{ body: 'new' }]);
});
