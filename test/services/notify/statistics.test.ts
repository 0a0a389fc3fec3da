import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { notify } from '../../../services/notify/index.ts';
import type { Message } from '../../../services/notify/domain/message.ts';
import { NoticeStore } from '../../../services/notify/store/notices.ts';
import { DeliveryStatistics } from '../../../services/notify/store/statistics.ts';
import { migrations } from '../../../services/notify/store/tables.ts';
import { api } from '../../support/api.ts';
import { eachDialect } from '../../support/database.ts';
import { openTestHost } from '../../support/host.ts';

const start = 1_900_000_000_000;
const hour = 3_600_000;

eachDialect((_name, open) => {
  it('sums up by destination and stretch of time, and says how long half and nearly all took', async () => {
    const database = await open();
    await database.migrate(migrations);
    const { kysely, commit } = database;
    const notices = new NoticeStore(kysely);
    const statistics = new DeliveryStatistics(kysely);
    const message = (id: string, time: number): Message => ({
      ...{ id, title: 'T', body: 'B', type: 'info', format: 'text', source: 'test', time, tags: [], link: undefined },
    });
    const row = (destinationId: string) => ({
      ...{ destinationId, service: 'JSON', sealedUrl: 's', shownUrl: 'json://h', optional: false },
    });
    await commit(async (transaction) => {
      // Twenty that took 1 to 20 ms, a second apart; one an hour later that failed, one that waits, one of long ago.
      for (let at = 0; at < 20; at += 1) {
        const id = `n${String(at).padStart(2, '0')}`;
        await notices.add(transaction, 'k', message(id, start + at * 1000), [row('a')]);
        const done = { state: 'done', attempts: 1, detail: 'OK' } as const;
        await notices.note(transaction, id, 'a', done, start + at * 1000 + at + 1);
      }
      await notices.add(transaction, 'k', message('o', start - 1), [row('a')]);
      await notices.add(transaction, 'k', message('x', start + hour), [row('a'), row('b'), row('c')]);
      const dead = { state: 'dead', attempts: 3, detail: 'It is gone.' } as const;
      await notices.note(transaction, 'x', 'a', dead, start + hour + 9);
      const waiting = { state: 'waiting', attempts: 1, detail: 'It is busy.' } as const;
      await notices.note(transaction, 'x', 'b', waiting, start + hour + 9);
    });
    const counted = await statistics.count([start, start + hour]);
    expect(counted).toHaveLength(4);
    expect(counted).toEqual(
      expect.arrayContaining([
        { destination: 'a', state: 'done', index: 0, count: 20 },
        { destination: 'a', state: 'dead', index: 1, count: 1 },
        { destination: 'b', state: 'waiting', index: 1, count: 1 },
        { destination: 'c', state: 'waiting', index: 1, count: 1 },
      ]),
    );
    expect([...(await statistics.latencies(start))]).toEqual([['a', { p50: 10, p95: 19 }]]);
    expect(await statistics.hours([start, start + hour])).toEqual([
      { at: start, done: 20, dead: 0, waiting: 0, p50: 10, p95: 19 },
      { at: start + hour, done: 0, dead: 1, waiting: 2, p50: null, p95: null },
    ]);
    // What was not tried yet is no problem.
    expect((await statistics.open()).map(({ destination, state }) => [destination, state]).toSorted()).toEqual([
      ['a', 'dead'],
      ['b', 'waiting'],
    ]);
  });
});

describe('the statistics of our own API', () => {
  it('group what is not delivered by its cause, until it is tried again or dropped', async () => {
    const answers: Record<string, number> = { '/bad': 403, '/worse': 403, '/good': 200 };
    const receiver = createServer((request, response) => {
      request.resume();
      response.writeHead(answers[request.url ?? ''] ?? 500).end();
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const place = `json://127.0.0.1:${String((receiver.address() as AddressInfo).port)}`;
    await using host = await openTestHost({ services: [notify, control] });
    const base = host.url('control');
    const ask = (method: string, path: string, body?: unknown): Promise<any> =>
      api(base, `/api/notify${path}`, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    await ask('POST', '/keys', { key: 'three', text: `${place}/good\n${place}/bad\n${place}/worse\n` });
    await fetch(`${host.url('notify')}/notify/three`, { method: 'POST', body: new URLSearchParams({ body: 'x' }) });
    const read = () => ask('GET', '/statistics');
    await vi.waitFor(async () => expect((await read()).problems).toMatchObject([{ dead: 2, waiting: 0 }]));
    const { days, destinations, hours, problems } = await read();
    expect(days).toHaveLength(30);
    const of = destinations.filter(({ key }: { key: string }) => key === 'three');
    expect(of).toHaveLength(3);
    expect(of.map(({ done, dead }: { done: number[]; dead: number[] }) => [done.at(-1), dead.at(-1)])).toEqual([
      [1, 0],
      [0, 1],
      [0, 1],
    ]);
    expect(of[0].p50).toBeGreaterThanOrEqual(0);
    expect(of[1].p50).toBeNull();
    expect(hours.at(-1)).toMatchObject({ done: 1, dead: 2 });
    expect(problems[0]).toMatchObject({ services: ['JSON'] });
    expect(problems[0].cause).toMatch(/403/);
    Object.assign(answers, { '/bad': 200, '/worse': 200 });
    expect(await ask('POST', '/deliveries/retry-all')).toEqual({ retried: 2 });
    await vi.waitFor(async () => expect((await read()).problems).toEqual([]));
    receiver.close();
  });
});
