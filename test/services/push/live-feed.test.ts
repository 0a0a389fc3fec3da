import { expect, it, vi } from 'vitest';
import { Envelope } from '../../../services/push/messages/envelope.ts';
import type { LiveMessage } from '../../../services/push/store/live-messages.ts';
import { LiveFeed } from '../../../services/push/subscribe/live-feed.ts';
import type { Bus } from '../../../services/contracts/bus.ts';
import { createFakeClock } from '../../support/clock.ts';
import { silentLog } from '../../support/database-location.ts';
import { connectBuses } from '../../support/fake-relay.ts';

const clock = createFakeClock();
const time = clock.now() / 1000;

function createEnvelope(seq: number | undefined, name = String(seq)): Envelope {
  const message = { id: name, time, event: 'message', topic: 'a', message: name } as const;
  return new Envelope(message, JSON.stringify(message), seq);
}

/** Table of messages that two hosts share. */
class Table {
  readonly rows: LiveMessage[] = [];
  reads = 0;
  /** Commits that a host has begun. */
  open: (() => void)[] = [];

  commit(...envelopes: readonly Envelope[]): void {
    this.rows.push(...envelopes.map(({ seq = 0, text }) => ({ seq, time, text })));
    this.rows.sort((a, b) => a.seq - b.seq);
  }
}

async function openFeed(bus: Bus, table: Table) {
  const delivered: string[] = [];
  const deliver = (envelope: Envelope): void => void delivered.push(envelope.message.message ?? '');
  const feed = new LiveFeed({
    context: { bus, clock, log: silentLog, singleHost: false },
    messages: { top: () => Promise.resolve(table.rows.at(-1)?.seq ?? 0) },
    live: {
      after(seq, limit) {
        table.reads += 1;
        return Promise.resolve(table.rows.filter((row) => row.seq > seq).slice(0, limit));
      },
      settle() {
        for (const commit of table.open.splice(0)) commit();
        return Promise.resolve();
      },
    },
    subscribers: {
      deliver,
      deliverAll: () => Promise.reject(new Error('single host')),
      waitForCapacity: () => Promise.resolve(),
    },
  });
  await feed.start();
  return { feed, delivered };
}

async function openFeeds() {
  const buses = connectBuses();
  const table = new Table();
  return { buses, table, first: await openFeed(buses.first, table), second: await openFeed(buses.second, table) };
}

it('delivers messages of another host without reading the table', async () => {
  const { first, second, table } = await openFeeds();
  const envelopes = [createEnvelope(1), createEnvelope(2), createEnvelope(undefined, 'unstored')];
  table.commit(...envelopes.slice(0, 2));
  await first.feed.deliver(envelopes);
  await vi.waitFor(() => expect(second.delivered).toEqual(['1', '2', 'unstored']));
  expect(first.delivered).toEqual(second.delivered);
  expect(table.reads).toBe(0);
});

it('delivers in the order of the numbers when a host commits later', async () => {
  const { first, second, table } = await openFeeds();
  const [one, two, three] = [createEnvelope(1), createEnvelope(2), createEnvelope(3)];
  table.commit(two, three);
  table.open.push(() => table.commit(one));
  await second.feed.deliver([two, three]);
  expect(second.delivered).toEqual([]);
  clock.advance(25);
  await vi.waitFor(() => expect(second.delivered).toEqual(['1', '2', '3']));
  await first.feed.deliver([one]);
  await vi.waitFor(() => expect(first.delivered).toEqual(['1', '2', '3']));
  expect(second.delivered).toEqual(['1', '2', '3']);
});

it('skips a number that was rolled back, and a message that was removed from the table', async () => {
  const { second, table } = await openFeeds();
  const [two, four] = [createEnvelope(2), createEnvelope(4)];
  table.commit(two);
  await second.feed.deliver([two, four]);
  clock.advance(25);
  await vi.waitFor(() => expect(second.delivered).toEqual(['2', '4']));
});

it('reads messages whose events were lost, once', async () => {
  const { buses, first, second, table } = await openFeeds();
  buses.isDown = true;
  const envelopes = Array.from({ length: 1200 }, (_, index) => createEnvelope(index + 1));
  table.commit(...envelopes);
  await first.feed.deliver(envelopes);
  buses.reconnect();
  await vi.waitFor(() => expect(second.delivered).toHaveLength(1200));
  expect(second.delivered).toEqual(envelopes.map(({ message }) => message.message));
  expect(first.delivered).toHaveLength(1200);
});

it('returns a position up to which everything was delivered', async () => {
  const { second, table } = await openFeeds();
  table.commit(createEnvelope(1), createEnvelope(2));
  expect(await second.feed.top()).toBe(2);
  expect(second.delivered).toEqual(['1', '2']);
});

it('does not deliver old messages that were imported', async () => {
  const { second, table } = await openFeeds();
  table.rows.push({ seq: 1, time: time - 7200, text: createEnvelope(1).text });
  table.commit(createEnvelope(2));
  expect(await second.feed.top()).toBe(2);
  expect(second.delivered).toEqual(['2']);
});
