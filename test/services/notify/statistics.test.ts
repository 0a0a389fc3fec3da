import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, it, vi } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { notify } from '../../../services/notify/index.ts';
import type { Message } from '../../../services/notify/domain/message.ts';
import { NotificationStore } from '../../../services/notify/store/notifications.ts';
import { DeliveryStatistics } from '../../../services/notify/store/statistics.ts';
import { migrations } from '../../../services/notify/store/migrations.ts';
import { api } from '../../support/api.ts';
import { eachDialect } from '../../support/database.ts';
import { openTestHost } from '../../support/host.ts';
import { openPostgresDatabase } from '../../support/postgres.ts';
import { openReceiver } from './support.ts';

const start = 1_900_000_000_000;
const hour = 3_600_000;

eachDialect((_name, open) => {
  it('sums up by destination and period, with the median and 95th percentile of the duration', async () => {
    const database = await open();
    await database.migrate(migrations);
    const { kysely, commit } = database;
    const notices = new NotificationStore(kysely);
    const statistics = new DeliveryStatistics(kysely);
    const message = (id: string, time: number): Message => ({
      ...{ id, title: 'T', body: 'B', type: 'info', format: 'text', source: 'test', time, tags: [], link: undefined },
    });
    const row = (destinationId: string) => ({
      ...{ destinationId, service: 'JSON', sealedUrl: 's', shownUrl: 'json://h', optional: false },
    });
    await commit(async (transaction) => {
      // Twenty deliveries that took 1 to 20 ms, a second apart; a failed one an hour later, a waiting one, and an old
      // one.
      for (let index = 0; index < 20; index += 1) {
        const id = `n${String(index).padStart(2, '0')}`;
        await notices.add(transaction, 'k', message(id, start + index * 1000), [row('a')]);
        const done = { state: 'done', attempts: 1, detail: 'OK' } as const;
        await notices.recordAttempt(transaction, id, 'a', done, start + index * 1000 + index + 1);
      }
      await notices.add(transaction, 'k', message('o', start - 1), [row('a')]);
      await notices.add(transaction, 'k', message('x', start + hour), [row('a'), row('b'), row('c')]);
      const dead = { state: 'dead', attempts: 3, detail: 'It is gone.' } as const;
      await notices.recordAttempt(transaction, 'x', 'a', dead, start + hour + 9);
      const waiting = { state: 'waiting', attempts: 1, detail: 'It is busy.' } as const;
      await notices.recordAttempt(transaction, 'x', 'b', waiting, start + hour + 9);
      await notices.add(transaction, 'k', message('y', start + 2 * hour), [row('b')]);
    });
    const counted = await statistics.count([start, start + hour, start + 2 * hour]);
    expect(counted).toHaveLength(5);
    expect(counted).toEqual(
      expect.arrayContaining([
        { destination: 'a', state: 'done', index: 0, count: 20 },
        { destination: 'a', state: 'dead', index: 1, count: 1 },
        { destination: 'b', state: 'waiting', index: 1, count: 1 },
        { destination: 'c', state: 'waiting', index: 1, count: 1 },
        { destination: 'b', state: 'waiting', index: 2, count: 1 },
      ]),
    );
    // A period ends before the next one.
    expect(await statistics.count([start - hour], start + hour)).toEqual([
      { destination: 'a', state: 'done', index: 0, count: 20 },
      { destination: 'a', state: 'waiting', index: 0, count: 1 },
    ]);
    expect([...(await statistics.latencies(start))]).toEqual([['a', { p50: 10, p95: 19 }]]);
    expect(await statistics.hours([start, start + hour, start + 2 * hour])).toEqual([
      { at: start, done: 20, dead: 0, waiting: 0, p50: 10, p95: 19 },
      { at: start + hour, done: 0, dead: 1, waiting: 2, p50: null, p95: null },
      { at: start + 2 * hour, done: 0, dead: 0, waiting: 1, p50: null, p95: null },
    ]);
    // Deliveries without an attempt are not a problem, unless they wait behind a failed one.
    const missing = await statistics.listIncomplete();
    expect(missing.map(({ notice, destination, state }) => [notice, destination, state]).toSorted()).toEqual([
      ['x', 'a', 'dead'],
      ['x', 'b', 'waiting'],
      ['y', 'b', 'waiting'],
    ]);
  });
});

describe('the statistics of the app API', () => {
  it('groups failed deliveries by cause until they are retried or dropped', async () => {
    const answers: Record<string, number> = { '/bad': 403, '/worse': 403, '/good': 200 };
    const receiver = createServer((request, response) => {
      request.resume();
      response.writeHead(answers[request.url ?? ''] ?? 500).end();
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const destinationUrl = `json://127.0.0.1:${String((receiver.address() as AddressInfo).port)}`;
    await using host = await openTestHost({ services: [notify, control] });
    const base = host.url('control');
    const ask = (method: string, path: string, body?: unknown): Promise<any> =>
      api(base, `/api/notify${path}`, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    await ask('POST', '/keys', {
      key: 'three',
      text: `${destinationUrl}/good\n${destinationUrl}/bad\n${destinationUrl}/worse\n`,
    });
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

  it('counts deliveries that wait behind a failure', async () => {
    await using receiver = await openReceiver();
    receiver.answer = 503;
    await using host = await openTestHost({ services: [notify, control] });
    const ask = (method: string, path: string, body?: unknown): Promise<any> =>
      api(host.url('control'), `/api/notify${path}`, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    await ask('POST', '/keys', { key: 'away', text: `json://127.0.0.1:${String(receiver.port)}/one\n` });
    const problems = async (): Promise<any[]> => (await ask('GET', '/statistics')).problems;
    for (const [index, body] of ['x', 'y'].entries()) {
      await fetch(`${host.url('notify')}/notify/away`, { method: 'POST', body: new URLSearchParams({ body }) });
      await vi.waitFor(async () => expect(await problems()).toMatchObject([{ dead: 0, waiting: index + 1 }]));
    }
    const [{ cause, nextAt, latest }] = await problems();
    expect(nextAt).toBeGreaterThan(latest);
    receiver.answer = 200;
    // Abandoned deliveries are excluded, unless waiting ones are included as well.
    expect(await ask('POST', '/deliveries/retry-all', { cause })).toEqual({ retried: 0 });
    expect(await ask('POST', '/deliveries/retry-all', { cause, waiting: true })).toEqual({ retried: 1 });
    await vi.waitFor(async () => expect(await problems()).toEqual([]));
  });

  it('retries or drops the deliveries of one reason only', async () => {
    const answers: Record<string, number> = { '/bad': 403, '/worse': 404 };
    const receiver = createServer((request, response) => {
      request.resume();
      response.writeHead(answers[request.url ?? ''] ?? 200).end();
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const destinationUrl = `json://127.0.0.1:${String((receiver.address() as AddressInfo).port)}`;
    await using host = await openTestHost({ services: [notify, control] });
    const ask = (method: string, path: string, body?: unknown): Promise<any> =>
      api(host.url('control'), `/api/notify${path}`, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    await ask('POST', '/keys', { key: 'two', text: `${destinationUrl}/bad\n${destinationUrl}/worse\n` });
    for (const body of ['x', 'y'])
      await fetch(`${host.url('notify')}/notify/two`, { method: 'POST', body: new URLSearchParams({ body }) });
    const problems = async (): Promise<any[]> => (await ask('GET', '/statistics')).problems;
    await vi.waitFor(async () => expect(await problems()).toMatchObject([{ dead: 2 }, { dead: 2 }]));
    const getCause = async (status: string): Promise<string> =>
      (await problems()).find(({ cause }) => cause.includes(status)).cause;
    answers['/bad'] = 200;
    expect(await ask('POST', '/deliveries/retry-all', { cause: await getCause('403') })).toEqual({ retried: 2 });
    await vi.waitFor(async () => expect(await problems()).toMatchObject([{ dead: 2 }]));
    const before = Date.now() + 1;
    expect(await ask('POST', '/deliveries/drop-all', { before, cause: 'Something else.' })).toEqual({ dropped: 0 });
    const worse = { before, cause: await getCause('404') };
    expect(await ask('POST', '/deliveries/drop-all', worse)).toEqual({ dropped: 2 });
    await vi.waitFor(async () => expect(await problems()).toEqual([]));
    receiver.close();
  });

  it.each(['sqlite', 'postgres'])(
    'updates after deliveries were dropped or retried in the job list, on %s',
    async (dialect) => {
      await using resources = new AsyncDisposableStack();
      const url = dialect === 'postgres' ? resources.use(await openPostgresDatabase()).url : undefined;
      const environment = url === undefined ? {} : { HOMEPORT_DATABASE_URL: url };
      const receiver = resources.use(await openReceiver());
      receiver.answer = 403;
      const host = resources.use(await openTestHost({ services: [notify, control], environment }));
      const base = host.url('control');
      const destinationUrl = `json://127.0.0.1:${String(receiver.port)}`;
      const text = ['a', 'b', 'c'].map((path) => `${destinationUrl}/${path}?rto=50\n`).join('');
      const body = { key: 'three', text };
      await api(base, '/api/notify/keys', { method: 'POST', body: JSON.stringify(body) });
      await fetch(`${host.url('notify')}/notify/three`, { method: 'POST', body: new URLSearchParams({ body: 'x' }) });
      const givenUp = async (): Promise<number> =>
        (await api<any>(base, '/api/notify/statistics')).problems.reduce(
          (sum: number, { dead, waiting }: { dead: number; waiting: number }) => sum + dead + waiting,
          0,
        );
      const become = (count: number) => expect.poll(givenUp).toBe(count);
      const jobs = async (): Promise<readonly { id: string }[]> => (await api<any>(base, '/api/jobs/dead')).jobs;
      const touch = async (method: 'DELETE' | 'POST'): Promise<void> => {
        const [job] = await jobs();
        const path = `/api/jobs/notify/${job?.id ?? 'none'}${method === 'POST' ? '/retry' : ''}`;
        await api(base, path, { method });
      };
      await become(3);
      await touch('DELETE');
      await become(2);
      // The events of the attempts have arrived by now: the remaining event is that of the update.
      await touch('DELETE');
      await become(1);
      const answer = receiver.hold();
      await touch('POST');
      await become(0);
      answer();
      await become(1);
      await touch('DELETE');
      await become(0);
      expect(await jobs()).toEqual([]);
      expect(await api<any>(base, '/api/notify/notices')).toMatchObject({ givenUp: 0, waiting: 0 });
    },
  );

  it('counts all dead letters up to the limit, regardless of their reasons', async () => {
    await using host = await openTestHost({ services: [notify, control] });
    // All rows together exceed the limit of one statement.
    const reason = `Gone.${' Really.'.repeat(125)}`;
    {
      using open = new DisposableStack();
      const database = open.adopt(new Sqlite(join(host.dataDir, 'notify', 'db.sqlite')), (entry) => entry.close());
      const now = Date.now();
      const many = 'with recursive n(a) as (select 1 union all select a + 1 from n where a < 30000)';
      database.exec(`
        insert into notices (id, configuration, title, body, type, format, tags, source, created_at)
          values ('n', '', 'T', 'B', 'info', 'text', '[]', 'test', ${String(now)});
        insert into deliveries (notice_id, destination_id, service, sealed_url, shown_url, optional, state, attempts, detail, updated_at)
          ${many} select 'n', 'd' || a, 'JSON', '', '', 0, 'dead', 1, '${reason}', ${String(now)} from n;
        insert into jobs (kind, job_key, state, payload, attempts, created_at, run_at, finished_at)
          ${many} select 'notify.deliver', 'n:d' || a, 'dead', '{}', 1, ${String(now)}, 0, ${String(now)} from n`);
    }
    const { problems } = await api<any>(host.url('control'), '/api/notify/statistics');
    expect(problems).toMatchObject([{ cause: reason, dead: 30_000, waiting: 0 }]);
  });

  it.each([
    ['retry-all', 'retried', 6000],
    ['drop-all', 'dropped', 2000],
  ])('applies %s to all dead letters, regardless of their number', async (route, counted, all) => {
    await using host = await openTestHost({ services: [notify, control] });
    {
      using open = new DisposableStack();
      const database = open.adopt(new Sqlite(join(host.dataDir, 'notify', 'db.sqlite')), (entry) => entry.close());
      database.exec(`with recursive n(a) as (select 1 union all select a + 1 from n where a < 6000)
        insert into jobs (kind, job_key, state, payload, attempts, created_at, run_at, finished_at)
        select 'notify.deliver', 'n:d' || a, 'dead', '{}', 1, a, 0, a from n`);
    }
    const body = JSON.stringify({ before: 2001 });
    expect(await api<any>(host.url('control'), `/api/notify/deliveries/${route}`, { method: 'POST', body })).toEqual({
      [counted]: all,
    });
  });
});
