import { request } from 'node:http';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Cancellation } from '../../../services/data/app-api/cancellation.ts';
import { adminAuthorization } from '../../support/host.ts';
import { openDataRoom, type DataRoom } from './room.ts';

/** Statements of a page that are cancelled while they run; its button, key and leaving are tried in test/renderer/data. */
let room: DataRoom;
beforeAll(async () => {
  room = await openDataRoom();
});
afterAll(() => room[Symbol.asyncDispose]());

const headers = { authorization: adminAuthorization, 'content-type': 'application/json' };
async function own(path: string, body: object): Promise<any> {
  const reply = await fetch(`${room.host.url('control')}/api/data${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  expect(reply.status).toBe(200);
  return reply.json();
}
const run = (query: string, id: string): Promise<any> => own('/sql', { query, id });
const cancel = (id: string): Promise<any> => own('/sql/cancel', { id });
/** How many hold or want this advisory lock, as those see it who wait for none of the owner's connections. */
const locks = async (lock: number, granted: boolean): Promise<number> => {
  const query = `select 1 from pg_locks where locktype = 'advisory' and objid = ${lock} and granted = ${granted}`;
  return (await own('/sql', { query, role: 'anon' })).results[0].count;
};

test('who cancels while all connections are busy waits for none of them, and people sign in meanwhile', async () => {
  const all = Array.from({ length: 4 }, (_, at) => `busy-${at}-of-a-page`);
  const busy = all.map((id) => run('select pg_advisory_xact_lock_shared(1), pg_sleep(3600)', id));
  await expect.poll(() => locks(1, true)).toBe(4);
  const person = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"email":"ann@example.com","password":"harbour-lamp-42"}',
  };
  expect((await room.request('/auth/v1/signup', person)).status).toBe(200);
  let isAnswered = false;
  const late = run('select 1', 'comes-when-all-are').finally(() => (isAnswered = true));
  // It may come to the host after the first of these.
  await expect.poll(() => cancel('comes-when-all-are').then(() => isAnswered)).toBe(true);
  expect(await late).toMatchObject({ wasCancelled: true, error: { code: '57014' } });
  for (const id of all) await cancel(id);
  for (const answer of busy) expect(await answer).toMatchObject({ wasCancelled: true });
  expect((await run('select 1', 'runs-as-it-did-00')).error).toBeNull();
});

test('statements of a client that is gone are cancelled', async () => {
  const body = JSON.stringify({ query: 'select pg_advisory_xact_lock(4), pg_sleep(3600)' });
  const asked = request(`${room.host.url('control')}/api/data/sql`, { method: 'POST', headers });
  asked.on('error', () => undefined);
  asked.end(body);
  await expect.poll(() => locks(4, true)).toBe(1);
  asked.socket?.resetAndDestroy();
  await expect.poll(() => locks(4, true)).toBe(0);
});

test('what did not reach PostgreSQL is sent again', async () => {
  const told: unknown[] = [];
  let away = true;
  const database = {
    cancel: async (): Promise<void> => {
      if (away) throw new Error('away');
      told.push('cancel');
    },
  };
  const cancellation = new Cancellation(database);
  const client = { query: () => Promise.resolve({ rows: [{ pid: 7 }] }) } as unknown as pg.ClientBase;
  await cancellation.around(client, async () => {
    await expect(cancellation.ask()).rejects.toThrow('away');
    away = false;
    await cancellation.ask();
    await cancellation.ask();
    expect(told).toEqual(['cancel']);
  });
});
