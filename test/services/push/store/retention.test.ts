import { expect, it } from 'vitest';
import { createBus } from '../../../../main/host/services/bus.ts';
import { Retention } from '../../../../services/push/retention/retention.ts';
import { AttachmentStore } from '../../../../services/push/store/attachments.ts';
import { MessageStore } from '../../../../services/push/store/messages.ts';
import { migrations } from '../../../../services/push/store/migrations.ts';
import { RetentionStore } from '../../../../services/push/store/retention.ts';
import { createFakeClock } from '../../../support/clock.ts';
import { silentLog } from '../../../support/database-location.ts';
import { eachDialect } from '../../../support/database.ts';
import { collectPlans } from '../../../support/query-plans.ts';

eachDialect((dialect, open) => {
  const openStore = async () => {
    const database = await open();
    await database.migrate(migrations);
    const messages = new MessageStore(database.kysely);
    const store = new RetentionStore(database.kysely);
    const clock = createFakeClock();
    const removedCounts: number[] = [];
    const retention = new Retention({
      context: { bus: createBus(silentLog), clock, commit: database.commit, db: database.kysely, log: silentLog },
      messages,
      attachments: new AttachmentStore(database.kysely),
      removeFromSearch: (_transaction, seqs) => Promise.resolve(void removedCounts.push(...seqs)),
      deleteFiles: () => undefined,
      defaultSeconds: () => 1000,
    });
    let count = 0;
    const add = async (topic: string, length: number): Promise<void> => {
      await database.commit((transaction) =>
        messages.insert(
          transaction,
          Array.from({ length }, () => {
            const id = `m${String((count += 1))}`;
            const text = JSON.stringify({ id, time: 100, expires: 1100, event: 'message', topic });
            return { id, topic, time: 100, expires: 1100, text };
          }),
        ),
      );
    };
    const listMessages = (topic: string) =>
      messages.read({ topics: [topic], upTo: 1e9, from: 0, after: { time: 0, seq: 0 }, now: 0, limit: 5000 });
    return { database, messages, store, retention, add, listMessages, forgotten: removedCounts };
  };

  it('shortens all messages of a rule in batches', async () => {
    const { retention, add, listMessages, store } = await openStore();
    await add('a', 900);
    await add('b', 900);
    await retention.start();
    await retention.replace([{ pattern: 'a', seconds: 50, most: null }]);
    expect(await store.checkedUpTo()).toBeLessThan(0);
    await retention.upkeep();
    expect(await store.checkedUpTo()).toBeUndefined();
    const readLifetimes = async (topic: string): Promise<unknown> =>
      new Set((await listMessages(topic)).map(({ text }) => (JSON.parse(text) as { expires: number }).expires));
    expect(await readLifetimes('a')).toEqual(new Set([150]));
    expect(await readLifetimes('b')).toEqual(new Set([1100]));
  });

  it('restarts for newer rules, also during an older run', async () => {
    const { database, store } = await openStore();
    await database.commit((transaction) => store.replace(transaction, [], 5));
    await database.commit((transaction) => store.replace(transaction, [], 6));
    await database.commit((transaction) => store.progress(transaction, -5, 77));
    await database.commit((transaction) => store.finish(transaction, -5));
    expect(await store.checkedUpTo()).toBe(-6);
  });

  it('deletes the oldest messages of topics above their maximum', async () => {
    const { retention, add, listMessages, forgotten: removedCounts } = await openStore();
    await add('a', 800);
    await add('b', 5);
    await retention.start();
    await retention.replace([{ pattern: '*', seconds: null, most: 3 }]);
    await retention.upkeep();
    expect((await listMessages('a')).map(({ seq }) => seq)).toEqual([798, 799, 800]);
    expect(await listMessages('b')).toHaveLength(3);
    expect(removedCounts).toHaveLength(799);
  });

  it('finds excess messages by index', async () => {
    const { database, add } = await openStore();
    for (let index = 0; index < 20; index += 1) await add(`t${String(index)}`, 900);
    const plans = await collectPlans(dialect, database.kysely, async (db) => {
      await new RetentionStore(db).removeExcess(db, 't7', 100, 500);
      await new RetentionStore(db).after(5000, 500);
    });
    expect(plans).not.toMatch(/SCAN messages|Seq Scan|TEMP B-TREE/);
  });
});
