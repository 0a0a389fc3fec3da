import { describe, expect, it } from 'vitest';
import { HealthStore } from '../../../services/notify/store/health.ts';
import { migrations } from '../../../services/notify/store/migrations.ts';
import { createFakeClock } from '../../support/clock.ts';
import { eachDialect } from '../../support/database.ts';
import { silentLog } from '../../support/database-location.ts';

eachDialect((_name, open, createLocation) => {
  const openHealth = async (location = createLocation()) => {
    const database = await open(location);
    await database.migrate(migrations);
    const clock = createFakeClock();
    const context = { clock, commit: database.commit, db: database.kysely, log: silentLog };
    return { place: location, database, clock, context, health: new HealthStore(context) };
  };

  describe('the health of destinations', () => {
    it('is the last result and the last success, before and after they are written', async () => {
      const { clock, context, health } = await openHealth();
      const begin = clock.now();
      health.record('a', 'done', 'Sent.');
      health.record('b', 'waiting', 'It did not answer.');
      const first = new Map([
        ['a', { state: 'done', detail: 'Sent.', code: '', time: begin, lastSuccess: begin }],
        ['b', { state: 'waiting', detail: 'It did not answer.', code: '', time: begin, lastSuccess: null }],
      ]);
      expect(await health.findAll(['a', 'b', 'never'])).toEqual(first);
      await health[Symbol.asyncDispose]();
      expect(await new HealthStore(context).findAll(['a', 'b', 'never'])).toEqual(first);
    });

    it('keeps the last success when the next result is a failure, before and after a restart', async () => {
      const { clock, context, health: former } = await openHealth();
      const begin = clock.now();
      former.record('a', 'done', 'Sent.');
      await former[Symbol.asyncDispose]();
      clock.advance(5000);
      const health = new HealthStore(context);
      health.record('a', 'dead', 'It refused.');
      const second = new Map([
        ['a', { state: 'dead', detail: 'It refused.', code: '', time: begin + 5000, lastSuccess: begin }],
      ]);
      expect(await health.findAll(['a'])).toEqual(second);
      await health[Symbol.asyncDispose]();
      expect(await new HealthStore(context).findAll(['a'])).toEqual(second);
    });

    it('is the newest when it is written during a read', async () => {
      const { clock, context, database } = await openHealth();
      const read = Promise.withResolvers<void>();
      const written = Promise.withResolvers<void>();
      const commit: typeof database.commit = async (work) => {
        await read.promise;
        const value = await database.commit(work);
        written.resolve();
        return value;
      };
      // The queried state arrives after the write.
      const db = database.kysely.withPlugin({
        transformQuery: ({ node }) => node,
        async transformResult({ result }) {
          read.resolve();
          await written.promise;
          await new Promise((resolve) => setImmediate(resolve));
          return result;
        },
      });
      const health = new HealthStore({ ...context, commit, db });
      health.record('a', 'waiting', 'It did not answer.');
      clock.advance(1000);
      expect((await health.findAll(['a'])).get('a')).toMatchObject({ state: 'waiting', detail: 'It did not answer.' });
      await health[Symbol.asyncDispose]();
      health.record('a', 'done', 'Too late.');
      clock.advance(60_000);
      expect((await health.findAll(['a'])).get('a')).toMatchObject({ detail: 'It did not answer.' });
    });

    it('is written after a delay, once for all results until then', async () => {
      const { clock, context, database } = await openHealth();
      let commits = 0;
      const commit: typeof database.commit = (work) => {
        commits += 1;
        return database.commit(work);
      };
      const health = new HealthStore({ ...context, commit });
      for (let index = 0; index < 2500; index += 1) health.record(`d${String(index % 1250)}`, 'done', String(index));
      expect(commits).toBe(0);
      clock.advance(1000);
      await expect.poll(async () => (await new HealthStore(context).findAll(['d0', 'd1249'])).size).toBe(2);
      expect((await new HealthStore(context).findAll(['d1249'])).get('d1249')?.detail).toBe('2499');
      expect(commits).toBe(1);
    });

    it('survives database errors, and is deleted with the history', async () => {
      const { clock, context } = await openHealth();
      const health = new HealthStore({ ...context, commit: () => Promise.reject(new Error('full')) });
      health.record('a', 'done', '');
      await health[Symbol.asyncDispose]();
      expect((await health.findAll(['a'])).size).toBe(0);
      const well = new HealthStore(context);
      well.record('old', 'done', '');
      clock.advance(60_000);
      well.record('new', 'done', '');
      await well[Symbol.asyncDispose]();
      await well.deleteOld(clock.now() - 30_000);
      expect([...(await well.findAll(['old', 'new'])).keys()]).toEqual(['new']);
    });

    it('is read from the history of an older version', async () => {
      const location = createLocation();
      const database = await open(location);
      const before = migrations.findIndex(({ name }) => name === '021-create-destination-health');
      await database.migrate(migrations.slice(0, before));
      await database.kysely
        .insertInto('notices')
        .values(
          ['n1', 'n2', 'n3'].map((id) => ({
            ...{ id, configuration: 'k', title: '', body: '', type: 'info', format: 'text', tags: '[]', source: '' },
            created_at: 1,
          })),
        )
        .execute();
      const row = (notification: string, to: string, state: string, detail: string, time: number) => ({
        ...{ notice_id: notification, destination_id: to, service: 'JSON', sealed_url: '', shown_url: '', optional: 0 },
        ...{ state, attempts: 1, detail, updated_at: time },
      });
      await database.kysely
        .insertInto('deliveries')
        .values([
          row('n1', 'a', 'done', 'first', 10),
          row('n2', 'a', 'dead', 'last', 20),
          row('n1', 'b', 'done', 'same', 30),
          row('n3', 'b', 'done', 'same', 30),
          row('n3', 'c', 'waiting', '', 40),
        ])
        .execute();
      const { health } = await openHealth(location);
      expect(await health.findAll(['a', 'b', 'c'])).toEqual(
        new Map([
          ['a', { state: 'dead', detail: 'last', code: '', time: 20, lastSuccess: 10 }],
          ['b', { state: 'done', detail: 'same', code: '', time: 30, lastSuccess: 30 }],
          ['c', { state: 'waiting', detail: '', code: '', time: 40, lastSuccess: null }],
        ]),
      );
    });
  });
});
