import { describe, expect, it } from 'vitest';
import { NotifyKeyOptions } from '../../../services/contracts/notify/options.ts';
import type { Vault } from '../../../services/contracts/service.ts';
import type { Message } from '../../../services/notify/domain/message.ts';
import { ConfigurationStore } from '../../../services/notify/store/configurations.ts';
import { EngineUrlStore } from '../../../services/notify/store/engine-urls.ts';
import { advanceChain, insertLevels } from '../../../services/notify/store/escalations.ts';
import { NotificationStore } from '../../../services/notify/store/notifications.ts';
import { migrations } from '../../../services/notify/store/migrations.ts';
import { eachDialect } from '../../support/database.ts';

const day = 24 * 3_600_000;
const now = 1_900_000_000_000;

/** Vault that transforms the text, with a different prefix each time. */
let seals = 0;
const vault: Vault = {
  seal: (text) => `${(seals += 1)}.${Buffer.from(text).toString('hex')}`,
  open: (sealed) => Buffer.from(sealed.slice(sealed.indexOf('.') + 1), 'hex').toString(),
  fingerprint: (text) => Buffer.from(text).toString('hex'),
};

function message(id: string, fields: Partial<Message> = {}): Message {
  const empty = { title: 'T', body: 'B', type: 'failure', format: 'markdown', source: 'mail', time: now } as const;
  return { id, ...empty, tags: ['a', 'ü'], link: 'https://x/', ...fields };
}

function to(destinationId: string) {
  return { destinationId, service: 'JSON', sealedUrl: `sealed ${destinationId}`, shownUrl: 'json://h', optional: true };
}

eachDialect((_name, open) => {
  const openStores = async () => {
    const database = await open();
    await database.migrate(migrations);
    const { kysely, commit } = database;
    const configurations = new ConfigurationStore(kysely, vault);
    return { commit, notices: new NotificationStore(kysely), configurations, engineUrls: new EngineUrlStore(kysely) };
  };

  describe('levels', () => {
    it('starts the next level exactly once after all destinations failed', async () => {
      const { commit, notices } = await openStores();
      const row = (id: string, level: number) =>
        ({ destination_id: id, chain: 0, level, optional: 0, held: id }) as const;
      const fail = (id: string) =>
        commit(async (transaction) => {
          const outcome = { state: 'waiting', attempts: 1, detail: '' } as const;
          await notices.recordAttempt(transaction, 'n', id, outcome, now);
          return advanceChain(transaction, 'n', 0);
        });
      await commit(async (transaction) => {
        await notices.add(
          transaction,
          'k',
          message('n'),
          ['a', 'b'].map((id) => ({ ...to(id), optional: false })),
        );
        await insertLevels(transaction, 'n', [row('a', 0), row('b', 0), row('c', 999_999_999)]);
      });
      const states = await Promise.all(['a', 'b'].map(fail));
      expect(states.map(({ kind }) => kind).toSorted()).toEqual(['failed', 'open']);
      expect(states.find(({ kind }) => kind === 'failed')).toMatchObject({ next: ['c'] });
      expect((await fail('a')).kind).toBe('over');
    });
  });

  describe('notices', () => {
    it('stores a notification once under its ID, with all its deliveries', async () => {
      const { commit, notices } = await openStores();
      const many = Array.from({ length: 5000 }, (_, index) => to(`d${index}`));
      const add = () => commit((transaction) => notices.add(transaction, 'key', message('n1'), many));
      expect([await add(), await add()]).toEqual([true, false]);
      expect(await notices.countWaiting()).toBe(5000);
      expect(await notices.open('n1', 'd4999')).toEqual({
        message: message('n1'),
        files: 0,
        progress: '',
        service: 'JSON',
        sealedUrl: 'sealed d4999',
        shownUrl: 'json://h',
        digest: undefined,
      });
      expect(await notices.open('n1', 'elsewhere')).toBeUndefined();
    });

    it('returns notifications without a link and with any text unchanged', async () => {
      const { commit, notices } = await openStores();
      const unusualMessage = message('n1', { link: undefined, title: '', body: '\'\\"\u202e🎉', tags: [] });
      await commit((transaction) => notices.add(transaction, '', unusualMessage, [to('d')]));
      expect((await notices.open('n1', 'd'))?.message).toEqual(unusualMessage);
    });

    it('deletes the address of completed deliveries and keeps that of dead ones', async () => {
      const { commit, notices } = await openStores();
      await commit((transaction) => notices.add(transaction, 'key', message('n1'), [to('good'), to('bad')]));
      const note = (id: string, state: 'done' | 'dead') =>
        commit((transaction) =>
          notices.recordAttempt(transaction, 'n1', id, { state, attempts: 2, detail: 'x' }, now + 1),
        );
      await note('good', 'done');
      await note('bad', 'dead');
      expect(await notices.open('n1', 'good')).toBeUndefined();
      expect(await notices.find('n1', 'good')).toMatchObject({ state: 'done' });
      expect(await notices.open('n1', 'bad')).toMatchObject({ sealedUrl: 'sealed bad' });
      expect(await notices.countWaiting()).toBe(0);
    });

    it('deletes notifications without waiting deliveries, or whose deliveries were dropped long ago', async () => {
      const { commit, notices } = await openStores();
      for (const [id, time] of [
        ['done', now],
        ['waiting', now],
        ['dropped', now - 8 * day],
      ] as const) {
        await commit((transaction) => notices.add(transaction, 'key', message(id, { time }), [to('d')]));
      }
      const done = { state: 'done', attempts: 1, detail: '' } as const;
      await commit((transaction) => notices.recordAttempt(transaction, 'done', 'd', done, now));
      expect(await notices.deleteOld(now)).toBe(1);
      expect(await notices.deleteOld(now + 1)).toBe(1);
      expect(await notices.open('waiting', 'd')).toBeDefined();
      expect(await notices.countWaiting()).toBe(1);
    });
  });

  describe('engine URLs', () => {
    it('stores each URL once, finds it by many IDs, and deletes it with its configurations', async () => {
      const { engineUrls } = await openStores();
      const row = (id: string) => ({
        id,
        service: 'IRC',
        sealed_url: `sealed ${id}`,
        shown_url: 'irc://****',
        optional: 1,
      });
      const ids = Array.from({ length: 1200 }, (_, index) => `id${String(index)}`);
      await engineUrls.add(ids.map(row));
      await engineUrls.add([{ ...row('id7'), service: 'other' }]);
      expect(await engineUrls.find([...ids, 'unknown'])).toHaveLength(1200);
      expect(await engineUrls.find(['id7'])).toEqual([row('id7')]);
      await engineUrls.deleteExcept(new Set(['id7', 'id9', 'gone']));
      expect((await engineUrls.find(ids)).map(({ id }) => id).toSorted()).toEqual(['id7', 'id9']);
    });
  });

  describe('configurations', () => {
    it('stores, replaces and removes configurations by key, and creates the first one', async () => {
      const { configurations } = await openStores();
      expect((await configurations.find('aggregator'))?.text).toContain('inbox://');
      const text = '# ünï 🎉\r\n\r\njson://h\u0000';
      await configurations.save('k', { format: 'text', text: 'first' }, now);
      await configurations.save('k', { format: 'yaml', text }, now + 1);
      const configuration = await configurations.find('k');
      expect(configuration).toEqual({ key: 'k', format: 'yaml', text, options: NotifyKeyOptions.parse({}) });
      expect(await configurations.find('k')).toBe(configuration);
      const options = NotifyKeyOptions.parse({ withoutTag: 'untagged' });
      expect(await configurations.saveOptions('k', options, now + 2)).toBe(true);
      expect((await configurations.find('k'))?.options).toEqual(options);
      await configurations.save('k', { format: 'yaml', text: `${text} ` }, now + 3);
      expect((await configurations.find('k'))?.options).toEqual(options);
      expect(await configurations.saveOptions('nokey', options, now)).toBe(false);
      expect(await configurations.keys()).toEqual(['aggregator', 'k']);
      expect([await configurations.delete('k'), await configurations.delete('k')]).toEqual([true, false]);
      expect(await configurations.find('k')).toBeUndefined();
    });

    it('replaces all configurations by an import', async () => {
      const { configurations } = await openStores();
      const options = NotifyKeyOptions.parse({});
      await configurations.replaceAll([{ key: 'b', format: 'text', text: 'json://b', options }], now);
      expect(await configurations.keys()).toEqual(['b']);
      await configurations.replaceAll([], now);
      expect(await configurations.keys()).toEqual([]);
    });
  });
});
