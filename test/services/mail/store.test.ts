import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { LocalBlobs } from '../../../main/host/blobs/local-blobs.ts';
import { clearSpool } from '../../../services/mail/store/retention.ts';
import { MessageStore, type Message } from '../../../services/mail/store/messages.ts';
import { countMails, countOutcomes } from '../../../services/mail/store/outcomes.ts';
import { Sources } from '../../../services/mail/store/sources.ts';
import { migrations } from '../../../services/mail/store/tables.ts';
import { eachDialect } from '../../support/database.ts';

const now = 1_900_000_000_000;
const hourMs = 3_600_000;
let folder: string | undefined;
afterEach(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

function message(id: string, fields: Partial<Message> = {}): Message {
  return {
    id,
    sender: 'a@b',
    recipients: ['c@d', 'ü@d'],
    size: 9,
    fingerprint: undefined,
    receivedAt: now,
    subject: '',
    deliveries: [],
    note: '',
    ...fields,
  };
}

eachDialect((_name, open) => {
  const openStore = async () => {
    const database = await open();
    await database.migrate(migrations);
    const store = new MessageStore(database.kysely);
    const add = (row: Message) => database.commit((transaction) => store.add(transaction, row));
    return { database, store, add };
  };

  it('finds a duplicate within its time, and none without fingerprint', async () => {
    const { database, store, add } = await openStore();
    await add(message('other', { sender: '' }));
    await add(message('old', { fingerprint: 'f', receivedAt: now }));
    const findTwin = (elapsed: number, fingerprint = 'f') =>
      database.commit((transaction) => store.findDuplicate(transaction, fingerprint, elapsed));
    const tenMinutes = 10 * 60_000;
    expect(await Promise.all([0, 1, tenMinutes / 2, tenMinutes].map((elapsed) => findTwin(now + elapsed)))).toEqual(
      Array.from({ length: 4 }, () => 'old'),
    );
    expect([await findTwin(now + tenMinutes + 1), await findTwin(now, 'g')]).toEqual([undefined, undefined]);
  });

  it('counts mails per day by outcome, excluding those received after the jobs were read', async () => {
    const { database, add } = await openStore();
    const days = [
      { day: 'before', from: now - 24 * hourMs },
      { day: 'today', from: now },
    ];
    await add(message('old', { receivedAt: now - 24 * hourMs - 1 }));
    await add(message('yesterday', { receivedAt: now - 1 }));
    for (const id of ['a', 'b', 'c', 'd']) await add(message(id));
    await add(message('dropped', { note: 'a rule dropped it' }));
    await add(message('later', { receivedAt: now + 1 }));
    const open = { failed: ['a', 'old'], waiting: ['b', 'gone', 'later'] };
    const outcomes = await countOutcomes(database.kysely, { days, until: now, unfinished: open });
    expect(outcomes).toEqual({ told: [1, 2], waiting: [0, 1], failed: [0, 1], dropped: [0, 1] });
    const [first, second] = days;
    if (first === undefined || second === undefined) throw new Error('the test needs two days');
    // All outcomes count, and mails from the end of the period on do not.
    expect(await countMails(database.kysely, days, now + 1)).toEqual([1, 5]);
    expect(await countMails(database.kysely, [first], second.from)).toEqual([1]);
  });

  it('finds a mail by words ignoring case, also from older versions', async () => {
    const { database, store, add } = await openStore();
    await add(message('new', { sender: 'Ärger@nas', subject: 'Störung BEHOBEN' }));
    await add(message('old', { sender: 'before@nas', subject: 'gone' }));
    await database.kysely.updateTable('messages').set({ words: '' }).where('id', '=', 'old').execute();
    const search = async (text: string) => (await store.list({ words: text, limit: 9 })).map(({ id }) => id);
    expect(await search('STÖRUNG behoben')).toEqual(['new']);
    expect(await search('ärger')).toEqual(['new']);
    expect(await search('BEFORE@nas')).toEqual(['old']);
    expect(await search('%')).toEqual([]);
    expect((await store.find('new'))?.subject).toBe('Störung BEHOBEN');
  });

  it('returns the time of the newest mail', async () => {
    const { store, add } = await openStore();
    expect(await store.findNewestTime()).toBeUndefined();
    await add(message('b', { receivedAt: now + 1 }));
    await add(message('a'));
    expect(await store.findNewestTime()).toBe(now + 1);
  });

  it('deletes more mails per run than per statement', async () => {
    const { database, store } = await openStore();
    folder = mkdtempSync(join(tmpdir(), 'spool-'));
    const sources = new Sources(database.kysely, new LocalBlobs(folder));
    await database.commit(async (transaction) => {
      for (let index = 0; index < 250; index += 1) {
        await store.add(transaction, message(`m${String(index)}`, { receivedAt: now - index - 1 }));
        await sources.add(transaction, `m${String(index)}`, Buffer.from('x'));
      }
    });
    await clearSpool(store, sources, now);
    expect(await store.list({ words: '', limit: 9 })).toEqual([]);
    expect(await sources.read('m249')).toBeUndefined();
  });

  it('stores sources of both kinds unchanged until they are deleted', async () => {
    const { database, store, add } = await openStore();
    folder = mkdtempSync(join(tmpdir(), 'spool-'));
    const sources = new Sources(database.kysely, new LocalBlobs(folder));
    const raw = Buffer.from(Array.from({ length: 512 }, (_, index) => index % 256));
    await add(message('row'));
    await database.commit((transaction) => sources.add(transaction, 'row', raw));
    mkdirSync(join(folder, 'spool'));
    writeFileSync(join(folder, 'spool', 'file.eml'), raw);
    for (const id of ['row', 'file']) {
      expect(Buffer.from((await sources.read(id)) ?? []).equals(raw)).toBe(true);
      expect(Buffer.from((await sources.head(id, 9)) ?? []).equals(raw.subarray(0, 9))).toBe(true);
      expect(Object.keys((await sources.findLocation(id)) ?? {})).toEqual([id === 'row' ? 'bytes' : 'key']);
      await sources.removeFiles([id]);
      await store.remove([id]);
      expect([await sources.read(id), await sources.head(id, 9), await sources.findLocation(id)]).toEqual([
        ...[undefined, undefined, undefined],
      ]);
    }
  });

  it('deletes old mails, oldest first, with sources and leftovers of a crash', async () => {
    const { database, store, add } = await openStore();
    folder = mkdtempSync(join(tmpdir(), 'spool-'));
    const sources = new Sources(database.kysely, new LocalBlobs(folder));
    mkdirSync(join(folder, 'spool'));
    const file = (id: string): string => join(folder ?? '', 'spool', `${id}.eml`);
    for (const [id, receivedAt] of [
      ['second', now - hourMs],
      ['first', now - 2 * hourMs],
      ['row', now - hourMs / 2],
      ['young', now],
      ['young row', now],
    ] as const) {
      await add(message(id, { receivedAt }));
      if (id.endsWith('row')) await database.commit((transaction) => sources.add(transaction, id, Buffer.from('x')));
      else writeFileSync(file(id), 'x');
    }
    writeFileSync(file('orphan'), 'x');
    utimesSync(file('orphan'), (now - hourMs) / 1000, (now - hourMs) / 1000);
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
