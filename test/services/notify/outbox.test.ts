import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { notify } from '../../../services/notify/index.ts';
import { api } from '../../support/api.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { startHostProcess } from '../../support/host-process.ts';
import { createProbe, openReceiver, type Receiver } from './support.ts';
import { describeWaiting } from './waiting.ts';

const hour = 3_600_000;

let open: AsyncDisposableStack;
let receiver: Receiver;
let clock: FakeClock;
let host: TestHost;

beforeEach(async () => {
  open = new AsyncDisposableStack();
  receiver = open.use(await openReceiver());
  clock = createFakeClock(Date.UTC(2026, 5, 1, 12));
});
afterEach(() => open.disposeAsync());

async function openNotify(): Promise<void> {
  const services = [createProbe(['inbox', 'push']).descriptor, notify, control];
  host = open.use(await openTestHost({ services, clock }));
}

async function post(
  path: string,
  fields: unknown,
  base = host.url('notify'),
): Promise<{ status: number; text: string }> {
  const headers = { 'content-type': 'application/json' };
  const reply = await fetch(base + path, { method: 'POST', headers, body: JSON.stringify(fields) });
  return { status: reply.status, text: await reply.text() };
}

const buildUrl = (path: string): string => `json://127.0.0.1:${receiver.port}/${path}`;
const add = (key: string, lines: readonly string[], base?: string) =>
  post(`/add/${key}`, { config: lines.join('\n'), format: 'text' }, base);
const choose = (key: string, options: object) =>
  api(host.url('control'), `/api/notify/keys/${key}/options`, { method: 'PUT', body: JSON.stringify(options) });
const bodies = (path = ''): readonly string[] =>
  receiver.received
    .filter((entry) => entry.path.endsWith(path))
    .map(({ body }) => (JSON.parse(body) as { message: string }).message);

describe('a strict key', () => {
  it('attempts each destination once and responds with 424 to failures, which are not retried', async () => {
    await openNotify();
    await add('strict', [buildUrl('a'), buildUrl('b?optional=yes')]);
    await choose('strict', { strict: true });
    receiver.answer = 503;
    expect(await post('/notify/strict', { body: 'first' })).toMatchObject({ status: 424 });
    receiver.answer = 200;
    expect(await post('/notify/strict', { body: 'second' })).toMatchObject({ status: 200 });
    clock.advance(2 * hour);
    expect(await post('/notify/strict', { body: 'third' })).toMatchObject({ status: 200 });
    expect(bodies('/a')).toEqual(['first', 'second', 'third']);
  });
});

describe('a notification behind another one to the same destination', () => {
  it('responds to a caller once its notification is stored, and keeps the order', async () => {
    await openNotify();
    await add('busy', [buildUrl('slow')]);
    const reply = receiver.hold();
    const first = post('/notify/busy', { body: 'first' });
    await vi.waitFor(() => expect(bodies()).toEqual(['first']));
    const second = await post('/notify/busy', { body: 'second' });
    expect(second).toMatchObject({ status: 200 });
    expect(second.text).toMatch(/"INFO",.*queued behind others that are being sent/);
    expect(bodies()).toEqual(['first']);
    reply();
    expect((await first).text).toContain('Sent JSON POST notification');
    await vi.waitFor(() => expect(bodies()).toEqual(['first', 'second']));
  });
});

describe('a key that suppresses repetitions', () => {
  it('sends equal notifications once in its window, and others or later ones again', async () => {
    await openNotify();
    await add('once', [buildUrl('a')]);
    await choose('once', { repeatSeconds: 60 });
    const send = async (body: string, more = {}) => post('/notify/once', { body, ...more });
    await send('x');
    clock.advance(30_000);
    const repeated = await send('x');
    expect([repeated.status, repeated.text]).toEqual([
      200,
      expect.stringContaining('sent 30 s ago; it is not repeated'),
    ]);
    await send('y');
    await send('x', { type: 'failure' });
    clock.advance(30_000);
    await send('x');
    expect(bodies()).toEqual(['x', 'y', 'x', 'x']);
  });
});

describe('the rules of a destination', () => {
  it('delays notifications in quiet hours, but not failures', async () => {
    await openNotify();
    await add('night', [buildUrl('a?quiet=00:00-24:00')]);
    const response = await post('/notify/night', { body: 'calm' });
    expect([response.status, response.text]).toEqual([200, expect.stringContaining('held until')]);
    await post('/notify/night', { body: 'calm too' });
    await post('/notify/night', { body: 'loud', type: 'failure' });
    expect(bodies()).toEqual(['loud']);
    clock.advance(24 * hour);
    await vi.waitFor(() => expect(bodies()).toEqual(['loud', 'calm', 'calm too']), 15_000);
  });

  it('combines notifications above the rate at the end of the window', async () => {
    await openNotify();
    await add('rated', [buildUrl('a?rate=2/1h')]);
    for (const title of ['1', '2', '3', '4', '5']) {
      await post('/notify/rated', { title, body: 'x' });
      clock.advance(1000);
    }
    expect(bodies()).toHaveLength(2);
    clock.advance(hour);
    await vi.waitFor(() => expect(bodies()).toEqual(['x', 'x', '• 3: x\n• 4: x\n• 5: x']), 15_000);
    await post('/notify/rated', { body: 'in the next window' });
    expect(bodies()).toHaveLength(4);
    const { waiting } = await api<{ waiting: number }>(host.url('control'), '/api/notify/notices');
    expect(waiting).toBe(0);
  });

  it('combines a window, survives a refusal, and retries dead letters separately', async () => {
    await openNotify();
    await add('joined', [buildUrl('a?digest=15m')]);
    for (const body of ['1', '2']) await post('/notify/joined', { body });
    receiver.answer = 403;
    clock.advance(900_000);
    const dead = async (): Promise<number> =>
      (await api<{ givenUp: number }>(host.url('control'), '/api/notify/notices')).givenUp;
    await expect.poll(dead, { timeout: 15_000 }).toBe(2);
    receiver.answer = 200;
    receiver.received.length = 0;
    await api(host.url('control'), '/api/notify/deliveries/retry-all', { method: 'POST' });
    await vi.waitFor(() => expect(bodies().toSorted()).toEqual(['1', '2']), 15_000);
    await expect.poll(dead).toBe(0);
  });

  it('are stored in lists of URLs, displayed, and refused when they are invalid', async () => {
    await openNotify();
    await post('/add/list', { urls: `${buildUrl('a')}?rate=2/1h` });
    const { keys } = await api<{ keys: { key: string; destinations: { url: string }[] }[] }>(
      host.url('control'),
      '/api/notify/keys',
    );
    expect(keys.find(({ key }) => key === 'list')?.destinations[0]?.url).toContain('&rate=2/1h');
    expect((await post('/get/list', {})).text).toContain('rate=2/1h');
    expect(await post('/add/list', { urls: `${buildUrl('a')}?rate=often` })).toMatchObject({ status: 400 });
  });
});

describeWaiting(700);

describe('destinations that do not answer', () => {
  it('does not delay a healthy destination behind many failing ones', async () => {
    await openNotify();
    const dead = Array.from(
      { length: 40 },
      (_, index) => `json://127.0.0.1:${receiver.port}/__never?-n=${String(index)}`,
    );
    await add('dead', dead);
    await add('well', [buildUrl('fine')]);
    const blocked = post('/notify/dead', { body: 'x' });
    await vi.waitFor(() => expect(receiver.received.length).toBeGreaterThan(30), 15_000);
    for (const body of ['1', '2', '3']) expect(await post('/notify/well', { body })).toMatchObject({ status: 200 });
    expect(bodies('/fine')).toEqual(['1', '2', '3']);
    clock.advance(2000);
    expect(await blocked).toMatchObject({ status: 200 });
  });
});

describe('a destination that is paused after a failure', () => {
  const second = 1000;
  const waits = async (): Promise<Record<string, number>> => {
    const { notices } = await api<{ notices: { body: string; deliveries: { nextAt: number | null }[] }[] }>(
      host.url('control'),
      '/api/notify/notices',
    );
    return Object.fromEntries(
      notices.map(({ body, deliveries: [delivery] }) => [body, Number(delivery?.nextAt) - clock.now()]),
    );
  };
  /** Fails until the next attempt of the first delivery is minutes away. */
  const failFor = async (body: string): Promise<void> => {
    receiver.answer = 503;
    await post('/notify/away', { body });
    for (const wait of [6, 18, 72]) {
      const before = receiver.received.length;
      clock.advance(wait * second);
      await vi.waitFor(() => expect(receiver.received).toHaveLength(before + 1), 15_000);
      await vi.waitFor(async () => expect((await waits())[body]).toBeGreaterThan(0), 15_000);
    }
    expect((await waits())[body]).toBeGreaterThan(120 * second);
    receiver.received.length = 0;
  };

  it('is attempted when a new notification arrives, in order, and at most once in 15 s', async () => {
    await openNotify();
    await add('away', [buildUrl('away')]);
    await failFor('first');
    // The last attempt was a moment ago.
    await post('/notify/away', { body: 'second' });
    clock.advance(16 * second);
    await Promise.all(['third', 'fourth'].map((body) => post('/notify/away', { body })));
    await vi.waitFor(() => expect(bodies()).toEqual(['first']), 15_000);
    await vi.waitFor(async () => expect((await waits())['first']).toBeGreaterThan(120 * second), 15_000);
    clock.advance(14 * second);
    await post('/notify/away', { body: 'fifth' });
    expect(bodies()).toEqual(['first']);
    receiver.answer = 200;
    clock.advance(second);
    expect(await post('/notify/away', { body: 'sixth' })).toMatchObject({ status: 200 });
    const all = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth'];
    await vi.waitFor(() => expect(bodies()).toHaveLength(7), 15_000);
    expect(new Set(bodies().slice(1))).toEqual(new Set(all));
    expect([bodies()[1], bodies().at(-1)]).toEqual(['first', 'sixth']);
  });

  it('is not attempted before its requested delay', async () => {
    await openNotify();
    await add('away', [buildUrl('away')]);
    receiver.retryAfter = 600;
    receiver.answer = 429;
    await post('/notify/away', { body: 'first' });
    clock.advance(300 * second);
    await post('/notify/away', { body: 'second' });
    expect(await waits()).toEqual({ first: 300 * second, second: 300 * second });
    expect(bodies()).toEqual(['first']);
  });

  it('is attempted for a new notification after a restart', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'homeport-notify-'));
    open.defer(() => rmSync(dataDir, { recursive: true, force: true }));
    const services = [createProbe(['inbox', 'push']).descriptor, notify, control];
    host = await openTestHost({ services, clock, dataDir });
    await add('away', [buildUrl('away')]);
    await failFor('first');
    await host[Symbol.asyncDispose]();
    host = open.use(await openTestHost({ services, clock, dataDir }));
    receiver.answer = 200;
    clock.advance(16 * second);
    await post('/notify/away', { body: 'second' });
    await vi.waitFor(() => expect(bodies()).toEqual(['first', 'second']), 15_000);
  });

  it('returns the time of the next attempt of each waiting delivery, also of due ones', async () => {
    await openNotify();
    await add('away', [buildUrl('away')]);
    await failFor('first');
    await post('/notify/away', { body: 'second' });
    clock.advance(10 * second);
    const { first, second: waitingDelivery } = await waits();
    expect(first).toBeGreaterThan(100 * second);
    expect(waitingDelivery).toBe(first);
  });
});

describe('a message that its destination keeps rejecting', () => {
  interface Delivery {
    readonly state: string;
    readonly attempts: number;
    readonly nextAt: number | null;
    readonly detail: string;
  }
  const delivery = async (body: string): Promise<Delivery | undefined> => {
    const { notices } = await api<{ notices: { body: string; deliveries: Delivery[] }[] }>(
      host.url('control'),
      '/api/notify/notices',
    );
    return notices.find((entry) => entry.body === body)?.deliveries[0];
  };
  /** Returns the time until the next attempt in ms after this number of failures. */
  const waitAfter = (body: string, attempts: number): Promise<number> =>
    vi.waitFor(async () => {
      const { attempts: storedAttempts, nextAt } = (await delivery(body)) ?? {};
      const wait = Number(nextAt) - clock.now();
      expect([storedAttempts, wait > 0]).toEqual([attempts, true]);
      return wait;
    });

  it('does not delay following messages after five attempts, and is delivered when it is accepted', async () => {
    await openNotify();
    await add('picky', [buildUrl('picky')]);
    receiver.refuses = (body) => body.includes('odd');
    expect((await post('/notify/picky', { body: 'odd' })).text).toContain('queued and tried again');
    await post('/notify/picky', { body: 'behind' });
    for (const attempts of [1, 2, 3, 4]) {
      const wait = await waitAfter('odd', attempts);
      expect(bodies()).not.toContain('behind');
      clock.advance(wait);
    }
    await vi.waitFor(async () => expect(await delivery('behind')).toMatchObject({ state: 'done' }), 15_000);
    expect(bodies()).toEqual(['odd', 'odd', 'odd', 'odd', 'odd', 'behind']);
    expect(await delivery('odd')).toMatchObject({
      ...{ state: 'waiting', attempts: 5 },
      detail: expect.stringMatching(/error=500.* Those behind it do not wait for it\.$/),
    });
    expect((await post('/notify/picky', { body: 'later' })).text).toContain('Sent JSON POST notification');
    delete receiver.refuses;
    clock.advance(hour);
    await vi.waitFor(async () => expect(await delivery('odd')).toMatchObject({ state: 'done', attempts: 6 }), 15_000);
    await post('/notify/picky', { body: 'last' });
    expect(bodies().slice(6)).toEqual(['later', 'odd', 'last']);
  });

  it('keeps its position after one such response, as of a restarting destination', async () => {
    await openNotify();
    await add('starting', [buildUrl('starting')]);
    receiver.answer = 503;
    await post('/notify/starting', { body: 'first' });
    await post('/notify/starting', { body: 'second' });
    for (const attempts of [1, 2, 3, 4]) clock.advance(await waitAfter('first', attempts));
    const toTheOneAnswer = await waitAfter('first', 5);
    receiver.answer = 500;
    clock.advance(toTheOneAnswer);
    const wait = await waitAfter('first', 6);
    expect(bodies()).not.toContain('second');
    receiver.answer = 200;
    clock.advance(wait);
    await vi.waitFor(() => expect(bodies().slice(-2)).toEqual(['first', 'second']), 15_000);
  });

  it('is detected next to unordered deliveries, and stays out of order after each refusal', async () => {
    await openNotify();
    await add('aside', [buildUrl('aside')]);
    await add('direct', [buildUrl('aside')]);
    await choose('direct', { strict: true });
    receiver.refuses = (body) => body.includes('odd');
    await post('/notify/aside', { body: 'odd' });
    for (const attempts of [1, 2, 3, 4, 5, 6]) {
      const wait = await waitAfter('odd', attempts);
      expect(await post('/notify/direct', { body: 'direct' })).toMatchObject({ status: 200 });
      clock.advance(wait);
    }
    await waitAfter('odd', 7);
    expect(await delivery('odd')).toMatchObject({ detail: expect.stringContaining('Those behind it do not wait') });
    expect((await post('/notify/aside', { body: 'later' })).text).toContain('Sent JSON POST notification');
  });

  it('is not assumed while a destination is unavailable', async () => {
    await openNotify();
    await add('away', [buildUrl('away')]);
    receiver.answer = 503;
    await post('/notify/away', { body: 'first' });
    await post('/notify/away', { body: 'second' });
    for (const attempts of [1, 2, 3, 4, 5]) clock.advance(await waitAfter('first', attempts));
    const wait = await waitAfter('first', 6);
    expect(bodies()).not.toContain('second');
    receiver.answer = 200;
    clock.advance(wait);
    await vi.waitFor(() => expect(bodies().slice(-2)).toEqual(['first', 'second']), 15_000);
  });
});

describe('kill -9 between the acceptance and the delivery', () => {
  it('loses no notification and repeats no confirmed one', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'homeport-notify-'));
    open.defer(() => rmSync(dataDir, { recursive: true, force: true }));
    const accepted: string[] = [];
    {
      await using process = await startHostProcess(dataDir);
      const base = process.url('notify');
      await add('kill', [buildUrl('fine'), buildUrl('late')], base);
      for (let index = 0; index < 20; index += 1) {
        // From the fifth response on every delivery fails, so later ones stay in the outbox.
        if (index === 5) receiver.answer = 503;
        const { status } = await post('/notify/kill', { body: String(index) }, base);
        if (status === 200) accepted.push(String(index));
      }
      await process.kill();
    }
    expect(accepted).toHaveLength(20);
    receiver.answer = 200;
    const confirmed = receiver.received.splice(0).slice(0, 10);
    expect(new Set(confirmed.map(({ body }) => body)).size).toBe(5);
    await using restarted = await startHostProcess(dataDir);
    expect(restarted.url('notify')).toBeDefined();
    const rest = accepted.slice(5);
    for (const path of ['/fine', '/late']) {
      await vi.waitFor(() => expect(bodies(path)).toEqual(rest), { timeout: 40_000, interval: 100 });
    }
  }, 120_000);
});
