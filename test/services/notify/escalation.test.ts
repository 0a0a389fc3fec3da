import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { notificationOffered } from '../../../services/contracts/notify/notification.ts';
import { control } from '../../../services/control/index.ts';
import { notify } from '../../../services/notify/index.ts';
import { api } from '../../support/api.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { startHostProcess } from '../../support/host-process.ts';
import { createProbe, openReceiver, type Offers, type Receiver } from './support.ts';

let open: AsyncDisposableStack;
let receiver: Receiver;
let clock: FakeClock;
let host: TestHost;
let offers: Offers;

beforeEach(async () => {
  open = new AsyncDisposableStack();
  receiver = open.use(await openReceiver());
  clock = createFakeClock(Date.UTC(2026, 5, 1, 12));
});
afterEach(() => open.disposeAsync());

async function openNotify(): Promise<void> {
  const probe = createProbe(['inbox', 'push']);
  offers = probe.offers;
  host = open.use(await openTestHost({ services: [probe.descriptor, notify, control], clock }));
}

async function post(path: string, fields: unknown, base = host.url('notify')) {
  const headers = { 'content-type': 'application/json' };
  const reply = await fetch(base + path, { method: 'POST', headers, body: JSON.stringify(fields) });
  return { status: reply.status, text: await reply.text() };
}

/** Builds the URL of a working destination, or of one that responds with a status. */
const well = (name: string): string => `json://127.0.0.1:${receiver.port}/${name}?wait=0`;
const failingUrl = (name: string, status = 503): string =>
  `json://127.0.0.1:${receiver.port}/__status/${String(status)}/${name}?wait=0`;
const add = (key: string, lines: readonly string[], base?: string) =>
  post(`/add/${key}`, { config: lines.join('\n'), format: 'text' }, base);
const listRequestedPaths = (): readonly string[] => receiver.received.map(({ path }) => path.split('/').at(-1) ?? '');
const choose = (key: string, options: object) =>
  api(host.url('control'), `/api/notify/keys/${key}/options`, { method: 'PUT', body: JSON.stringify(options) });
const waiting = async (): Promise<number> =>
  (await api<{ waiting: number }>(host.url('control'), '/api/notify/notices')).waiting;

describe('levels of a tag', () => {
  it('are notified from the lowest, each after all destinations of the previous level failed', async () => {
    await openNotify();
    await add('k', [
      `2:oncall=${well('third')}`,
      `0:oncall=${failingUrl('first')}`,
      `1:oncall=${failingUrl('second', 404)}`,
    ]);
    const reply = await post('/notify/k', { body: 'x', tag: 'oncall' });
    expect(listRequestedPaths()).toEqual(['first', 'second', 'third']);
    expect(reply.status).toBe(200);
    const { details } = JSON.parse(reply.text) as { details: readonly (readonly [string, string, string])[] };
    expect(details.map(([level]) => level)).toEqual(['WARNING', 'WARNING', 'INFO']);
  });

  it('ends at the first level that succeeds, and still retries its failed destinations', async () => {
    await openNotify();
    receiver.answer = 503;
    await add('k', [`oncall=${well('a')}`, `oncall=push://phone`, `1:oncall=${well('boss')}`]);
    expect(await post('/notify/k', { body: 'x', tag: 'oncall' })).toMatchObject({ status: 200 });
    expect(offers.push.size).toBe(1);
    receiver.answer = 200;
    clock.advance(10_000);
    await vi.waitFor(() => expect(listRequestedPaths()).toEqual(['a', 'a']));
    await expect.poll(waiting).toBe(0);
  });

  it('ignores optional destinations', async () => {
    await openNotify();
    await add('k', [
      `oncall=${failingUrl('gone')}`,
      `oncall=${well('screen')}&optional=yes`,
      `1:oncall=${well('boss')}`,
    ]);
    await post('/notify/k', { body: 'x', tag: 'oncall' });
    expect(listRequestedPaths().toSorted()).toEqual(['boss', 'gone', 'screen']);
    receiver.received.length = 0;
    await add('k', [
      `oncall=${well('phone')}`,
      `oncall=${failingUrl('screen', 404)}&optional=yes`,
      `1:oncall=${well('boss')}`,
    ]);
    expect(await post('/notify/k', { body: 'x', tag: 'oncall' })).toMatchObject({ status: 200 });
    expect(listRequestedPaths().toSorted()).toEqual(['phone', 'screen']);
  });

  it('are all notified by a call without a tag, and individually by a call that names one', async () => {
    await openNotify();
    await add('k', [`0:oncall=${well('first')}`, `1:oncall=${well('second')}`]);
    await post('/notify/k', { body: 'x' });
    expect(listRequestedPaths().toSorted()).toEqual(['first', 'second']);
    receiver.received.length = 0;
    await post('/notify/k', { body: 'x', tag: '1:oncall' });
    expect(listRequestedPaths()).toEqual(['second']);
  });

  it('runs the chains of alternatives independently', async () => {
    await openNotify();
    await add('k', [
      `a=${well('a0')}`,
      `1:a=${well('a1')}`,
      `b=${failingUrl('b0', 404)}`,
      `1:b=${well('b1')}`,
      `always=${well('all')}`,
    ]);
    await post('/notify/k', { body: 'x', tag: 'a,b' });
    expect(listRequestedPaths().toSorted()).toEqual(['a0', 'all', 'b0', 'b1']);
  });

  it('are notified without waiting for the queue of a failing destination', async () => {
    await openNotify();
    await add('k', [`oncall=${failingUrl('first')}`, `1:oncall=${well('second')}`]);
    for (const body of ['1', '2', '3']) await post('/notify/k', { body, tag: 'oncall' });
    expect(listRequestedPaths().filter((entry) => entry === 'second')).toHaveLength(3);
  });

  it('fails the call when the last level fails', async () => {
    await openNotify();
    await add('k', [`oncall=${failingUrl('first')}`, `1:oncall=${failingUrl('second', 404)}`]);
    expect(await post('/notify/k', { body: 'x', tag: 'oncall' })).toMatchObject({ status: 424 });
  });

  it('escalates notifications of other services', async () => {
    await openNotify();
    await add('k', [`oncall=${failingUrl('first', 404)}`, `1:oncall=${well('second')}`]);
    const notification = {
      title: 'T',
      body: 'B',
      type: 'failure',
      format: 'text',
      tags: [],
      source: 'uptime',
    } as const;
    const offer = { configuration: 'k', tag: 'oncall', notice: { ...notification, tags: [] } };
    await offers.context?.handovers.pass(notificationOffered, 'uptime:1', offer);
    await vi.waitFor(() => expect(listRequestedPaths()).toEqual(['first', 'second']));
  });

  it('are attempted once each for a strict key, whose caller receives the result', async () => {
    await openNotify();
    await add('k', [`oncall=${failingUrl('first')}`, `1:oncall=${well('second')}`]);
    await choose('k', { strict: true });
    expect(await post('/notify/k', { body: 'x', tag: 'oncall' })).toMatchObject({ status: 200 });
    await add('k', [`oncall=${failingUrl('first')}`, `1:oncall=${failingUrl('second')}`]);
    expect(await post('/notify/k', { body: 'x', tag: 'oncall' })).toMatchObject({ status: 424 });
    expect(listRequestedPaths()).toEqual(['first', 'second', 'first', 'second']);
    clock.advance(60_000);
    await expect.poll(waiting).toBe(0);
  });

  it('are explained in the list of destinations', async () => {
    await openNotify();
    await add('k', [`oncall=${well('first')}`, `1:oncall=${well('second')}`]);
    const { destinations } = await api<{ destinations: { why: string }[] }>(
      host.url('control'),
      '/api/notify/keys/k/choose?tag=oncall',
    );
    expect(destinations[1]?.why).toContain('level 1');
  });

  it('continues after a kill -9', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'homeport-notify-'));
    open.defer(() => rmSync(dataDir, { recursive: true, force: true }));
    {
      await using process = await startHostProcess(dataDir);
      const base = process.url('notify');
      await add('k', [`oncall=${failingUrl('first')}`, `1:oncall=${well('second')}`], base);
      receiver.answer = 0;
      expect(await post('/notify/k', { body: 'x', tag: 'oncall' }, base)).toMatchObject({ status: 200 });
      expect(listRequestedPaths()).toEqual(['first']);
      await process.kill();
    }
    receiver.answer = 200;
    await using restarted = await startHostProcess(dataDir);
    expect(restarted.url('notify')).toBeDefined();
    await vi.waitFor(() => expect(listRequestedPaths()).toEqual(['first', 'first', 'second']), {
      timeout: 30_000,
      interval: 100,
    });
  }, 90_000);
});

describe('retries', () => {
  it('retries as the URL specifies before the outbox does', async () => {
    await openNotify();
    await add('k', [`${failingUrl('a')}&retry=2`]);
    const reply = await post('/notify/k', { body: 'x' });
    expect([reply.status, reply.text]).toEqual([200, expect.stringContaining('queued')]);
    expect(listRequestedPaths()).toEqual(['a', 'a', 'a']);
    clock.advance(10_000);
    await vi.waitFor(() => expect(listRequestedPaths()).toHaveLength(6));
  });

  it('uses the retries of a call for matching destinations, before the next level', async () => {
    await openNotify();
    await add('k', [`oncall=${failingUrl('first')}&retry=5`, `1:oncall=${well('second')}`, `log=${failingUrl('log')}`]);
    await post('/notify/k', { body: 'x', tag: 'oncall:1,log' });
    expect(listRequestedPaths().toSorted()).toEqual(['first', 'first', 'log', 'second']);
  });

  it('waits as the URL specifies, and does not retry final failures', async () => {
    await openNotify();
    await add('k', [
      `${failingUrl('slow').replace('wait=0', 'wait=3')}&retry=1`,
      `${failingUrl('final', 404)}&retry=3`,
    ]);
    const call = post('/notify/k', { body: 'x' });
    await vi.waitFor(() => expect(listRequestedPaths().toSorted()).toEqual(['final', 'slow']));
    clock.advance(2000);
    await call;
    expect(listRequestedPaths().toSorted()).toEqual(['final', 'slow']);
    clock.advance(1000);
    await vi.waitFor(() => expect(listRequestedPaths().toSorted()).toEqual(['final', 'slow', 'slow']));
  });
});
