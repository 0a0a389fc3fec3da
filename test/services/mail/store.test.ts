import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { clearSpool } from '../../../services/mail/store/retention.ts';
import { MessageStore, type Message } from '../../../services/mail/store/messages.ts';
import { outcomesOf } from '../../../services/mail/store/outcomes.ts';
import { Sources } from '../../../services/mail/store/sources.ts';
import { migrations } from '../../../services/mail/store/tables.ts';
import { eachDialect } from '../../support/database.ts';

const now = 1_900_000_000_000;
const hour = 3_600_000;
let folder: string | undefined;
afterEach(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

function message(id: string, fields: Partial<Message> = {}): Message {
  return {
    ...{ id, sender: 'a@b', recipients: ['c@d', 'ü@d'], size: 9, fingerprint: undefined, receivedAt: now },
    ...{ subject: '', deliveries: [], note: '' },
    ...fields,
  };
}

eachDialect((_name, open) => {
  const openStore = async () => {
    const database = await open();
    await database.migrate(migrations);
    const store = new MessageStore(database.kysely);
    const add = (given: Message) => database.commit((transaction) => store.add(transaction, given));
    return { database, store, add };
  };

  it('finds the same mail within a time, and none without a fingerprint', async () => {
    const { database, store, add } = await openStore();
    await add(message('other', { sender: '' }));
    await add(message('old', { fingerprint: 'f', receivedAt: now }));
    const twin = (at: number, fingerprint = 'f') =>
      database.commit((transaction) => store.findDuplicate(transaction, fingerprint, at));
    const tenMinutes = 10 * 60_000;
    expect(await Promise.all([0, 1, tenMinutes / 2, tenMinutes].map((later) => twin(now + later)))).toEqual(
      Array.from({ length: 4 }, () => 'old'),
    );
    expect([await twin(now + tenMinutes + 1), await twin(now, 'g')]).toEqual([undefined, undefined]);
  });

  it('counts the mails of each day by what became of them, and none that came after the jobs were looked at', async () => {
    const { database, add } = await openStore();
    const days = [
      { day: 'before', from: now - 24 * hour },
      { day: 'today', from: now },
    ];
    await add(message('old', { receivedAt: now - 24 * hour - 1 }));
    await add(message('yesterday', { receivedAt: now - 1 }));
    for (const id of ['a', 'b', 'c', 'd']) await add(message(id));
    await add(message('dropped', { note: 'a rule dropped it' }));
    await add(message('later', { receivedAt: now + 1 }));
    const open = { failed: ['a', 'old'], waiting: ['b', 'gone', 'later'] };
    const outcomes = await outcomesOf(database.kysely, { days, until: now, open });
    expect(outcomes).toEqual({ told: [1, 2], waiting: [0, 1], failed: [0, 1], dropped: [0, 1] });
  });

  it('finds a mail by its words in any case, also one that came before its subject was noted', async () => {
    const { database, store, add } = await openStore();
    await add(message('new', { sender: 'Ärger@nas', subject: 'Störung BEHOBEN' }));
    await add(message('old', { sender: 'before@nas', subject: 'gone' }));
    await database.kysely.updateTable('messages').set({ words: '' }).where('id', '=', 'old').execute();
    const found = async (words: string) => (await store.list({ words, limit: 9 })).map(({ id }) => id);
    expect(await found('STÖRUNG behoben')).toEqual(['new']);
    expect(await found('ärger')).toEqual(['new']);
    expect(await found('BEFORE@nas')).toEqual(['old']);
    expect(await found('%')).toEqual([]);
    expect((await store.find('new'))?.subject).toBe('Störung BEHOBEN');
  });

  it('knows when the newest mail came', async () => {
    const { store, add } = await openStore();
    expect(await store.newest()).toBeUndefined();
    await add(message('b', { receivedAt: now + 1 }));
    await add(message('a'));
    expect(await store.newest()).toBe(now + 1);
  });

  it('forgets more mails in a round than one statement takes away', async () => {
    const { database, store } = await openStore();
    folder = mkdtempSync(join(tmpdir(), 'spool-'));
    const sources = new Sources(database.kysely, folder);
    await sources.open();
    await database.commit(async (transaction) => {
      for (let at = 0; at < 250; at += 1) {
        await store.add(transaction, message(`m${String(at)}`, { receivedAt: now - at - 1 }));
        await sources.add(transaction, `m${String(at)}`, Buffer.from('x'));
      }
    });
    await clearSpool(store, sources, now);
    expect(await store.list({ words: '', limit: 9 })).toEqual([]);
    expect(await sources.read('m249')).toBeUndefined();
  });

  it('has sources of both kinds, as they came, until they are removed', async () => {
    const { database, store, add } = await openStore();
    folder = mkdtempSync(join(tmpdir(), 'spool-'));
    const sources = new Sources(database.kysely, folder);
    await sources.open();
    const raw = Buffer.from(Array.from({ length: 512 }, (_, at) => at % 256));
    await add(message('row'));
    await database.commit((transaction) => sources.add(transaction, 'row', raw));
    writeFileSync(join(folder, 'spool', 'file.eml'), raw);
    for (const id of ['row', 'file']) {
      expect(Buffer.from((await sources.read(id)) ?? []).equals(raw)).toBe(true);
      expect(Buffer.from((await sources.head(id, 9)) ?? []).equals(raw.subarray(0, 9))).toBe(true);
      expect(Object.keys((await sources.place(id)) ?? {})).toEqual([id === 'row' ? 'bytes' : 'path']);
      await sources.removeFiles([id]);
      await store.remove([id]);
      expect([await sources.read(id), await sources.head(id, 9), await sources.place(id)]).toEqual([
        ...[undefined, undefined, undefined],
      ]);
    }
  });

  it('forgets old mails, oldest first, with their sources and what a crash left', async () => {
    const { database, store, add } = await openStore();
    folder = mkdtempSync(join(tmpdir(), 'spool-'));
    const sources = new Sources(database.kysely, folder);
    await sources.open();
    const file = (id: string): string => join(folder ?? '', 'spool', `${id}.eml`);
    for (const [id, receivedAt] of [
      ['second', now - hour],
      ['first', now - 2 * hour],
      ['row', now - hour / 2],
      ['young', now],
      ['young row', now],
    ] as const) {
      await add(message(id, { receivedAt }));
      if (id.endsWith('row')) await database.commit((transaction) => sources.add(transaction, id, Buffer.from('x')));
      else writeFileSync(file(id), 'x');
    }
    writeFileSync(file('orphan'), 'x');
    utimesSync(file('orphan'), (now - hour) / 1000, (now - hour) / 1000);
    for (const id of ['young', 'second']) utimesSync(file(id), now / 1000, now / 1000);
    expect(await store.listBefore(now, 1)).toEqual(['first']);
    await clearSpool(store, sources, now);
    expect(await store.listBefore(now + 1, 9)).toEqual(['young', 'young row']);
    const ids = ['first', 'second', 'row', 'orphan', 'young', 'young row'];
    expect(await Promise.all(ids.map(async (id) => (await sources.read(id)) !== undefined))).toEqual([
      ...[false, false, false, false],
      ...[true, true],
    ]);
    expect(readdirSync(join(folder, 'spool'))).toEqual(['young.eml']);
  });
});
