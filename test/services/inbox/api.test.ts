import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { inboxAdded, inboxApi, inboxChanged, inboxOffered, InboxOffer } from '../../../services/contracts/inbox/api.ts';
import { defineService, type Context } from '../../../services/contracts/service.ts';
import { control } from '../../../services/control/index.ts';
import { inbox } from '../../../services/inbox/index.ts';
import { api } from '../../support/api.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';

const dayMs = 24 * 3_600_000;

let host: TestHost;
let context: Context;
let clock: FakeClock;
let events: { added: number[]; changed: z.infer<typeof inboxChanged.schema>[] };

const probe = defineService({
  id: 'probe',
  title: 'Probe',
  summary: 'Gives the test a context.',
  settings: z.object({}),
  environment: {},
  migrations: [],
  create(_settings) {
    context = _settings;
    return {
      start: () => Promise.resolve(),
      health: () => Promise.resolve({ state: 'up', detail: '' }),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  },
});

beforeAll(async () => {
  clock = createFakeClock(Date.now());
  host = await openTestHost({ services: [inbox, control, probe], clock, environment: { INBOX_KEEP_DAYS: '30' } });
  context.bus.subscribe(inboxAdded, ({ id }) => events.added.push(id));
  context.bus.subscribe(inboxChanged, (event) => events.changed.push(event));
});
afterAll(() => host[Symbol.asyncDispose]());
beforeEach(() => {
  events = { added: [], changed: [] };
});

const offer = (key: string, fields: Partial<InboxOffer> = {}) =>
  context.handovers.pass(
    inboxOffered,
    key,
    InboxOffer.parse({ body: key, source: 'test', time: clock.now(), ...fields }),
  );
const list = async (query = '') => z.parse(inboxApi.list.reply, await api(host.url('control'), `/api/inbox${query}`));
const change = async (body: unknown) =>
  z.parse(
    inboxApi.change.reply,
    await api(host.url('control'), '/api/inbox', { method: 'PATCH', body: JSON.stringify(body) }),
  );
const remove = async (ids: number[]) =>
  z.parse(
    inboxApi.remove.reply,
    await api(host.url('control'), '/api/inbox/remove', { method: 'POST', body: JSON.stringify({ ids }) }),
  );
const bodies = async (query?: string) => (await list(query)).items.map((item) => item.body);

it('stores an offer once, publishes it and counts it', async () => {
  await Promise.all([
    offer('first', { tags: ['a'] }),
    offer('first'),
    offer('second', { source: 'mail', priority: 5 }),
  ]);
  const { items, unread, total, sources } = await list();
  expect(items.map((item) => item.body).sort()).toEqual(['first', 'second']);
  expect({ unread, total, sources }).toEqual({ unread: 2, total: 2, sources: ['mail', 'test'] });
  await expect.poll(() => events.added.toSorted()).toEqual(items.map((item) => item.id).toSorted());
  const page = await (
    await fetch(`${host.url('control')}/metrics`, {
      headers: { authorization: `Basic ${btoa('ada:correct horse battery')}` },
    })
  ).text();
  expect(page).toMatch(/^inbox_items_total\{service="inbox"\} 2$/m);
  expect(page).toMatch(/^inbox_items_unread\{service="inbox"\} 2$/m);
});

it('filters and paginates', async () => {
  expect(await bodies('?source=mail')).toEqual(['second']);
  expect(await bodies('?tag=a')).toEqual(['first']);
  expect(await bodies('?minPriority=4')).toEqual(['second']);
  const [newest] = (await list('?limit=1')).items;
  expect(await bodies(`?before=${newest?.id ?? 0}`)).toHaveLength(1);
  expect((await list(`?before=${newest?.id ?? 0}`)).total).toBe(2);
});

it('marks single rows and all rows, counting and publishing only changed ones', async () => {
  const [mail] = (await list('?source=mail')).items;
  const id = mail?.id ?? 0;
  expect(await change({ ids: [id], read: true })).toEqual({ changed: 1, unread: 1 });
  expect(await change({ ids: [id], read: true })).toEqual({ changed: 0, unread: 1 });
  expect(await bodies('?unread=true')).toEqual(['first']);
  expect(await change({ ids: 'all', read: true })).toEqual({ changed: 1, unread: 0 });
  expect(await change({ ids: 'all', read: false })).toEqual({ changed: 2, unread: 2 });
  await expect.poll(() => events.changed.length).toBe(3);
  expect(events.changed[0]).toEqual({
    ids: [id],
    change: { read: true },
    unread: 1,
    places: [{ topic: '', source: 'mail', ids: [id] }],
  });
});

it('marks a row as done, which hides it from the list and the count but not from a search', async () => {
  const [first] = (await list('?tag=a')).items;
  expect(await change({ ids: [first?.id ?? 0], done: true })).toEqual({ changed: 1, unread: 1 });
  expect(await bodies()).toEqual(['second']);
  expect(await bodies('?done=true')).toEqual(['first']);
  expect(await bodies('?q=first')).toEqual(['first']);
  expect(await bodies('?q=first&done=false')).toEqual([]);
});

it('finds the newest rows by words without counting, including done rows', async () => {
  const search = async (query: string): Promise<readonly string[]> => {
    const result = z.parse(inboxApi.find.reply, await api(host.url('control'), `/api/inbox/search?${query}`));
    return result.items.map(({ body }) => body);
  };
  expect(await search('q=fir')).toEqual(['first']);
  expect(await search('q=first&limit=1')).toEqual(['first']);
  for (const query of ['q=', 'q=%20', 'q=...', 'q=firs%20second']) expect(await search(query)).toEqual([]);
  await expect(search('limit=1')).rejects.toThrow(/4\d\d/);
});

it('returns a row by id, including done rows, and responds with 404 to unknown ids', async () => {
  await offer('only', { source: 'alone' });
  const [row] = (await list('?source=alone')).items;
  const getItem = (id: string): Promise<unknown> => api(host.url('control'), `/api/inbox/${id}`);
  expect(await getItem(String(row?.id))).toEqual(row);
  await change({ ids: [row?.id ?? 0], done: true });
  expect(await getItem(String(row?.id))).toMatchObject({ body: 'only', done: true });
  for (const id of ['999999', '0', '-1', '1.5', 'no-number', '99999999999999999999']) {
    await expect(getItem(id)).rejects.toThrow('inbox.unknown');
  }
  await remove([row?.id ?? 0]);
  await expect.poll(() => events.changed).toHaveLength(2);
});

it('deletes rows', async () => {
  const [mail] = (await list('?source=mail')).items;
  const id = mail?.id ?? 0;
  expect(await remove([id, 999_999])).toEqual({ removed: 1, unread: 0 });
  await offer('second');
  expect(await bodies('?q=second')).toEqual([]);
  await expect
    .poll(() => events.changed)
    .toEqual([{ ids: [id], change: { removed: true }, unread: 0, places: [{ topic: '', source: 'mail', ids: [id] }] }]);
});

it('deletes rows older than the retention and publishes it', async () => {
  await offer('old', { time: clock.now() - 31 * dayMs });
  await offer('younger', { time: clock.now() - 29 * dayMs });
  expect(await bodies()).toEqual(['younger', 'old']);
  clock.advance(3_600_000);
  await expect.poll(() => bodies()).toEqual(['younger']);
  await expect.poll(() => events.changed).toMatchObject([{ change: { removed: true }, unread: 1 }]);
});

describe('unread rows of push topics', () => {
  const unreadTopics = async () =>
    z.parse(inboxApi.unreadTopics.reply, await api(host.url('control'), '/api/inbox/unread-topics')).topics;

  it('are counted by topic with their highest priority, without rows that are read or done', async () => {
    await change({ ids: 'all', read: true });
    await offer('north 1', { topic: 'north', priority: 2 });
    await offer('north 2', { topic: 'north', priority: 4 });
    await offer('south 1', { topic: 'south', priority: 5 });
    await offer('none', { priority: 5 });
    expect(await unreadTopics()).toEqual([
      { topic: 'north', count: 2, priority: 4 },
      { topic: 'south', count: 1, priority: 5 },
    ]);
    const { items } = await list('?unread=true&topic=north');
    expect(items.map(({ body }) => body)).toEqual(['north 2', 'north 1']);
    await change({ ids: [items[0]?.id ?? 0], done: true });
    expect(await unreadTopics()).toEqual([
      { topic: 'north', count: 1, priority: 2 },
      { topic: 'south', count: 1, priority: 5 },
    ]);
  });

  it('are marked as read for one topic', async () => {
    await change({ ids: 'all', read: true });
    await offer('east 1', { topic: 'east' });
    await offer('east 2', { topic: 'east' });
    await offer('west 1', { topic: 'west' });
    expect(await change({ ids: 'all', topic: 'east', read: true })).toMatchObject({ changed: 2, unread: 1 });
    expect(await unreadTopics()).toEqual([{ topic: 'west', count: 1, priority: 3 }]);
    expect(await change({ ids: 'all', topic: 'nothing', read: true })).toMatchObject({ changed: 0, unread: 1 });
    await change({ ids: 'all', read: true });
    expect(await unreadTopics()).toEqual([]);
  });
});

describe('rejected requests', () => {
  it('requires a sign-in', async () => {
    expect((await fetch(`${host.url('control')}/api/inbox`)).status).toBe(401);
  });

  it.each(['?limit=0', '?limit=201', '?before=x', '?minPriority=6', '?unread=perhaps'])(
    'rejects the query %s',
    async (query) => {
      await expect(list(query)).rejects.toThrow(/4\d\d/);
    },
  );

  it.each([{ ids: [] }, { ids: 'some' }, { ids: Array.from({ length: 1001 }, (_, index) => index) }])(
    'rejects the change %j',
    async (body) => {
      await expect(change(body)).rejects.toThrow(/4\d\d/);
    },
  );
});
