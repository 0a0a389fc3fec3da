import Sqlite from 'better-sqlite3';
import { createSocket } from 'node:dgram';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { expect, it, vi } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { adminAuthorization } from '../../support/host.ts';
import { startHostProcess } from '../../support/host-process.ts';
import { listen, openTarget, openUptime, type SentEvent } from './rig.ts';

/** Creates an aggregator that can be unavailable; `sent` contains the accepted events. */
async function openAggregator() {
  const sent: SentEvent[] = [];
  const state = { away: false };
  const target = await openTarget((request, response) => {
    void json(request).then((event) => {
      if (!state.away) sent.push(event as SentEvent);
      response.writeHead(state.away ? 503 : 200).end();
    });
  });
  return { sent, state, target };
}

it('reports a target that resets connections without affecting other checks', async () => {
  let middle = false;
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    if (middle) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf');
    socket.on('data', () => socket.resetAndDestroy());
  });
  const port = await listen(server);
  await using fine = await openTarget();
  await using rig = await openUptime();
  const common = { interval: 3600, timeout: 20 };
  try {
    const web = { type: 'keyword', keyword: 'x', url: `http://127.0.0.1:${String(port)}/`, ...common };
    const reset = await rig.add({ ...web, name: 'reset' });
    expect((await rig.until(reset.id, 0)).msg).toMatch(/ECONNRESET|socket hang up/);
    middle = true;
    const half = await rig.add({ ...web, name: 'half' });
    expect((await rig.until(half.id, 0)).msg).toMatch(/ECONNRESET|aborted|socket hang up/);
    const other = await rig.add({ type: 'http', name: 'fine', url: fine.url, ...common });
    await rig.until(other.id, 1);
  } finally {
    server.close();
  }
});

it('limits the delay of an unresponsive name server to its monitor', async () => {
  const silent = createSocket('udp4');
  await new Promise<void>((resolve) => silent.bind(0, '127.0.0.1', resolve));
  await using fine = await openTarget();
  await using rig = await openUptime();
  try {
    const stalled = Array.from({ length: 40 }, (_, index) => ({
      type: 'dns',
      name: `dns ${String(index)}`,
      hostname: 'x.test',
      dns_resolve_server: '127.0.0.1',
      port: silent.address().port,
      interval: 3600,
      timeout: 2,
    }));
    const { items } = await rig.call<{ items: { id: number }[] }>('POST', '/api/monitors/bulk', { items: stalled });
    const web = await rig.add({ type: 'http', name: 'web', url: fine.url, interval: 3600 });
    await rig.until(web.id, 1);
    const [first] = items;
    expect((await rig.until(first?.id ?? 0, 0)).msg).toMatch(/timeout of 2000ms|ETIMEOUT|ECANCELLED/);
    expect((await rig.beats(web.id))[0]?.status).toBe(1);
  } finally {
    silent.close();
  }
});

it('delivers every event once and in order after an hour of downtime of the receiver', async () => {
  const clock = createFakeClock();
  const { sent, state, target } = await openAggregator();
  await using _target = target;
  await using rig = await openUptime({ clock, aggregator: target });
  state.away = true;
  const { id } = await rig.add({ type: 'push', name: 'job', pushToken: 'job', interval: 86_400, flap: false });
  const report = (status: string) => fetch(`${rig.url}/api/push/job?status=${status}`);
  for (const status of ['up', 'down', 'up', 'down']) {
    clock.advance(60_000);
    await report(status);
  }
  await vi.waitUntil(() => target.requests.length > 0);
  clock.advance(3_600_000);
  expect(sent).toEqual([]);
  state.away = false;
  await vi.waitUntil(() => {
    clock.advance(10_000);
    return new Set(sent.map(({ event }) => event.id)).size >= 3;
  });
  const kinds = [...new Map(sent.map(({ event }) => [event.id, event])).values()];
  expect(kinds.map(({ kind, monitorId }) => [kind, monitorId])).toEqual([
    ['down', id],
    ['up', id],
    ['down', id],
  ]);
});

it('keeps heartbeat and event after a kill and notifies once', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'uptime-kill-'));
  const { sent, state, target } = await openAggregator();
  await using _target = target;
  const environment = { UPTIME_NOTIFY_URL: `${target.url}/notify` };
  const ask = async <T>(url: string, body?: object): Promise<T> => {
    const headers = { authorization: adminAuthorization, 'content-type': 'application/json' };
    const reply = await fetch(url, {
      headers,
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
    return (await reply.json()) as T;
  };
  try {
    state.away = true;
    let id: number;
    {
      await using host = await startHostProcess(dataDir, { environment });
      const url = host.url('uptime');
      ({ id } = await ask<{ id: number }>(`${url}/api/monitors`, {
        type: 'push',
        name: 'job',
        pushToken: 'killed',
        interval: 86_400,
      }));
      await ask(`${url}/api/push/killed`);
      // The response is sent when the heartbeat is stored; the event is not delivered yet.
      expect(await ask(`${url}/api/push/killed?status=down&msg=gone`)).toEqual({ ok: true });
      await host.kill();
    }
    expect(sent).toEqual([]);
    state.away = false;
    await using restarted = await startHostProcess(dataDir, { environment });
    await vi.waitUntil(() => sent.length > 0, 60_000);
    const { items } = await ask<{ items: { status: number; msg: string }[] }>(
      `${restarted.url('uptime')}/api/monitors/${String(id)}/beats`,
    );
    expect(items.some(({ status, msg }) => status === 0 && msg === 'gone')).toBe(true);
    expect(new Set(sent.filter(({ event }) => event.monitorId === id).map(({ event }) => event.id)).size).toBe(1);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

it('acknowledges nothing while writes fail, and catches up afterwards', async () => {
  await using web = await openTarget();
  await using rig = await openUptime();
  const job = await rig.add({ type: 'push', name: 'job', pushToken: 'full', interval: 86_400 });
  const site = await rig.add({ type: 'http', name: 'site', url: web.url, interval: 0.5, timeout: 5 });
  await rig.until(site.id, 1);
  const [file = ''] = readdirSync(rig.host.dataDir, { recursive: true })
    .map(String)
    .filter((name) => /uptime[^/]*\.(db|sqlite)$|uptime\/[^/]*\.(db|sqlite)$/.test(name));
  const db = new Sqlite(join(rig.host.dataDir, file), { timeout: 20_000 });
  try {
    db.exec("CREATE TRIGGER no_room BEFORE INSERT ON beats BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END");
    web.handler = (_request, response) => void response.writeHead(500).end();
    const refused = await fetch(`${rig.url}/api/push/full`);
    expect([refused.status, await refused.json()]).toEqual([503, { ok: false, msg: expect.any(String) }]);
    const seen = web.requests.length;
    await vi.waitUntil(() => web.requests.length > seen + 2);
    expect(rig.sent).toEqual([]);
    db.exec('DROP TRIGGER no_room');
  } finally {
    db.close();
  }
  expect(await rig.events('down', site.id)).toHaveLength(1);
  await rig.until(site.id, 0);
  expect(await (await fetch(`${rig.url}/api/push/full`)).json()).toEqual({ ok: true });
  await rig.until(job.id, 1);
});
