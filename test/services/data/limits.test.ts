import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Passwords } from '../../../services/data/auth-api/hash/passwords.ts';
import { sendBlindly } from '../../support/blind-sender.ts';
import { openDataFixture, type DataFixture } from './data-fixture.ts';
import { rows, schema } from './schema.ts';

/** Limits of requests and responses. */
let fixture: DataFixture;
beforeAll(async () => {
  fixture = await openDataFixture({ settings: { maxRows: 3, bodyMebibytes: 1, batchSeconds: 2 } });
  await fixture.sql(schema);
  await fixture.sql(rows);
  await fixture.sql('create function wait(s float) returns void language sql as $$ select pg_sleep(s) $$');
});
afterAll(() => fixture[Symbol.asyncDispose]());

const json = { 'content-type': 'application/json' };

test('limits the rows of an embed like those of a response', async () => {
  await fixture.sql('insert into projects select n, $$p$$ || n, 1 from generate_series(100, 120) n');
  const reply = await fixture.request('/rest/v1/clients?select=id,projects(id)&order=id');
  const all: any = await reply.json();
  expect(all.map((client: any) => client.projects.length)).toEqual([3, 2]);
  const more: any = await (
    await fixture.request('/rest/v1/clients?select=projects(id)&id=eq.1&projects.limit=50')
  ).json();
  expect(more[0].projects).toHaveLength(3);
  const fewer: any = await (
    await fixture.request('/rest/v1/clients?select=projects(id)&id=eq.1&projects.limit=2')
  ).json();
  expect(fewer[0].projects).toHaveLength(2);
  // An aggregate returns one row, so the row limit does not apply.
  const counted = await fixture.request('/rest/v1/clients?select=projects(count)&id=eq.1', {
    headers: { apikey: fixture.serviceKey },
  });
  expect(await counted.json()).toEqual([{ projects: [{ count: 23 }] }]);
});

test('returns all embedded rows of a write, like PostgREST', async () => {
  await fixture.sql(
    'insert into clients values (77, $$many$$); insert into projects select n, $$p$$ || n, 77 from generate_series(200, 209) n',
  );
  const reply = await fixture.request('/rest/v1/clients?id=eq.77&select=id,projects(id)', {
    method: 'PATCH',
    headers: { ...json, Prefer: 'return=representation' },
    body: '{"name":"many more"}',
  });
  const all: any = await reply.json();
  expect(all[0].projects).toHaveLength(10);
});

test('refuses a body that is too large, announced or not, and accepts more with the service key', async () => {
  const port = fixture.host.port('data');
  const headers = [`apikey: ${fixture.anonKey}`, 'Content-Type: application/json'];
  for (const chunked of [true, false]) {
    const response = await sendBlindly(port, 'POST /rest/v1/items', { headers, size: 3 * 1024 * 1024, chunked });
    expect([chunked, response.status]).toEqual([chunked, 413]);
  }
  const body = JSON.stringify({ title: 'x'.repeat(2 * 1024 * 1024) });
  const callApp = { method: 'POST', headers: { apikey: fixture.serviceKey, ...json }, body };
  expect((await fixture.request('/rest/v1/docs', callApp)).status).toBe(201);
  expect((await fixture.request('/rest/v1/docs', { ...callApp, headers: json })).status).toBe(413);
});

test('ends a batch within its time limit and rolls it back', async () => {
  const wait = { method: 'POST', path: '/rpc/wait', body: { s: 0.9 } };
  const requests = [{ method: 'POST', path: '/items', body: { id: 900 } }, ...Array.from({ length: 20 }, () => wait)];
  const startedAt = performance.now();
  for (const apikey of [fixture.anonKey, fixture.serviceKey]) {
    const reply = await fixture.request('/rest/v1/', {
      method: 'POST',
      headers: { apikey, ...json },
      body: JSON.stringify({ requests }),
    });
    expect([reply.status, (await reply.json()).code]).toEqual([500, '57014']);
  }
  expect(performance.now() - startedAt).toBeLessThan(30_000);
  expect(await fixture.sql('select id from items where id = 900')).toEqual([]);
});

test('parses a form with a hundred thousand arguments once', async () => {
  const body = 'a=1&'.repeat(150_000);
  const form = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body };
  expect((await fixture.request('/rest/v1/rpc/add_them', { ...form, body: `${body}b=2` })).status).toBe(200);
  const names = Array.from({ length: 50_000 }, (_, index) => `n${index}=1`).join('&');
  const unknown = await fixture.request('/rest/v1/rpc/add_them', { ...form, body: names });
  expect(unknown.status).toBe(404);
  expect((await unknown.text()).length).toBeLessThan(5000);
});

test('rejects property names of Object.prototype as operators', async () => {
  for (const name of ['constructor', 'valueof', 'tostring']) {
    const reply = await fixture.request(`/rest/v1/items?id=${name}.1`);
    expect([name, reply.status, (await reply.json()).code]).toEqual([name, 400, 'PGRST100']);
  }
});

test('ignores the late end of a former hashing thread', async () => {
  await using passwords = new Passwords();
  const first = passwords.hash('one');
  const lost = expect(first).rejects.toThrow('exited');
  // As when the idle thread ends while the next password arrives.
  const closing = passwords[Symbol.asyncDispose]();
  const second = passwords.hash('two');
  await closing;
  await lost;
  await sleep(0);
  expect(await passwords.verify('two', await second)).toBe(true);
});
