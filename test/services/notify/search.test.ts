import { expect, it } from 'vitest';
import { NotificationIndex } from '../../../services/notify/history/notification-index.ts';
import type { Message } from '../../../services/notify/domain/message.ts';
import { History } from '../../../services/notify/history/history.ts';
import { NotificationStore } from '../../../services/notify/store/notifications.ts';
import { migrations } from '../../../services/notify/store/migrations.ts';
import type { Database } from '../../../main/host/database/open.ts';
import { createFakeClock } from '../../support/clock.ts';
import { eachDialect } from '../../support/database.ts';
import { silentLog } from '../../support/database-location.ts';

const now = 1_900_000_000_000;

function message(id: string, title: string, body: string, time = now): Message {
  return { id, title, body, type: 'info', format: 'text', source: 'mail', time, tags: [], link: undefined };
}

function openStores({ kysely, commit }: Database) {
  const notices = new NotificationStore(kysely);
  const index = new NotificationIndex({ db: kysely, commit, clock: createFakeClock(), log: silentLog });
  const history = new History(kysely, { open: (url) => url }, index);
  return {
    notices,
    add: (messages: readonly Message[]) =>
      commit(async (transaction) => {
        for (const entry of messages) await notices.add(transaction, 'key', entry, []);
      }),
    find: async (q: string, limit = 50) => (await history.list({ q, limit })).map(({ id }) => id),
  };
}

eachDialect((_name, open, createLocation) => {
  const accepted = [
    message('old', 'Backup of the café', 'Läuft seit 3 Stunden', now - 10),
    message('new', 'Door', 'The backup-disk is full: /mnt/data_3'),
    message('odd', '', ''),
  ];

  it('finds notifications by words, prefixes and phrases immediately after acceptance', async () => {
    const database = await open();
    await database.migrate(migrations);
    const { add, find } = openStores(database);
    await add(accepted);
    const results = new Map([
      ['backup', ['new', 'old']],
      ['CAFE lauft', ['old']],
      ['bac sta', []],
      ['backup full', ['new']],
      ['"full backup"', []],
      ['"disk is full"', ['new']],
      ['data_3', ['new']],
      ["' or 1=1 -- :* & |", []],
      ['%', []],
      ['', ['odd', 'new', 'old']],
    ]);
    for (const [q, ids] of results) expect([q, await find(q)]).toEqual([q, ids]);
  });

  it('finds the newest notifications first, and not after their deletion', async () => {
    const database = await open();
    await database.migrate(migrations);
    const { add, find, notices } = openStores(database);
    await add(accepted);
    await add([message('later', 'Backup', 'done', now + 1)]);
    expect(await find('backup', 2)).toEqual(['later', 'new']);
    expect(await notices.deleteOld(now - 1)).toBe(1);
    expect(await find('backup')).toEqual(['later', 'new']);
    expect(await find('cafe')).toEqual([]);
    await add([message('old', 'Backup', 'is back')]);
    expect((await find('backup')).toSorted()).toEqual(['later', 'new', 'old']);
  });

  it('finds notifications of an older version, regardless of their number', async () => {
    const location = createLocation();
    const before = await open(location);
    await before.migrate(migrations.slice(0, -1));
    const many = Array.from({ length: 1500 }, (_, index) =>
      message(`n${String(index)}`, `Number ${String(index)}`, 'of many', now + index),
    );
    await openStores(before).add(many);
    await before[Symbol.asyncDispose]();
    const database = await open(location);
    await database.migrate(migrations);
    const { add, find } = openStores(database);
    await add([message('more', 'Number 1000', 'of more')]);
    const [all, one] = await Promise.all([find('many', 5000), find('1000')]);
    expect(all).toHaveLength(1500);
    expect(one.toSorted()).toEqual(['more', 'n1000']);
  });
});
