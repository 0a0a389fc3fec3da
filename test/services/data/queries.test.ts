import { afterAll, beforeAll, expect, test } from 'vitest';
import { adminAuthorization } from '../../support/host.ts';
import { openDataRoom, type DataRoom } from './room.ts';

/** Queries that somebody keeps; the page that shows them is tried in test/renderer/data. */
let room: DataRoom;
beforeAll(async () => {
  room = await openDataRoom();
});
afterAll(() => room[Symbol.asyncDispose]());

async function ask(method: string, path: string, body?: unknown, authorization = adminAuthorization): Promise<any> {
  const reply = await fetch(`${room.host.url('control')}/api${path}`, {
    method,
    headers: { authorization, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  return { status: reply.status, ...(text === '' ? {} : JSON.parse(text)) };
}

test('a query is kept under a name, changed, and removed', async () => {
  const made = await ask('POST', '/data/queries', { name: ' Thirsty plants ', text: 'select 1' });
  expect(made).toMatchObject({ status: 200, name: 'Thirsty plants', text: 'select 1' });
  await ask('POST', '/data/queries', { name: 'All plants', text: 'select 2' });
  const at = `/data/queries/${String(made.id)}`;
  expect(await ask('PATCH', at, { name: 'Dry plants' })).toMatchObject({ name: 'Dry plants', text: 'select 1' });
  expect(await ask('PATCH', at, { text: 'select 3' })).toMatchObject({ name: 'Dry plants', text: 'select 3' });
  const { queries } = await ask('GET', '/data/queries');
  expect(queries.map(({ name }: any) => name)).toEqual(['All plants', 'Dry plants']);
  expect((await ask('POST', '/data/queries', { name: ' ', text: 'select 1' })).error.fields).toHaveProperty('name');
  await ask('DELETE', at);
  expect((await ask('DELETE', at)).error.code).toBe('data.unknown_query');
  expect((await ask('PATCH', at, { name: 'Again' })).error.code).toBe('data.unknown_query');
});

test('everybody has their own, which go with their account', async () => {
  const { id } = await ask('POST', '/data/queries', { name: 'Of ada', text: 'select 1' });
  const grace = `Basic ${Buffer.from('grace:harbour light').toString('base64')}`;
  const join = (): Promise<any> =>
    ask('POST', '/accounts', { name: 'grace', password: 'harbour light', role: 'admin' });
  await join();
  expect((await ask('GET', '/data/queries', undefined, grace)).queries).toEqual([]);
  expect((await ask('DELETE', `/data/queries/${String(id)}`, undefined, grace)).status).toBe(404);
  await ask('POST', '/data/queries', { name: 'Of grace', text: 'select 2' }, grace);
  await ask('DELETE', '/accounts/grace?data=delete');
  await join();
  await expect.poll(async () => (await ask('GET', '/data/queries', undefined, grace)).queries).toEqual([]);
  expect((await ask('GET', '/data/queries')).queries.map(({ name }: any) => name)).toContain('Of ada');
});
