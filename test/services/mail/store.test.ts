import { existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { clearSpool } from '../../../services/mail/retention.ts';
import { MessageStore, type Message } from '../../../services/mail/store/messages.ts';
import { Spool } from '../../../services/mail/store/spool.ts';
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
    await add(message('old', { fingerprint: 'f', receivedAt: now - hour }));
    await add(message('other', { sender: '' }));
    const twin = (since: number) => database.commit((transaction) => store.findTwin(transaction, 'f', since));
    expect([await twin(now - hour), await twin(now - hour + 1)]).toEqual(['old', undefined]);
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

  it('forgets old mails, oldest first, with their sources and what a crash left', async () => {
    const { store, add } = await openStore();
    folder = mkdtempSync(join(tmpdir(), 'spool-'));
    const spool = new Spool(folder);
    await spool.open();
    const source = (id: string): string => join(folder ?? '', 'spool', `${id}.eml`);
    for (const [id, receivedAt] of [
      ['second', now - hour],
      ['first', now - 2 * hour],
      ['young', now],
    ] as const) {
      await add(message(id, { receivedAt }));
      writeFileSync(source(id), 'x');
    }
    writeFileSync(source('orphan'), 'x');
    utimesSync(source('orphan'), (now - hour) / 1000, (now - hour) / 1000);
    for (const id of ['young', 'second']) utimesSync(source(id), now / 1000, now / 1000);
    expect(await store.listBefore(now, 1)).toEqual(['first']);
    await clearSpool(store, spool, now);
    expect(await store.listBefore(now + 1, 9)).toEqual(['young']);
    expect(['first', 'second', 'orphan', 'young'].map((id) => existsSync(source(id)))).toEqual([
      false,
      false,
      false,
      true,
    ]);
  });
});
