import { createClient, type SupabaseClient } from '@supabase/supabase-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDataFixture, type DataFixture } from './data-fixture.ts';

let fixture: DataFixture;
let db: SupabaseClient<any>;
beforeAll(async () => {
  fixture = await openDataFixture({
    settings: {
      preRequest: 'public.check_request',
      appSettings: ['app.settings.host=example.com'],
      aggregates: true,
      schemas: ['public', 'seen'],
    },
  });
  db = createClient(fixture.url, fixture.anonKey, { auth: { persistSession: false } });
  await fixture.sql(schema);
});
afterAll(() => fixture[Symbol.asyncDispose]());

const schema = `
create schema seen; grant usage on schema seen to anon, authenticated, service_role;
create function check_request() returns void language plpgsql as $$
begin
  if current_setting('request.headers', true)::json->>'x-blocked' is not null then
    raise exception 'blocked' using errcode = 'PT429', hint = 'Wait.';
  end if;
end $$;
create table clients (id int primary key, name text);
create table projects (id int primary key, name text, client_id int references clients, budget int);
insert into clients values (1, 'MS'), (2, 'AP');
insert into projects values (1, 'w7', 1, 10), (2, 'w10', 1, 20), (3, 'ios', 2, 5);
create table factories (id int primary key, name text);
create table processes (id int primary key, factory_id int references factories);
create table process_costs (process_id int primary key references processes, cost int);
insert into factories values (1, 'A'), (2, 'B'); insert into processes values (1, 1), (2, 1), (3, 2);
insert into process_costs values (1, 10), (2, 20), (3, 5);
create table nokey (a int, b text);
create view v_nokey as select a, b from nokey;
create view v_wrong as select p.id, p.name,
  (select c.id from clients c where c.id = p.client_id) as cid from projects p;
create view v_group as select p.client_id, sum(p.budget) as budget from projects p group by p.client_id;
create view v_count as select c.*, (select count(*) from projects p where p.client_id = c.id) as n from clients c;
create view v_case as select c.id,
  case when exists (select from projects p where p.client_id = c.id) then 'yes' end as has from clients c;
create view v_max as select max(id) as id from projects;
create view v_last as select client_id, max(id) as id from projects group by client_id;
create view v_row_number as select client_id, row_number() over (order by id desc) as id from projects;
create view v_chosen as select coalesce(p.client_id, 0) as client_id, p.id in (select id from clients) as id from projects p;
create view v_nested as select * from v_wrong;
create view v_twice as select id, client_id as first_client, client_id as second_client from projects;
create function list_names() returns table (name text) language sql stable as 'select name from clients order by id';
create function doubled(n int, out doubled int) language sql immutable as 'select n * 2';
create function counted(inout n int) language sql immutable as 'select n + 1';
create function plain(n int) returns int language sql immutable as 'select n + 1';
create function echo_char(v char(2)) returns text language sql immutable as $$ select '[' || v || ']' $$;
create function echo_bits(v bit(3)) returns text language sql immutable as 'select v::text';
create function echo_chars(v char(2)[]) returns text language sql immutable as $$ select array_to_string(v, '|') $$;
create table m (city int, day date, v int, primary key (city, day)) partition by range (day);
create table m_2026 partition of m for values from ('2026-01-01') to ('2027-01-01');
create function two_cookies() returns int language sql as
  $$ select set_config('response.headers', '[{"Set-Cookie": "a=1"}, {"Set-Cookie": "b=2"}]', true); select 1 $$;
create function host() returns text language sql stable as $$ select current_setting('app.settings.host', true) $$;
create function cookies() returns text language sql stable as $$ select current_setting('request.cookies', true) $$;
create table secrets (id int primary key, email text, password text);
insert into secrets values (1, 'a@example.com', 'x'), (2, 'b@example.com', 'y');
revoke all on secrets from anon; grant select (id, email), insert, update, delete on secrets to anon;
create domain color as int;
create function color_json(color) returns json language sql immutable as
  $$ select to_json('#' || lpad(upper(to_hex($1)), 6, '0')) $$;
create function color_of(json) returns color language sql immutable as
  $$ select ('x' || lpad(ltrim($1 #>> '{}', '#'), 8, '0'))::bit(32)::int::color $$;
create function color_of(text) returns color language sql immutable as
  $$ select ('x' || lpad(ltrim($1, '#'), 8, '0'))::bit(32)::int::color $$;
create cast (color as json) with function color_json(color) as implicit;
create cast (json as color) with function color_of(json) as implicit;
create cast (text as color) with function color_of(text) as implicit;
create table todos (id int primary key, label color);
insert into todos values (1, 256), (2, 123456);
create table docs (id int primary key, data jsonb);
insert into docs values (1, '{"!@#$_d": {"x": 3}}'), (2, null);
create function nothing() returns void language sql as 'delete from docs where id = 2';
create function delete_docs() returns setof docs language sql as 'delete from docs where true returning *';
`;

const get = async (path: string, headers: Record<string, string> = {}): Promise<[number, any, Headers]> => {
  const reply = await fixture.request(`/rest/v1/${path}`, { headers });
  const text = await reply.text();
  return [reply.status, text === '' ? '' : JSON.parse(text), reply.headers];
};
const send = async (
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<[number, any, Headers]> => {
  const reply = await fixture.request(`/rest/v1/${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  return [reply.status, text === '' ? '' : JSON.parse(text), reply.headers];
};

describe('relationships of views', () => {
  it('ignores columns of subselects', async () => {
    for (const path of [
      'v_wrong?select=id,name,projects(name)&order=id',
      'v_wrong?select=id,name,clients(name)&order=id',
      'v_nested?select=id,name,projects(name)&order=id',
      'v_max?select=id,clients(name)',
      'v_chosen?select=id,clients(name)',
      'clients?select=id,v_wrong(name)',
    ]) {
      const [status, body] = await get(path);
      expect([path, status, body.code]).toEqual([path, 400, 'PGRST200']);
    }
  });

  it('finds the keys that a view shows beside subselects and sums', async () => {
    expect((await get('v_group?select=budget,clients(name)&order=client_id'))[1]).toEqual([
      { budget: 30, clients: { name: 'MS' } },
      { budget: 5, clients: { name: 'AP' } },
    ]);
    for (const view of ['v_last', 'v_row_number'])
      expect((await get(`${view}?select=id,clients(name)&client_id=eq.2`))[1]).toEqual([
        { id: view === 'v_last' ? 3 : 1, clients: { name: 'AP' } },
      ]);
    expect((await get('v_count?select=n,projects(name)&id=eq.2'))[1]).toEqual([{ n: 1, projects: [{ name: 'ios' }] }]);
    expect((await get('v_case?select=has,projects(id)&id=eq.2'))[1]).toEqual([{ has: 'yes', projects: [{ id: 3 }] }]);
  });

  it('names each column of a key that is shown twice', async () => {
    const hinted = await get('v_twice?select=id,clients!second_client(name)&id=eq.3');
    expect(hinted.slice(0, 2)).toEqual([200, [{ id: 3, clients: { name: 'AP' } }]]);
    expect((await get('v_twice?select=id,clients(name)'))[0]).toBe(300);
  });

  it('uses the primary key of the table and not that of a subselect', async () => {
    const reply = await send('POST', 'v_wrong', { id: 9, name: 'x' }, { Prefer: 'return=headers-only, tx=rollback' });
    expect([reply[0], reply[2].get('location')]).toEqual([201, '/v_wrong?id=eq.9']);
  });
});

describe('relationships of tables', () => {
  it('lists ambiguous relationships in the order of PostgREST', async () => {
    await fixture.sql(`
      create table agents (id int primary key, name text, department_id int);
      create table departments (id int primary key, name text, head_id int references agents);
      alter table agents add foreign key (department_id) references departments;
      create table posts (agent_id int references agents, department_id int references departments,
        primary key (agent_id, department_id));
      create view all_posts as select * from posts;
    `);
    const [status, body] = await get('agents?select=*,departments(*)');
    const relationship = (cardinality: string, text: string) => {
      return { cardinality, embedding: 'agents with departments', relationship: text };
    };
    const viaPosts = 'using posts_agent_id_fkey(agent_id) and posts_department_id_fkey(department_id)';
    expect([status, body.details]).toEqual([
      300,
      [
        relationship('one-to-many', 'departments_head_id_fkey using agents(id) and departments(head_id)'),
        relationship('many-to-one', 'agents_department_id_fkey using agents(department_id) and departments(id)'),
        relationship('many-to-many', `all_posts ${viaPosts}`),
        relationship('many-to-many', `posts ${viaPosts}`),
      ],
    ]);
    expect(body.hint).toContain("'departments!departments_head_id_fkey', 'departments!agents_department_id_fkey'");
  });

  it('treats unique constraints but not unique indexes as one-to-one', async () => {
    await fixture.sql(`
      create table by_constraint (id int primary key, client_id int unique references clients);
      create table by_index (id int primary key, client_id int references clients);
      create unique index on by_index (client_id);
      insert into by_constraint values (1, 1); insert into by_index values (1, 1);
    `);
    const [, body] = await get('clients?select=by_constraint(id),by_index(id)&id=eq.1');
    expect(body).toEqual([{ by_constraint: { id: 1 }, by_index: [{ id: 1 }] }]);
  });
});

const docIds = async (): Promise<number[]> =>
  (await fixture.sql('select id from docs order by id')).map(({ id }) => id);

describe('functions', () => {
  it('returns objects for one named column', async () => {
    expect((await db.rpc('list_names')).data).toEqual([{ name: 'MS' }, { name: 'AP' }]);
    expect((await db.rpc('doubled', { n: 4 })).data).toEqual({ doubled: 8 });
    expect((await db.rpc('counted', { n: 4 })).data).toEqual({ n: 5 });
    expect((await db.rpc('plain', { n: 4 })).data).toBe(5);
  });

  it('accepts arguments of a type with a length completely', async () => {
    expect((await db.rpc('echo_char', { v: 'DE' })).data).toBe('[DE]');
    expect((await db.rpc('echo_char', { v: 'abc' }, { get: true })).data).toBe('[abc]');
    expect((await db.rpc('echo_bits', { v: '101' })).data).toBe('101');
    expect((await db.rpc('echo_chars', { v: ['DE', 'FR'] })).data).toBe('DE|FR');
  });

  it('refuses max-affected for functions without a result', async () => {
    const headers = { Prefer: 'handling=strict, max-affected=3' };
    expect(await send('POST', 'rpc/nothing', {}, headers)).toMatchObject([
      400,
      { code: 'PGRST128' },
      expect.anything(),
    ]);
    expect(await docIds()).toEqual([1, 2]);
    const several = await send('POST', 'rpc/delete_docs', {}, { Prefer: 'handling=strict, max-affected=1' });
    expect(several.slice(0, 2)).toMatchObject([400, { code: 'PGRST124' }]);
    expect(await docIds()).toEqual([1, 2]);
    expect((await send('POST', 'rpc/nothing', {}, { Prefer: 'tx=rollback' }))[0]).toBe(204);
    expect(await docIds()).toEqual([1, 2]);
    expect((await send('POST', 'rpc/nothing', {}))[0]).toBe(204);
    expect(await docIds()).toEqual([1]);
    await fixture.sql('insert into docs values (2, null)');
  });

  it('allows functions to set a header several times', async () => {
    const [, , headers] = await send('POST', 'rpc/two_cookies', {});
    expect(headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  });

  it('reads parameters of the settings and cookies, without the session of Homeport', async () => {
    expect((await db.rpc('host')).data).toBe('example.com');
    const cookie = 'a=1; b=2; __Host-homeport-8443=secret';
    expect(JSON.parse((await get('rpc/cookies', { cookie }))[1])).toEqual({ a: '1', b: '2' });
  });

  it('passes only the named columns and the first of several objects', async () => {
    expect((await send('POST', 'rpc/plain?columns=n', { n: 1, more: 2 }))[1]).toBe(2);
    expect((await send('POST', 'rpc/plain', [{ n: 1 }, { n: 5 }]))[1]).toBe(2);
  });

  it('calls the function of the settings before each request', async () => {
    const blocked = await get('clients', { 'x-blocked': 'yes' });
    expect(blocked.slice(0, 2)).toEqual([429, expect.objectContaining({ message: 'blocked', hint: 'Wait.' })]);
    const blockedHeader = { 'x-blocked': 'yes' };
    expect((await send('DELETE', 'docs?id=gt.0', undefined, blockedHeader))[0]).toBe(429);
    expect((await send('PATCH', 'docs?id=gt.0', { id: 9 }, blockedHeader))[0]).toBe(429);
    expect((await send('POST', 'docs', { id: 9 }, blockedHeader))[0]).toBe(429);
    expect((await send('PUT', 'docs?id=eq.9', { id: 9, data: null }, blockedHeader))[0]).toBe(429);
    expect((await send('POST', 'rpc/delete_docs', {}, blockedHeader))[0]).toBe(429);
    expect((await send('POST', 'rpc/nothing', {}, blockedHeader))[0]).toBe(429);
    expect((await get('rpc/list_names', blockedHeader))[0]).toBe(429);
    const requests = [{ method: 'DELETE', path: '/docs?id=gt.0' }];
    const batch = await send('POST', '', { requests }, { ...blockedHeader, apikey: fixture.serviceKey });
    expect(batch[0] === 429 || batch[1][0].status === 429).toBe(true);
    expect(await docIds()).toEqual([1, 2]);
    expect((await get('clients'))[0]).toBe(200);
  });
});

describe('writes', () => {
  it('changes nothing when one object was expected and several or none match', async () => {
    const several = await db.from('projects').delete().in('id', [1, 2]).single();
    expect(several.error).toMatchObject({ code: 'PGRST116' });
    const none = await db.from('projects').update({ name: 'x' }).eq('id', 77).single();
    expect([none.status, none.error?.code]).toEqual([406, 'PGRST116']);
    const inserted = await db
      .from('projects')
      .insert([{ id: 7 }, { id: 8 }])
      .single();
    expect(inserted.status).toBe(406);
    expect((await send('POST', 'projects', [], { accept: 'application/vnd.pgrst.object+json' }))[0]).toBe(406);
    expect((await db.from('projects').select('id').order('id')).data).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
  });

  it('merges into partitioned tables', async () => {
    const row = { city: 1, day: '2026-02-03', v: 5 };
    expect((await db.from('m').upsert(row)).status).toBe(201);
    const merged = await db
      .from('m')
      .upsert({ ...row, v: 6 })
      .select();
    expect([merged.status, merged.data]).toEqual([200, [{ ...row, v: 6 }]]);
    const put = await send('PUT', 'm?city=eq.1&day=eq.2026-02-04', { ...row, day: '2026-02-04' });
    expect(put[0]).toBe(201);
    expect((await send('PUT', 'm?city=eq.1&day=eq.2026-02-04', { ...row, day: '2026-02-04' }))[0]).toBe(204);
  });

  it('requires only the rights for returned columns', async () => {
    const changed = await db.from('secrets').update({ password: 'z' }).eq('id', 1).select('id, email');
    expect(changed.data).toEqual([{ id: 1, email: 'a@example.com' }]);
    const inserted = await db.from('secrets').insert({ id: 3, email: 'c', password: 'p' }).select('id');
    expect(inserted.data).toEqual([{ id: 3 }]);
    expect((await db.from('secrets').delete().eq('id', 3).select('id')).data).toEqual([{ id: 3 }]);
    expect((await db.from('secrets').update({ password: 'z' }).eq('id', 1).select()).error?.code).toBe('42501');
  });

  it('uses the first of several rows for PUT', async () => {
    const [status, body] = await send(
      'PUT',
      'clients?id=eq.5',
      [
        { id: 5, name: 'a' },
        { id: 6, name: 'b' },
      ],
      { Prefer: 'return=representation, tx=rollback' },
    );
    expect([status, body]).toEqual([201, [{ id: 5, name: 'a' }]]);
  });
});

describe('domains with casts', () => {
  it('converts values with the functions of the casts', async () => {
    expect((await db.from('todos').select().order('id')).data).toEqual([
      { id: 1, label: '#000100' },
      { id: 2, label: '#01E240' },
    ]);
    expect((await db.from('todos').select('id, named:label').eq('label', '000100')).data).toEqual([
      { id: 1, named: '#000100' },
    ]);
    expect((await db.from('todos').select('id').in('label', ['000100', '01E240'])).data).toHaveLength(2);
    const inserted = await db.from('todos').insert({ id: 3, label: '#00FF00' }).select();
    expect(inserted.data).toEqual([{ id: 3, label: '#00FF00' }]);
    expect(await fixture.sql('select label from todos where id = 3')).toEqual([{ label: 65280 }]);
  });
});

describe('requests of PostgREST', () => {
  it('orders aggregates by columns of a spread and groups by embeds inside it', async () => {
    const path = 'projects?select=total:budget.sum(),...clients(client:name)&order=clients(client)';
    expect((await get(path))[1]).toEqual([
      { total: 5, client: 'AP' },
      { total: 30, client: 'MS' },
    ]);
    expect(await get('clients?select=name,...projects(budget.sum())')).toMatchObject([
      400,
      { code: 'PGRST127' },
      expect.anything(),
    ]);
  });

  it('orders groups by related columns under the name of the table or of the response', async () => {
    const totals = async (path: string): Promise<unknown> =>
      (await get(path))[1].map(({ total }: { total: number }) => total);
    const select = 'projects?select=total:budget.sum()';
    expect(await totals(`${select},...clients(client:name)&order=clients(name)`)).toEqual([5, 30]);
    expect(await totals(`${select},...clients(client:name)&order=clients(name).desc`)).toEqual([30, 5]);
    expect(await totals(`${select},clients(name)&order=clients(name)`)).toEqual([5, 30]);
    expect(await totals(`${select},c:clients(id)&order=c(name).desc`)).toEqual([30, 5]);
    expect(await totals(`${select},client_id&order=client_id.desc`)).toEqual([5, 30]);
  });

  it('aggregates at every level, and groups by embeds', async () => {
    const select = async (path: string): Promise<unknown> => (await get(path))[1];
    expect(await select('projects?select=budget.sum(),clients(name)&order=clients(name)')).toEqual([
      { sum: 5, clients: { name: 'AP' } },
      { sum: 30, clients: { name: 'MS' } },
    ]);
    expect(await select('clients?select=name,projects(client_id,total:budget.sum())&order=id')).toEqual([
      { name: 'MS', projects: [{ client_id: 1, total: 30 }] },
      { name: 'AP', projects: [{ client_id: 2, total: 5 }] },
    ]);
    expect(await select('factories?select=name,processes(factory_id,...process_costs(cost.sum()))&order=id')).toEqual([
      { name: 'A', processes: [{ factory_id: 1, sum: 30 }] },
      { name: 'B', processes: [{ factory_id: 2, sum: 5 }] },
    ]);
    const grouped = 'process_costs?select=cost.sum(),...processes(factories(name))&order=processes(factories)';
    expect(await select(grouped)).toEqual([
      { sum: 30, factories: { name: 'A' } },
      { sum: 5, factories: { name: 'B' } },
    ]);
    expect(await select('factories?select=name,processes(process_costs(cost.max()))&id=eq.2')).toEqual([
      { name: 'B', processes: [{ process_costs: { max: 5 } }] },
    ]);
  });

  it('filters an embed by its alias when the same table is embedded several times', async () => {
    const select = 'clients?select=projects(name),large:projects(name)&order=id';
    const rows = async (filters: string): Promise<unknown> =>
      (await get(`${select}&${filters}`))[1].map((row: Record<string, { name: string }[]>) =>
        ['projects', 'large'].map((name) => row[name]?.map((project) => project.name)),
      );
    expect(await rows('projects.budget=lt.20&large.budget=gte.20')).toEqual([
      [['w7'], ['w10']],
      [['ios'], []],
    ]);
    expect(await rows('projects.budget=lt.20')).toEqual([
      [['w7'], ['w7', 'w10']],
      [['ios'], ['ios']],
    ]);
    expect(await rows('large.limit=1&large.order=budget.desc')).toEqual([
      [['w7', 'w10'], ['w10']],
      [['ios'], ['ios']],
    ]);
    expect((await get('clients?select=large:projects(name)&projects.budget=gte.20&id=eq.1'))[1]).toEqual([
      { large: [{ name: 'w10' }] },
    ]);
  });

  it('applies Range after limit and offset', async () => {
    const range = async (path: string, value: string): Promise<unknown> => {
      const [status, body, headers] = await get(path, { Range: value });
      return [status, headers.get('content-range'), status === 200 ? body.length : body.code];
    };
    expect(await range('projects?limit=3', '0-1')).toEqual([200, '0-1/*', 2]);
    expect(await range('projects', '1-0')).toEqual([416, null, 'PGRST103']);
    expect((await get('projects?offset=-4&select=id'))[1]).toHaveLength(3);
    const head = await fixture.request('/rest/v1/rpc/list_names', { method: 'HEAD', headers: { Range: '1-1' } });
    expect(head.headers.get('content-range')).toBe('0-1/*');
  });

  it('uses the first of several parameters and ignores limits that are not numbers', async () => {
    const first = await get('clients?select=id&select=name&order=id.desc&order=id&limit=x&offset=y');
    expect(first.slice(0, 2)).toEqual([200, [{ id: 2 }, { id: 1 }]]);
    expect((await get('clients?select=id&limit=&offset='))[1]).toHaveLength(2);
    expect((await get('clients?limit=-1'))[0]).toBe(416);
  });

  it('treats a body that is not an object as no rows and refuses other media types with 400', async () => {
    for (const body of [5, 'text', true, null]) {
      const response = await send('POST', 'clients', body, { Prefer: 'return=representation' });
      expect(response.slice(0, 2)).toEqual([201, []]);
    }
    const xml = await send('POST', 'clients', {}, { 'content-type': 'application/xml' });
    expect(xml).toMatchObject([400, { code: 'PGRST102', message: 'Content-Type not acceptable: application/xml' }, {}]);
  });

  it('parses lists with spaces and quotes, and keys with any characters', async () => {
    expect((await get('projects?id=in.(%20)'))[1]).toEqual([]);
    expect((await get('clients?name=in.(%22)'))[1]).toEqual([]);
    expect((await get('docs?select=data->!@%23$_d->>x&id=eq.1'))[1]).toEqual([{ x: '3' }]);
    expect(await get('docs?select=data->>--3')).toMatchObject([400, { code: 'PGRST100' }, expect.anything()]);
  });

  it('leaves out embeds that contain only empty embeds', async () => {
    expect((await get('clients?select=id,projects(clients())&id=eq.1'))[1]).toEqual([{ id: 1 }]);
  });

  it('returns the requested content type and location', async () => {
    const type = async (accept: string): Promise<string | null> =>
      (await get('clients?limit=1', { accept }))[2].get('content-type');
    expect(await type('application/vnd.pgrst.object+json;nulls=stripped')).toBe(
      'application/vnd.pgrst.object+json;nulls=stripped; charset=utf-8',
    );
    expect(await type('application/vnd.pgrst.array+json')).toBe('application/json; charset=utf-8');
    expect((await get('clients?select=id&id=eq.1'))[2].get('content-location')).toBe('/clients?id=eq.1&select=id');
    expect((await get('clients', { accept: 'application/openapi+json' }))[0]).toBe(406);
  });

  it('returns no location for a table or view without a key', async () => {
    const headers = { Prefer: 'return=headers-only' };
    const location = async (path: string): Promise<unknown> => {
      const [status, , reply] = await send('POST', path, { a: 1, b: 'x' }, headers);
      return [status, reply.get('location')];
    };
    expect(await location('nokey')).toEqual([201, null]);
    expect(await location('v_nokey')).toEqual([201, null]);
  });

  it('answers 201 to an empty list of rows, unless duplicates are merged', async () => {
    const getStatus = async (prefer: string): Promise<unknown> => {
      const [status, body] = await send('POST', 'clients', [], { Prefer: prefer });
      return [status, body];
    };
    expect(await getStatus('resolution=merge-duplicates')).toEqual([200, '']);
    expect(await getStatus('resolution=merge-duplicates, return=representation')).toEqual([200, []]);
    expect(await getStatus('resolution=ignore-duplicates')).toEqual([201, '']);
    expect(await getStatus('return=minimal')).toEqual([201, '']);
  });

  it('serves partitions only through their table', async () => {
    expect((await get('m?select=city'))[0]).toBe(200);
    expect(await get('m_2026')).toMatchObject([404, { code: 'PGRST205' }, expect.anything()]);
  });

  it('refuses tokens whose claims have another type', async () => {
    const request = (claims: Record<string, unknown>): Promise<[number, any, Headers]> =>
      get('clients', { authorization: `Bearer ${fixture.token('x', claims)}` });
    expect(await request({ exp: 'soon' })).toMatchObject([
      401,
      { message: "The JWT 'exp' claim must be a number" },
      expect.anything(),
    ]);
    const message = "The JWT 'aud' claim must be a string or an array of strings";
    for (const aud of [{ a: 1 }, [1, 'x'], 5])
      expect(await request({ aud })).toMatchObject([401, { message }, expect.anything()]);
    for (const aud of [null, [], 'mine', ['a']]) expect((await request({ aud }))[0]).toBe(200);
  });
});
