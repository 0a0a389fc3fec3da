import * as texts from '#messages/uptime-texts';
import { createServer } from 'node:https';
import { createServer as createTcp } from 'node:net';
import { expect, it, vi } from 'vitest';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { makeSelfSigned } from '../../support/self-signed.ts';
import { listen, openUptime, type UptimeRig } from './rig.ts';

const minute = 60_000;
const day = 1440 * minute;

/** Waits for events of a kind, each counted once, while the clock advances, because jobs depend on it. */
function until(clock: FakeClock, rig: UptimeRig, kind: string, count: number) {
  return vi.waitUntil(() => {
    clock.advance(10);
    const events = listEvents(rig, kind);
    return events.length >= count ? events : undefined;
  });
}

function listEvents(rig: UptimeRig, kind: string) {
  return [
    ...new Map(rig.sent.filter(({ event }) => event.kind === kind).map((sent) => [sent.event.id, sent])).values(),
  ];
}

function push(rig: UptimeRig, token: string, query: string): Promise<Response> {
  return fetch(`${rig.url}/api/push/${token}?${query}`);
}

/** Waits until all pending writes and deliveries have ended. */
async function settle(clock: FakeClock, rig: UptimeRig): Promise<void> {
  const mark = await rig.add({ type: 'manual', name: 'mark', manual_status: 0, interval: 86_400 });
  await vi.waitUntil(() => {
    clock.advance(10);
    return rig.sent.some(({ event }) => event.monitorId === mark.id);
  });
}

it('reports slow responses and their end once without changing the baseline', async () => {
  const clock = createFakeClock();
  await using rig = await openUptime({ clock });
  const { id } = await rig.add({ type: 'push', name: 'job', pushToken: 'slow', interval: 3600 });
  const beats = async (count: number, ping: (beat: number) => number) => {
    for (let beat = 0; beat < count; beat += 1) {
      clock.advance(minute);
      await push(rig, 'slow', `ping=${String(ping(beat))}`);
    }
  };
  await beats(125, (beat) => 58 + (beat % 5));
  await beats(30, (beat) => 240 + (beat % 5));
  const [slow] = await until(clock, rig, 'degraded', 1);
  expect(slow).toMatchObject({
    title: expect.stringMatching(/^\[Slow\] job: 24\d ms \(usually (59|6\d) ms\)$/),
    type: 'warning',
    event: { monitorId: id, monitorName: 'job', since: expect.any(String) },
  });
  expect(await rig.call('GET', `/api/monitors/${String(id)}`)).toMatchObject({ state: { status: 1, degraded: true } });
  await beats(20, (beat) => 58 + (beat % 5));
  expect((await until(clock, rig, 'degraded_resolved', 1))[0]).toMatchObject({
    title: texts.eventNormal({ name: 'job' }),
    type: 'success',
  });
  expect(listEvents(rig, 'degraded')).toHaveLength(1);
  expect(listEvents(rig, 'down')).toEqual([]);
});

it('warns of a certificate once per threshold and again for a new one', async () => {
  const pem = makeSelfSigned();
  const other = makeSelfSigned();
  const server = createServer(pem, (_request, response) => void response.end('x'));
  const clock = createFakeClock(Date.now());
  await using rig = await openUptime({ clock });
  try {
    const url = `https://localhost:${String(await listen(server))}/`;
    const { id } = await rig.add({
      type: 'http',
      name: 'tls',
      url,
      interval: 0.5,
      timeout: 20,
      expiryNotification: true,
      tlsCa: pem.cert + other.cert,
      certWarnDays: [1, 0],
    });
    await rig.until(id, 1);
    const listThresholds = () => listEvents(rig, 'cert_expiry').map(({ event }) => event['threshold']);
    const jump = async (days: number, count: number) => {
      clock.set(clock.now() + days * day);
      clock.advance(minute);
      await until(clock, rig, 'cert_expiry', count);
    };
    // The maintenance lasts two days from now.
    await until(clock, rig, 'cert_expiry', 1);
    await jump(1, 2);
    await jump(1, 3);
    clock.advance(10 * minute);
    await settle(clock, rig);
    expect(listThresholds()).toEqual([1, 0, -1]);
    server.setSecureContext(other);
    await until(clock, rig, 'cert_expiry', 4);
    expect(new Set(listEvents(rig, 'cert_expiry').map(({ event }) => event['fingerprint256'])).size).toBe(2);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

it('ignores failures after a sleep for a while', async () => {
  const clock = createFakeClock();
  await using rig = await openUptime({ clock });
  for (const name of ['lives', 'dead']) await rig.add({ type: 'push', name, pushToken: name, interval: 60 });
  for (const name of ['lives', 'dead']) await push(rig, name, '');
  // Eight hours without any check, after which the clock is set back.
  for (const jump of [480 * minute, -60 * minute]) {
    clock.advance(50_000);
    clock.set(clock.now() + jump);
    clock.advance(20_000);
    await push(rig, 'lives', '');
    await settle(clock, rig);
    expect(listEvents(rig, 'down').map(({ event }) => event['monitorName'])).not.toContain('dead');
    await push(rig, 'dead', '');
  }
  for (let passed = 0; passed < 3; passed += 1) {
    clock.advance(50_000);
    await push(rig, 'lives', '');
  }
  const names = (await until(clock, rig, 'down', 3)).map(({ event }) => event['monitorName']);
  expect(names.filter((name) => name !== 'mark')).toEqual(['dead']);
});

it('reports pending instead of down without a network', async () => {
  const tcpServer = createTcp((socket) => socket.destroy());
  const port = await listen(tcpServer);
  const far = { type: 'port', hostname: 'nosuch.invalid', port: 80, interval: 0.5, timeout: 20 };
  {
    await using rig = await openUptime({ environment: { UPTIME_CONNECTIVITY_ADDRESS: '127.0.0.1:1' } });
    const { id } = await rig.add({ ...far, name: 'far' });
    expect((await rig.until(id, 2)).msg).toContain('this machine has no network');
    await vi.waitUntil(async () => (await rig.beats(id)).length > 3);
    const near = await rig.add({ type: 'port', name: 'near', hostname: '127.0.0.1', port: 1, interval: 60 });
    await rig.events('down', near.id);
    expect(rig.sent.filter(({ event }) => event.monitorId === id)).toEqual([]);
  }
  {
    await using rig = await openUptime({ environment: { UPTIME_CONNECTIVITY_ADDRESS: `127.0.0.1:${String(port)}` } });
    const { id } = await rig.add({ ...far, name: 'far' });
    await rig.events('down', id);
  }
  tcpServer.close();
});

it('stops reminders after an acknowledgement and reports the recovery', async () => {
  const clock = createFakeClock();
  await using rig = await openUptime({ clock });
  const { id } = await rig.add({ type: 'manual', name: 'job', manual_status: 0, interval: 60, resendInterval: 2 });
  await until(clock, rig, 'down', 1);
  clock.advance(2 * minute);
  const [, repeat] = await until(clock, rig, 'down', 2);
  expect(repeat?.event).toMatchObject({ repeat: expect.any(Number), downSince: expect.any(String) });
  const { items } = await rig.call<{ items: { id: number }[] }>('GET', '/api/incidents?open=true');
  expect(items).toHaveLength(1);
  expect(await rig.call('POST', `/api/incidents/${String(items[0]?.id)}/ack`)).toMatchObject({ acknowledgedBy: 'ada' });
  const before = (await rig.beats(id)).length;
  await vi.waitUntil(async () => {
    clock.advance(minute);
    return (await rig.beats(id)).length > before + 6;
  });
  await rig.call('PATCH', `/api/monitors/${String(id)}`, { manual_status: 1 });
  await until(clock, rig, 'up', 1);
  expect(listEvents(rig, 'down')).toHaveLength(2);
});

it('reports the start and end of flapping once', async () => {
  const clock = createFakeClock();
  await using rig = await openUptime({ clock });
  const { id } = await rig.add({ type: 'manual', name: 'job', manual_status: 1, interval: 3600 });
  clock.advance(1);
  for (let change = 0; change < 12; change += 1) {
    await rig.call('PATCH', `/api/monitors/${String(id)}`, { manual_status: change % 2 });
    await vi.waitUntil(async () => {
      clock.advance(1);
      return (await rig.beats(id)).at(-1)?.status === change % 2;
    });
    clock.advance(10_000);
  }
  await settle(clock, rig);
  const titles = () =>
    [...new Map(rig.sent.map((sent) => [sent.event.id, sent.title])).values()].filter((title) => title.endsWith('job'));
  const before = titles();
  expect(before.filter((title) => title.startsWith('[Flapping]'))).toHaveLength(1);
  expect(before).toHaveLength(7);
  clock.advance(12 * minute);
  await vi.waitUntil(() => {
    clock.advance(1);
    return titles().length > before.length;
  });
  expect(titles().at(-1)).toBe(texts.eventSteady({ name: 'job' }));
});

it('returns the uptime of each of the last 24 hours and null for unknown hours', async () => {
  const clock = createFakeClock(Math.ceil(Date.now() / 3_600_000) * 3_600_000);
  await using rig = await openUptime({ clock });
  const { id } = await rig.add({ type: 'push', name: 'job', pushToken: 'hours', interval: 900 });
  for (let minutes = 10; minutes <= 170; minutes += 10) {
    clock.advance(10 * minute);
    const isDown = minutes >= 60 && minutes < 90;
    await push(rig, 'hours', isDown ? 'status=down&msg=gone' : 'ping=5');
  }
  const listHours = async (one: number): Promise<readonly any[]> =>
    (await rig.call<Record<string, any[]>>('GET', `/api/hours?ids=${String(one)},999`))[String(one)] ?? [];
  const hours = await listHours(id);
  expect(hours).toHaveLength(24);
  expect(hours.slice(0, 21)).toEqual(Array(21).fill(null));
  expect(hours[21]).toBe(1);
  expect(hours[22]).toBeGreaterThan(0.2);
  expect(hours[22]).toBeLessThan(0.8);
  expect(hours[23]).toBe(1);
  const nightlyMonitor = await rig.add({ type: 'push', name: 'nightly', pushToken: 'rare', interval: 86_400 });
  await push(rig, 'rare', 'ping=5');
  clock.advance(180 * minute);
  expect((await listHours(nightlyMonitor.id)).slice(-5)).toEqual([null, 1, 1, 1, 1]);
});
