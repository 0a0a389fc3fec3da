import { afterAll, beforeAll, expect, test } from 'vitest';
import { adminAuthorization } from '../../support/host.ts';
import { openDataFixture, type DataFixture } from './data-fixture.ts';

/** Saved queries; their page is tested in test/renderer/data. */
let fixture: DataFixture;
beforeAll(async () => {
  fixture = await openDataFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

async function ask(method: string, path: string, body?: unknown, authorization = adminAuthorization): Promise<any> {
  const reply = await fetch(`${fixture.host.url('control')}/api${path}`, {
    method,
    headers: { authorization, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  return { status: reply.status, ...(text === '' ? {} : JSON.parse(text)) };
}

test('saves, changes and deletes a query under a name', async () => {
  const created = await ask('POST', '/data/queries', { name: ' Thirsty plants ', text: 'select 1' });
  expect(created).toMatchObject({ status: 200, name: 'Thirsty plants', text: 'select 1' });
  await ask('POST', '/data/queries', { name: 'All plants', text: 'select 2' });
  const path = `/data/queries/${String(created.id)}`;
  expect(await ask('PATCH', path, { name: 'Dry plants' })).toMatchObject({ name: 'Dry plants', text: 'select 1' });
  expect(await ask('PATCH', path, { text: 'select 3' })).toMatchObject({ name: 'Dry plants', text: 'select 3' });
  const { queries } = await ask('GET', '/data/queries');
  expect(queries.map(({ name }: any) => name)).toEqual(['All plants', 'Dry plants']);
  expect((await ask('POST', '/data/queries', { name: ' ', text: 'select 1' })).error.fields).toHaveProperty('name');
  await ask('DELETE', path);
  expect((await ask('DELETE', path)).error.code).toBe('data.unknown_query');
  expect((await ask('PATCH', path, { name: 'Again' })).error.code).toBe('data.unknown_query');
});

test('separates queries by account and deletes them with it', async () => {
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
