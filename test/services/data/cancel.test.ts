import { request } from 'node:http';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Cancellation } from '../../../services/data/app-api/cancellation.ts';
import { adminAuthorization } from '../../support/host.ts';
import { openDataFixture, type DataFixture } from './data-fixture.ts';

/** Cancellation of statements of a page; its button, key and disconnect are tested in test/renderer/data. */
let fixture: DataFixture;
beforeAll(async () => {
  fixture = await openDataFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const headers = { authorization: adminAuthorization, 'content-type': 'application/json' };
async function callApp(path: string, body: object): Promise<any> {
  const reply = await fetch(`${fixture.host.url('control')}/api/data${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  expect(reply.status).toBe(200);
  return reply.json();
}
const run = (query: string, id: string): Promise<any> => callApp('/sql', { query, id });
const cancel = (id: string): Promise<any> => callApp('/sql/cancel', { id });
/** Counts holders and waiters of an advisory lock, without a connection of the owner pool. */
const locks = async (lock: number, granted: boolean): Promise<number> => {
  const query = `select 1 from pg_locks where locktype = 'advisory' and objid = ${lock} and granted = ${granted}`;
  return (await callApp('/sql', { query, role: 'anon' })).results[0].count;
};

test('cancels without waiting for busy connections, while users sign in', async () => {
  const all = Array.from({ length: 4 }, (_, index) => `busy-${index}-of-a-page`);
  const busy = all.map((id) => run('select pg_advisory_xact_lock_shared(1), pg_sleep(3600)', id));
  await expect.poll(() => locks(1, true)).toBe(4);
  const person = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"email":"ann@example.com","password":"harbour-lamp-42"}',
  };
  expect((await fixture.request('/auth/v1/signup', person)).status).toBe(200);
  let isAnswered = false;
  const late = run('select 1', 'comes-when-all-are').finally(() => (isAnswered = true));
  // The request may reach the host after the first of these.
  await expect.poll(() => cancel('comes-when-all-are').then(() => isAnswered)).toBe(true);
  expect(await late).toMatchObject({ wasCancelled: true, error: { code: '57014' } });
  for (const id of all) await cancel(id);
  for (const answer of busy) expect(await answer).toMatchObject({ wasCancelled: true });
  expect((await run('select 1', 'runs-as-it-did-00')).error).toBeNull();
});

test('cancels the statements of a disconnected client', async () => {
  const body = JSON.stringify({ query: 'select pg_advisory_xact_lock(4), pg_sleep(3600)' });
  const clientRequest = request(`${fixture.host.url('control')}/api/data/sql`, { method: 'POST', headers });
  clientRequest.on('error', () => undefined);
  clientRequest.end(body);
  await expect.poll(() => locks(4, true)).toBe(1);
  clientRequest.socket?.resetAndDestroy();
  await expect.poll(() => locks(4, true)).toBe(0);
});

test('retries a cancellation that did not reach PostgreSQL', async () => {
  const response: unknown[] = [];
  let isUnavailable = true;
  const database = {
    cancel: async (): Promise<void> => {
      if (isUnavailable) throw new Error('away');
      response.push('cancel');
    },
  };
  const cancellation = new Cancellation(database);
  const client = { query: () => Promise.resolve({ rows: [{ pid: 7 }] }) } as unknown as pg.ClientBase;
  await cancellation.wrap(client, async () => {
    await expect(cancellation.request()).rejects.toThrow('away');
    isUnavailable = false;
    await cancellation.request();
    await cancellation.request();
    expect(response).toEqual(['cancel']);
  });
});
