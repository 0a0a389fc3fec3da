import { sql, type Kysely } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { inboxChanged, inboxOffered, inboxSeen, InboxOffer } from '../../../services/contracts/inbox/api.ts';
import { defineService, type Context } from '../../../services/contracts/service.ts';
import { control } from '../../../services/control/index.ts';
import { inbox } from '../../../services/inbox/index.ts';
import { ItemMarker } from '../../../services/inbox/item-marker.ts';
import { ItemStore } from '../../../services/inbox/store/items.ts';
import { migrations } from '../../../services/inbox/store/migrations.ts';
import { popups } from '../../../services/popups/index.ts';
import { api } from '../../support/api.ts';
import { createFakeClock } from '../../support/clock.ts';
import { eachDialect } from '../../support/database.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { RecordingNotifier } from '../popups/support.ts';

const startTime = 1_795_000_000_000;

/** Inserts a run of similar rows with this number of repeats. */
async function addRun(transaction: Kysely<any>, length: number): Promise<void> {
  await sql`
    with recursive numbers (number) as (select 1 union all select number + 1 from numbers where number < ${sql.lit(length)})
    insert into items
      (title, body, format, priority, tags, source, topic, time, read, done, search, likeness, since, latest)
    select 'Down', 'again', 'text', 3, '[]', 'uptime', '', ${sql.lit(startTime)} + number, 0, 0, '', 7, ${sql.lit(startTime)},
      case when number = ${sql.lit(length)} then 1 else 0 end
    from numbers`.execute(transaction);
}

eachDialect((_name, open) => {
  const openMarking = async (rows: number) => {
    const database = await open();
    await database.migrate(migrations);
    await database.commit((transaction) => addRun(transaction, rows));
    const store = new ItemStore(database.kysely);
    const announced: (number | 'many')[] = [];
    const seenIds: number[] = [];
    const marking = new ItemMarker({
      context: { clock: createFakeClock(startTime), commit: database.commit, reads: database.reads },
      store,
      announce: (changed) => {
        announced.push(changed === 'many' ? changed : changed.length);
        return store.countUnread();
      },
      announceSeen: async (changed) => {
        const ids = changed.map(({ id }) => id);
        await store.findKeys(ids);
        seenIds.push(...ids);
      },
    });
    return { store, marking, announced, seenIds };
  };

  it('marks exactly one full batch of rows and undoes it', async () => {
    const { marking, announced, store } = await openMarking(1000);
    const marked = await marking.changeAll({ read: true, done: true });
    expect(marked).toMatchObject({ changed: 1000, unread: 0 });
    expect(announced).toEqual([1000]);
    expect(await marking.undo(marked.change)).toEqual({ changed: 1000, unread: 1000 });
    expect(await store.count({ newest: true, done: false })).toBe(1);
    expect(announced).toEqual([1000, 'many']);
  });

  it('marks more rows than a batch, announces each as seen, and undoes it', async () => {
    const { marking, announced, seenIds } = await openMarking(2000);
    const marked = await marking.changeAll({ read: true });
    expect(marked).toMatchObject({ changed: 2000, unread: 0 });
    expect(new Set(seenIds).size).toBe(2000);
    expect(await marking.undo(marked.change)).toEqual({ changed: 2000, unread: 2000 });
    await marking.changeAll({ read: true });
    const seenBefore = seenIds.length;
    expect(await marking.changeAll({ read: false })).toMatchObject({ changed: 2000, unread: 2000 });
    expect(seenIds).toHaveLength(seenBefore);
    expect(announced).toEqual(['many', 'many', 'many', 'many']);
  });
});

let host: TestHost;
let context: Context;
let inboxContext: Context;
let events: { changed: number[][]; seen: number[] };

const probe = defineService({
  id: 'probe',
  title: 'Probe',
  summary: 'Gives the test a context.',
  environment: {},
  migrations: [],
  settings: inbox.settings,
  create(argument) {
    context = argument;
    return {
      start: () => Promise.resolve(),
      health: () => Promise.resolve({ state: 'up', detail: '' }),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  },
});
const observedInbox: typeof inbox = {
  ...inbox,
  create(argument, settings) {
    inboxContext = argument;
    return inbox.create(argument, settings);
  },
};

beforeAll(async () => {
  const notifier = new RecordingNotifier();
  const clock = createFakeClock(startTime);
  host = await openTestHost({ services: [observedInbox, popups, control, probe], clock, notifier });
  context.bus.subscribe(inboxChanged, ({ ids }) => events.changed.push(ids));
  context.bus.subscribe(inboxSeen, ({ ids }) => events.seen.push(...ids));
});
afterAll(() => host[Symbol.asyncDispose]());
beforeEach(() => {
  events = { changed: [], seen: [] };
});

const ask = (method: string, path: string, body?: unknown): Promise<any> =>
  api(host.url('control'), `/api${path}`, { method, ...(body !== undefined && { body: JSON.stringify(body) }) });

it('removes held popups when more rows are marked as read than one event can list', async () => {
  await ask('PUT', '/popups', { pausedUntil: startTime + 3_600_000 });
  const offer = InboxOffer.parse({ title: 'Down', body: 'again', source: 'uptime', time: startTime });
  await Promise.all(
    Array.from({ length: 1001 }, (_, index) =>
      context.handovers.pass(inboxOffered, String(index), { ...offer, title: `Down ${String(index)}` }),
    ),
  );
  await expect.poll(async () => ((await ask('GET', '/popups')) as { held: number }).held).toBe(1001);
  expect(await ask('PATCH', '/inbox', { ids: 'all', read: true })).toEqual({ changed: 1001, unread: 0 });
  await expect.poll(async () => ((await ask('GET', '/popups')) as { held: number }).held).toBe(0);
  await expect.poll(() => events.changed).toEqual([[]]);
});

it('deletes a run with more rows than a statement can list', async () => {
  const rows = 33_000;
  await inboxContext.commit((transaction) => addRun(transaction, rows));
  const { items } = await ask('GET', '/inbox?repeats=newest&limit=1');
  expect(items).toMatchObject([{ title: 'Down', repeats: { times: 1000 } }]);
  const { removed } = await ask('POST', '/inbox/remove', { ids: [items[0].id], repeats: true });
  expect(removed).toBe(rows);
  expect(await ask('GET', '/inbox')).toMatchObject({ total: 1001 });
  await expect.poll(() => events.seen.length).toBe(rows);
  expect(events.changed.every((ids) => ids.length === 1000)).toBe(true);
});
