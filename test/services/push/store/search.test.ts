import { expect, it } from 'vitest';
import { foldTerms, parseSearch } from '../../../../services/kit/search-terms.ts';
import { MessageStore } from '../../../../services/push/store/messages.ts';
import { migrations } from '../../../../services/push/store/migrations.ts';
import { SearchStore, type SearchCriteria } from '../../../../services/push/store/search.ts';
import { eachDialect } from '../../../support/database.ts';
import { collectPlans } from '../../../support/query-plans.ts';

const anyMessage: Omit<SearchCriteria, 'phrases'> = {
  from: 0,
  before: 1e12,
  topics: undefined,
  since: 0,
  until: 1e12,
  now: 500,
  limit: 100,
};

eachDialect((dialect, open) => {
  const openStore = async () => {
    const database = await open();
    await database.migrate(migrations);
    const messages = new MessageStore(database.kysely);
    const store = new SearchStore(database.kysely);
    let count = 0;
    const add = (texts: readonly string[], topic = 't', time = 100): Promise<readonly number[]> =>
      database.commit(async (transaction) => {
        const rows = texts.map((text) => ({ id: `m${String((count += 1))}`, topic, time, expires: 1000, text }));
        const seqs = await messages.insert(transaction, rows);
        const numbers = rows.map(({ id }) => seqs.get(id) ?? 0);
        await store.add(
          transaction,
          texts.map((text, index) => ({ seq: numbers[index] ?? 0, words: foldTerms(text) })),
        );
        return numbers;
      });
    const find = async (query: string, overrides: Partial<typeof anyMessage> = {}): Promise<string[]> =>
      (await store.find({ ...anyMessage, ...overrides, phrases: parseSearch(query) })).map(({ text }) => text);
    return { database, messages, store, add, find };
  };

  it('finds words, phrases and prefixes, newest first', async () => {
    const { add, find } = await openStore();
    await add([
      'Disk full on sda',
      'The full disk image',
      'Backup done',
      'Straße gesperrt',
      '東京都庁の展望',
      'सेवा हिन्दी',
    ]);
    expect(await find('disk full')).toEqual(['The full disk image', 'Disk full on sda']);
    expect(await find('"disk full"')).toEqual(['Disk full on sda']);
    expect(await find('back')).toEqual(['Backup done']);
    expect(await find('"back"')).toEqual([]);
    expect(await find('ba* done')).toEqual(['Backup done']);
    expect(await find('STRASSE')).toEqual(['Straße gesperrt']);
    expect(await find('展望')).toEqual(['東京都庁の展望']);
    expect(await find('京東')).toEqual([]);
    expect(await find('हिन्दी')).toEqual(['सेवा हिन्दी']);
    expect(await find('')).toHaveLength(6);
  });

  it('respects numbers, times, topics and expiry', async () => {
    const { add, find } = await openStore();
    const [first = 0] = await add(['word a', 'word b']);
    await add(['word c'], 'u', 200);
    expect(await find('word', { from: first })).toEqual(['word c', 'word b']);
    expect(await find('word', { before: first + 1 })).toEqual(['word a']);
    expect(await find('word', { topics: ['u'] })).toEqual(['word c']);
    expect(await find('word', { since: 150 })).toEqual(['word c']);
    expect(await find('word', { until: 150, limit: 1 })).toEqual(['word b']);
    expect(await find('word', { now: 1000 })).toEqual([]);
  });

  it('removes messages, including unknown ones', async () => {
    const { database, store, add, find } = await openStore();
    const seqs = await add(['one word', 'two word']);
    await database.commit((transaction) => store.remove(transaction, [seqs[0] ?? 0, 99_999]));
    expect(await find('word')).toEqual(['two word']);
  });

  it('finds topics and bounds without scanning', async () => {
    const { database, store, add } = await openStore();
    expect([await store.topics(), await store.bounds()]).toEqual([[], undefined]);
    await add(['a', 'b', 'c'], 'x');
    await add(['d'], 'y-1');
    await add(['e'], 'Z');
    expect((await store.topics()).toSorted()).toEqual(['Z', 'x', 'y-1']);
    const plans = await collectPlans(dialect, database.kysely, async (db) => {
      await new SearchStore(db).bounds();
    });
    expect(plans).toMatch(dialect === 'sqlite' ? /SCAN messages$/m : /messages_pkey|Limit/);
  });

  it('uses the word index with 20,000 messages', async () => {
    const { database, add } = await openStore();
    for (let offset = 0; offset < 20_000; offset += 1000) {
      await add(Array.from({ length: 1000 }, (_, index) => `common word${String(offset + index)}`));
    }
    const plans = await collectPlans(dialect, database.kysely, async (db) => {
      await new SearchStore(db).find({ ...anyMessage, phrases: parseSearch('"word777"') });
    });
    if (dialect === 'sqlite')
      expect(plans).toMatch(/SCAN message_words VIRTUAL TABLE INDEX.*\n?.*SEARCH messages USING/);
    else expect(plans).toMatch(/Index Scan on message_words_words/);
    expect(plans).not.toMatch(/TEMP B-TREE|SCAN messages/);
  });

  it('indexes existing messages', async () => {
    const database = await open();
    await database.migrate(migrations.filter(({ name }) => name < '032'));
    const rows = Array.from({ length: 1500 }, (_, index) => ({
      id: `m${String(index)}`,
      topic: 't',
      time: 100,
      expires: 1000,
      text: JSON.stringify({ event: 'message', topic: 't', title: `Title ${String(index)}`, message: 'old' }),
    }));
    await database.commit(async (transaction) => {
      await transaction.insertInto('messages').values(rows.slice(0, 750)).execute();
      await transaction.insertInto('messages').values(rows.slice(750)).execute();
    });
    await database.migrate(migrations);
    const matches = await new SearchStore(database.kysely).find({
      ...anyMessage,
      phrases: parseSearch('"title 1234"'),
    });
    expect(matches.map(({ text }) => (JSON.parse(text) as { title: string }).title)).toEqual(['Title 1234']);
  });
});
