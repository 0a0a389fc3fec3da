import { json } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Heartbeat, Monitor } from '../../services/contracts/uptime/views.ts';
import type { HostProcess } from '../support/host-process.ts';
import { openTarget, type SentEvent, type Target } from '../services/uptime/rig.ts';
import { call, maxTakeoverMs, openCluster, publish, readMessages, type Cluster } from './cluster-fixture.ts';

const waiting = { timeout: 60_000, interval: 100 };
const files = new AsyncDisposableStack();
let cluster: Cluster;
let hosts: AsyncDisposableStack;
/** Receives the events of monitors. */
let aggregator: Target;
let sent: SentEvent[];

beforeAll(async () => {
  aggregator = files.use(
    await openTarget((request, response) => {
      void json(request).then((event) => {
        sent.push(event as SentEvent);
        response.end('{}');
      });
    }),
  );
  cluster = files.use(await openCluster({ UPTIME_NOTIFY_URL: `${aggregator.url}/notify` }));
});
beforeEach(() => {
  sent = [];
  hosts = new AsyncDisposableStack();
});
afterEach(() => hosts.disposeAsync());
afterAll(() => files.disposeAsync());

/** Target that counts the checks. */
async function openChecked() {
  const state = { isUp: true };
  const target = await openTarget((_request, response) => response.writeHead(state.isUp ? 200 : 500).end());
  return { state, target, checks: (): number => target.requests.length };
}

const addMonitor = (host: HostProcess, monitor: Readonly<Record<string, unknown>>): Promise<Monitor> =>
  call(`${host.url('uptime')}/api/monitors`, 'POST', monitor);

async function readBeats(host: HostProcess, { id }: Monitor): Promise<readonly Heartbeat[]> {
  const url = `${host.url('uptime')}/api/monitors/${String(id)}/beats?limit=200`;
  return (await call<{ items: Heartbeat[] }>(url)).items.toReversed();
}

/** Returns the status that a host shows in its list of monitors. */
async function readStatus(host: HostProcess, { id }: Monitor): Promise<unknown> {
  const { items } = await call<{ items: Monitor[] }>(`${host.url('uptime')}/api/monitors`);
  return items.find((each) => each.id === id)?.state.status;
}

/** Waits until something new happens, and returns the elapsed ms. */
async function measure(count: () => number): Promise<number> {
  const [start, before] = [performance.now(), count()];
  await vi.waitUntil(() => count() > before, waiting);
  return performance.now() - start;
}

describe('cluster of hosts with one database', () => {
  it('continues checks and scheduled messages of a host that was killed', async () => {
    const owner = hosts.use(await cluster.start());
    const other = hosts.use(await cluster.start());
    const { checks, state, target } = await openChecked();
    await using _target = target;
    const monitor = await addMonitor(other, { type: 'http', name: 'web', url: target.url, interval: 1 });
    await vi.waitUntil(async () => (await readBeats(other, monitor)).length >= 3, waiting);
    const [before, start] = [checks(), performance.now()];
    await pause(4000);
    // One host checks once per second.
    expect((checks() - before) / ((performance.now() - start) / 1000)).toBeLessThan(1.5);

    await publish(other, 'delayed', 'in 10 seconds', { In: '10s' });
    const due = performance.now() + 10_000;
    await owner.kill();
    expect(await measure(checks)).toBeLessThan(maxTakeoverMs);
    state.isUp = false;
    await vi.waitUntil(() => sent.some(({ event }) => event.kind === 'down'), waiting);
    await vi.waitUntil(async () => (await readMessages(other, 'delayed')).length > 0, waiting);
    expect(performance.now() - due).toBeLessThan(maxTakeoverMs);

    const third = hosts.use(await cluster.start());
    state.isUp = true;
    await vi.waitUntil(() => sent.some(({ event }) => event.kind === 'up'), waiting);
    await vi.waitUntil(async () => (await readStatus(third, monitor)) === (await readStatus(other, monitor)), waiting);
    expect(sent.map(({ event }) => event.kind)).toEqual(['down', 'up']);
    expect(await readMessages(third, 'delayed')).toEqual(['in 10 seconds']);
    await call(`${third.url('uptime')}/api/monitors/${String(monitor.id)}`, 'DELETE');
    // The owner notices the change of another host.
    await vi.waitUntil(async () => {
      const count = checks();
      await pause(2500);
      return checks() === count;
    }, waiting);
  });

  it('refuses writes of a host that hung while another one took over', async () => {
    const owner = hosts.use(await cluster.start());
    const other = hosts.use(await cluster.start());
    const { state, target } = await openChecked();
    await using _target = target;
    const monitor = await addMonitor(owner, { type: 'http', name: 'hung', url: target.url, interval: 1 });
    const count = async (): Promise<number> => (await readBeats(other, monitor)).length;
    await vi.waitUntil(async () => (await count()) >= 3, waiting);
    owner.child.kill('SIGSTOP');
    const stopped = performance.now();
    await publish(other, 'hung', 'while one host hangs', { In: '10s' });
    try {
      state.isUp = false;
      await vi.waitUntil(() => sent.length > 0, waiting);
      expect(performance.now() - stopped).toBeLessThan(maxTakeoverMs + 2000);
      await pause(Math.max(0, 15_000 - (performance.now() - stopped)));
    } finally {
      owner.child.kill('SIGCONT');
    }
    const log = (): readonly string[] => [...owner.output, ...owner.errors];
    await vi.waitUntil(() => log().some((line) => line.includes('lease lost')), waiting);
    await vi.waitUntil(async () => (await readStatus(owner, monitor)) === (await readStatus(other, monitor)), waiting);
    const beats = await readBeats(other, monitor);
    const seconds = beats.map(({ time }) => Date.parse(`${time}Z`));
    const gaps = seconds
      .slice(1)
      .map((time, index) => time - (seconds[index] ?? 0))
      .slice(1);
    // Two hosts would record about two heartbeats per second.
    expect(gaps.filter((gap) => gap < 500)).toHaveLength(0);
    expect(sent.map(({ event }) => event.kind)).toEqual(['down']);
    expect(await readMessages(owner, 'hung')).toEqual(['while one host hangs']);
    await call(`${owner.url('uptime')}/api/monitors/${String(monitor.id)}`, 'DELETE');
  });

  it('hands over immediately when the owner stops', async () => {
    const owner = hosts.use(await cluster.start());
    const other = hosts.use(await cluster.start());
    const { checks, target } = await openChecked();
    await using _target = target;
    const monitor = await addMonitor(owner, { type: 'http', name: 'drained', url: target.url, interval: 1 });
    await vi.waitUntil(() => checks() >= 2, waiting);
    const push = await addMonitor(other, { type: 'push', name: 'job', interval: 3600 });
    const token = (await call<{ pushPath: string }>(`${other.url('uptime')}/api/monitors/${String(push.id)}/facts`))
      .pushPath;
    await call(`${other.url('uptime')}${token}?msg=done`);
    await vi.waitUntil(async () => (await readStatus(owner, push)) !== undefined, waiting);
    await vi.waitUntil(async () => (await readBeats(owner, push)).some(({ msg }) => msg === 'done'), waiting);
    await owner.stop();
    expect(await measure(checks)).toBeLessThan(5000);
    const checked = await call<Heartbeat>(`${other.url('uptime')}/api/monitors/${String(monitor.id)}/check`, 'POST');
    expect(checked.status).toBe(1);
  });
});
