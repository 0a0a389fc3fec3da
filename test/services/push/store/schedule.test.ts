import { expect, it } from 'vitest';
import type { Clock } from '../../../../services/contracts/service.ts';
import { DelayedDelivery } from '../../../../services/push/delayed/delayed-delivery.ts';
import { createWriteMessages } from '../../../../services/push/messages/write-messages.ts';
import { MessageStore } from '../../../../services/push/store/messages.ts';
import { migrations } from '../../../../services/push/store/migrations.ts';
import { DelayedMessageStore, type DelayedMessageRow } from '../../../../services/push/store/delayed-messages.ts';
import { createFakeClock } from '../../../support/clock.ts';
import { eachDialect } from '../../../support/database.ts';

const startTime = Date.UTC(2026, 0, 1);

eachDialect((_name, open) => {
  const openSchedule = async () => {
    const database = await open();
    await database.migrate(migrations);
    const { commit } = database;
    const store = new DelayedMessageStore(database.kysely);
    const messages = new MessageStore(database.kysely);
    const fake = createFakeClock(startTime);
    const timers = new Set<object>();
    const clock: Clock = {
      ...fake,
      after(ms, call) {
        const timer = fake.after(ms, () => {
          timers.delete(timer);
          call();
        });
        timers.add(timer);
        return {
          [Symbol.dispose]() {
            timers.delete(timer);
            timer[Symbol.dispose]();
          },
        };
      },
    };
    const delivered: string[] = [];
    const schedule = new DelayedDelivery({
      context: { clock, commit, log: { debug: fail, info: fail, warn: fail, error: fail } },
      store,
      writeMessages: createWriteMessages(messages, []),
      keptSeconds: () => 3600,
      announce(envelopes) {
        delivered.push(...envelopes.map(({ message }) => message.id));
        return Promise.resolve();
      },
    });
    const add = (rows: readonly { id: string; due: number; topic?: string; sequence?: string }[]) =>
      commit((transaction) => store.insert(transaction, rows.map(toRow)));
    return { commit, store, messages, schedule, fake, timers, delivered, add };
  };

  it('holds 100,000 messages with one timer and publishes due ones in order', async () => {
    const { store, messages, schedule, fake, timers, delivered, add } = await openSchedule();
    for (let offset = 0; offset < 100_000; offset += 1000) {
      await add(
        Array.from({ length: 1000 }, (_, index) => ({
          id: `m${String(offset + index)}`,
          due: offset + index < 450 ? 100 - ((offset + index) % 2) : 1000 + offset + index,
        })),
      );
    }
    await using running = schedule.start();
    await schedule.refresh();
    expect(timers.size).toBe(1);
    fake.advance(98_000);
    expect([delivered.length, timers.size]).toEqual([0, 1]);
    fake.advance(2000);
    await expect.poll(() => delivered.length).toBe(450);
    expect(delivered[0]).toBe('m1');
    expect(delivered.slice(225, 227)).toEqual(['m0', 'm2']);
    expect([await messages.count(), await store.count()]).toEqual([450, 99_550]);
    await expect.poll(() => timers.size).toBe(1);
    await running[Symbol.asyncDispose]();
    expect(timers.size).toBe(0);
  }, 60_000);

  it('returns a message to one of several hosts', async () => {
    const { commit, store, add } = await openSchedule();
    await add(Array.from({ length: 50 }, (_, index) => ({ id: `m${String(index)}`, due: 10 })));
    const now = startTime / 1000 + 10;
    const results = await Promise.all(
      [1, 2, 3].map(() => commit((transaction) => store.takeDue(transaction, now, 30))),
    );
    const ids = results.flat().map(({ id }) => id);
    expect(ids).toHaveLength(50);
    expect(new Set(ids).size).toBe(50);
  });

  it('notices a clock that is set forward', async () => {
    const { schedule, fake, delivered, add } = await openSchedule();
    await add([{ id: 'far', due: 3600 }]);
    await using _running = schedule.start();
    await schedule.refresh();
    fake.set(startTime + 3_600_000);
    fake.advance(1000);
    await expect.poll(() => delivered).toEqual(['far']);
  });
});

function fail(message: string): void {
  throw new Error(message);
}

function toRow({
  id,
  due,
  topic = 't',
  sequence = id,
}: {
  id: string;
  due: number;
  topic?: string;
  sequence?: string;
}): DelayedMessageRow {
  const time = startTime / 1000 + due;
  const expires = time + 3600;
  const text = JSON.stringify({ id, time, expires, event: 'message', topic, message: id });
  return { id, topic, sequence, time, expires, text, entry: null, after: 0, account: 'ada' };
}
