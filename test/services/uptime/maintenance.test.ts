import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { io, type Socket } from 'socket.io-client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Maintenance } from '../../../services/contracts/uptime/maintenance.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { admin, adminAuthorization } from '../../support/host.ts';
import { openTarget, openUptime, type SentEvent, type UptimeRig } from './rig.ts';

describe('maintenance window', () => {
  let rig: UptimeRig;
  beforeAll(async () => {
    rig = await openUptime();
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  const manual = (overrides: object) =>
    rig.call<Maintenance>('POST', '/api/maintenances', { title: 'w', strategy: 'manual', ...overrides });

  it('stops checks without notifications and reports recoveries afterwards', async () => {
    await using target = await openTarget();
    const web = await rig.add({ type: 'http', name: 'web', url: target.url, interval: 0.3, timeout: 5 });
    const group = await rig.add({ type: 'group', name: 'group', interval: 0.3 });
    const inGroup = await rig.add({
      type: 'http',
      name: 'in',
      url: target.url,
      interval: 0.3,
      timeout: 5,
      parent: group.id,
    });
    const job = await rig.add({ type: 'push', name: 'job', pushToken: 'jobtoken', interval: 60 });
    await rig.until(inGroup.id, 1);
    target.handler = (_request, response) => void response.writeHead(500).end();
    await rig.events('down', web.id);
    await rig.events('down', inGroup.id);
    await rig.events('down', group.id);
    const { id, status } = await manual({ monitors: [web.id, group.id, job.id] });
    expect(status).toBe('under-maintenance');
    for (const one of [web.id, group.id, inGroup.id, job.id]) {
      expect(await rig.until(one, 3)).toMatchObject({ msg: 'Monitor under maintenance' });
    }
    const requestCount = target.requests.length;
    expect(await (await fetch(`${rig.url}/api/push/jobtoken?status=down`)).json()).toEqual({ ok: true });
    expect(await rig.call('POST', `/api/monitors/${String(web.id)}/check`)).toMatchObject({ status: 3 });
    const before = (await rig.beats(web.id)).length;
    await vi.waitUntil(async () => (await rig.beats(web.id)).length > before + 2, 60_000);
    expect((await rig.beats(job.id)).every((beat) => beat.status === 3)).toBe(true);
    expect(target.requests.length).toBe(requestCount);
    target.handler = (_request, response) => void response.end();
    await rig.call('POST', `/api/maintenances/${String(id)}/pause`);
    await rig.events('up', web.id);
    await rig.events('up', inGroup.id);
    await rig.until(group.id, 1);
    expect(rig.sent.filter(({ event }) => event.monitorId === web.id).map(({ event }) => event.kind)).toEqual([
      'down',
      'up',
    ]);
    // A monitor that is down after the window is reported.
    await rig.call('POST', `/api/maintenances/${String(id)}/resume`);
    await rig.until(web.id, 3);
    target.handler = (_request, response) => void response.writeHead(500).end();
    await rig.call('DELETE', `/api/maintenances/${String(id)}`);
    await rig.events('down', web.id, 2);
    expect((await rig.raw('GET', `/api/maintenances/${String(id)}`)).status).toBe(404);
  });

  it('rejects unknown time zones', async () => {
    const control = rig.host.url('control');
    const put = (timezone: string): Promise<Response> =>
      fetch(`${control}/api/uptime/settings`, {
        method: 'PUT',
        headers: { Authorization: adminAuthorization, 'Content-Type': 'application/json' },
        body: JSON.stringify({ timezone }),
      });
    const refused = await put('Mars/Base');
    expect(refused.status).toBe(422);
    expect(await refused.json()).toMatchObject({ error: { fields: { timezone: expect.any(String) as string } } });
    expect((await put('Asia/Kolkata')).status).toBe(200);
    const socket = io(rig.url, { transports: ['websocket'], forceNew: true });
    const info = await new Promise((resolve) => socket.once('info', resolve)).finally(() => socket.disconnect());
    expect(info).toMatchObject({ serverTimezone: 'Asia/Kolkata', serverTimezoneOffset: '+05:30' });
    expect((await put('UTC')).status).toBe(200);
  });

  it.each(['0 0 3 * * *', '30 0 3 * * *', '*/15 0 3 * * *', '* 0 3 * * *', '0 3 * * *'])(
    'accepts the cron rule %s, also with seconds',
    async (cron) => {
      const window = { title: 'w', strategy: 'cron', cron, durationMinutes: 60, timezoneOption: 'UTC' };
      const { id } = await rig.call<{ id: number }>('POST', '/api/maintenances', window);
      const maintenance = await rig.call<{ cron: string; timeslotList: { startDate: string }[] }>(
        'GET',
        `/api/maintenances/${String(id)}`,
      );
      expect(maintenance.cron).toBe(cron);
      expect(JSON.stringify(maintenance)).toMatch(/03:00:00/);
      await rig.call('DELETE', `/api/maintenances/${String(id)}`);
    },
  );

  it('rejects an invalid window with its field', async () => {
    const bad = await rig.raw('POST', '/api/maintenances', {
      title: 'w',
      strategy: 'cron',
      cron: 'often',
      timezoneOption: 'Mars/Base',
    });
    expect(bad.status).toBe(400);
    expect(await bad.json()).toMatchObject({ ok: false, issues: [{ path: ['cron'] }, { path: ['timezoneOption'] }] });
    const { id } = await manual({ active: false });
    expect((await rig.raw('PATCH', `/api/maintenances/${String(id)}`, { strategy: 'single' })).status).toBe(400);
    expect(await rig.call('GET', `/api/maintenances/${String(id)}`)).toMatchObject({
      strategy: 'manual',
      status: 'inactive',
    });
  });

  it('is listed on its status pages without its monitors', async () => {
    const one = await rig.add({ type: 'manual', name: 'shown', manual_status: 1, interval: 3600 });
    const page = await rig.call<{ id: number }>('POST', '/api/status-pages', { slug: 'main', title: 'Main' });
    await rig.call('PUT', '/api/status-pages/main', {
      publicGroupList: [{ name: 'G', monitorList: [{ id: one.id }] }],
    });
    const { id } = await manual({
      title: 'New disks',
      description: 'We **swap** them',
      monitors: [one.id],
      statusPages: [page.id],
    });
    await rig.until(one.id, 3);
    const statusPage = await (await fetch(`${rig.url}/api/status-page/main`)).json();
    expect(statusPage).toMatchObject({ maintenanceList: [{ id, title: 'New disks', status: 'under-maintenance' }] });
    expect(JSON.stringify(statusPage)).not.toContain('"monitors"');
    expect(await (await fetch(`${rig.url}/api/status-page/main/badge`)).text()).toContain('Maintenance');
    const html = await (await fetch(`${rig.url}/status/main`)).text();
    expect(html).toContain('New disks');
    expect(html).toContain('<strong>swap</strong>');
    const next = {
      title: 'Next week',
      strategy: 'single',
      timezoneOption: 'UTC',
      statusPages: [page.id],
      reminders: [],
    };
    const formatInDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 19);
    await rig.call('POST', '/api/maintenances', { ...next, dateRange: [formatInDays(3), formatInDays(4)] });
    const coming = await (await fetch(`${rig.url}/status/main`)).text();
    expect(coming).toMatch(
      /Next week<\/h2><p class="soft"><time [^>]*>\w{3}, \w{3} \d+, \d\d:\d\d \S+<\/time> – <time [^>]*>\w{3}, \w{3} \d+/u,
    );
    expect(await (await fetch(`${rig.url}/api/status-page/main`)).json()).toMatchObject({ maintenanceList: [{ id }] });
  });

  it('supports the recorded socket.io calls', async () => {
    const socket = io(rig.url, { transports: ['websocket'], forceNew: true });
    try {
      const sendRequest = (event: string, ...args: unknown[]) =>
        socket.emitWithAck(event, ...args) as Promise<Record<string, unknown>>;
      await sendRequest('login', { username: admin.name, password: admin.password, token: '' });
      const lists = nextList(socket);
      const add = golden('sio-add-maintenance');
      const { maintenanceID: id, ...added } = await sendRequest('addMaintenance', ...add.request.body);
      const { maintenanceID: _, ...recorded } = add.response.body;
      expect(added).toEqual(recorded);
      expect(Object.keys(await lists)).toContain(String(id));
      const get = golden('sio-get-maintenance').response.body as { maintenance: object };
      expect(await sendRequest('getMaintenance', id)).toEqual({ ...get, maintenance: { ...get.maintenance, id } });
      const one = await rig.add({ type: 'manual', name: 'covered', interval: 3600 });
      await sendRequest('addMonitorMaintenance', id, [{ id: one.id }]);
      expect(await sendRequest('getMonitorMaintenance', id)).toEqual({
        ok: true,
        monitors: [{ id: one.id, name: 'covered' }],
      });
      expect(await sendRequest('pauseMaintenance', id)).toEqual({ ok: true, msg: 'successPaused', msgi18n: true });
      expect(await sendRequest('getMaintenance', id)).toMatchObject({
        maintenance: { status: 'inactive', active: false },
      });
      expect(await sendRequest('deleteMaintenance', id)).toEqual(golden('sio-delete-maintenance').response.body);
    } finally {
      socket.disconnect();
    }
  });
});

function nextList(socket: Socket): Promise<Record<string, unknown>> {
  return new Promise((resolve) => socket.once('maintenanceList', resolve));
}

function golden(name: string) {
  return JSON.parse(readFileSync(new URL(`golden/${name}.json`, import.meta.url), 'utf8')) as {
    readonly request: { readonly body: readonly unknown[] };
    readonly response: { readonly body: Record<string, unknown> };
  };
}

describe('with a simulated clock', () => {
  const hour = 3_600_000;
  const start = Date.parse('2026-03-28T00:30:00Z');
  /** Advances the clock in steps, so that scheduled work runs in between. */
  const pass = async (clock: FakeClock, ms: number, rig: UptimeRig): Promise<void> => {
    for (let remainingMs = ms; remainingMs > 0; remainingMs -= 1_800_000) {
      clock.advance(Math.min(remainingMs, 1_800_000));
      await rig.call('GET', '/api/maintenances');
    }
  };
  /** Counts events by ID: a delivery that the advanced clock interrupts is repeated with the same ID. */
  const about = (rig: Pick<UptimeRig, 'sent'>) => {
    const events = rig.sent.filter(({ event }) => event.kind.startsWith('maintenance'));
    return [...new Map(events.map(({ event, title }) => [event.id, title])).values()];
  };

  /** Jobs also depend on the clock, and an interrupted job is retried seconds later. */
  const waitForEvents = (clock: FakeClock, rig: Pick<UptimeRig, 'sent'>, count: number) =>
    vi.waitUntil(() => {
      clock.advance(1000);
      return about(rig).length >= count;
    });

  it('sends reminder, start and end once, also across clock changes', async () => {
    const clock = createFakeClock(start);
    await using rig = await openUptime({ clock });
    const job = await rig.add({ type: 'manual', name: 'job', manual_status: 1, interval: 600 });
    const { id } = await rig.call<Maintenance>('POST', '/api/maintenances', {
      ...{ title: 'Backup', strategy: 'recurring-weekday', weekdays: [0], timezoneOption: 'Europe/Berlin' },
      ...{
        timeRange: [
          { hours: 2, minutes: 30 },
          { hours: 4, minutes: 0 },
        ],
        monitors: [job.id],
      },
      ...{ reminders: [86_400, 3600], notifyStart: true, notifyEnd: true },
    });
    // 24.5 hours before 01:00 UTC, when clocks change from 2 to 3.
    await pass(clock, hour, rig);
    await waitForEvents(clock, rig, 1);
    expect(rig.sent[0]).toMatchObject({
      type: 'info',
      title: '[Maintenance] Backup starts in 1 d',
      body: 'Sunday, March 29, 03:00 to 04:00 (Europe/Berlin).',
      event: {
        id: `maintenance_reminder:${String(id)}:${String(Date.parse('2026-03-29T01:00Z'))}:86400`,
        kind: 'maintenance_reminder',
        maintenanceId: id,
        maintenanceTitle: 'Backup',
        startsAt: '2026-03-29T01:00:00.000Z',
        endsAt: '2026-03-29T02:00:00.000Z',
        monitorIds: [job.id],
      },
    });
    await pass(clock, 23.75 * hour, rig);
    await rig.until(job.id, 3);
    await pass(clock, hour, rig);
    await rig.until(job.id, 1);
    await waitForEvents(clock, rig, 4);
    await pass(clock, 12 * hour, rig);
    expect(about(rig)).toEqual(
      ['starts in 1 d', 'starts in 1 h', 'has started', 'has ended'].map((what) => `[Maintenance] Backup ${what}`),
    );
    expect(rig.sent.filter(({ event }) => event.kind === 'up' || event.kind === 'down')).toEqual([]);
  });

  it('skips announcements of missed windows and corrects late reminders', async () => {
    const clock = createFakeClock(start);
    await using rig = await openUptime({ clock });
    const add = (from: string, to: string, title: string) =>
      rig.call('POST', '/api/maintenances', {
        title,
        strategy: 'single',
        timezoneOption: 'UTC',
        dateRange: [from, to],
        notifyStart: true,
        notifyEnd: true,
      });
    await add('2026-03-29 12:00', '2026-03-29 13:00', 'slept through');
    await add('2026-04-02 12:00', '2026-04-02 13:00', 'to come');
    await rig.call('GET', '/api/maintenances');
    clock.set(Date.parse('2026-04-02T11:29:30Z'));
    clock.advance(30_000);
    await waitForEvents(clock, rig, 1);
    await pass(clock, 600_000, rig);
    expect(about(rig)).toEqual(['[Maintenance] to come starts in 30 min']);
  });

  it('announces overlapping cron runs once, also after a restart', async () => {
    const clock = createFakeClock(Date.parse('2026-06-01T07:30:00Z'));
    const rule = { strategy: 'cron', cron: '*/10 8-9 * * *', durationMinutes: 60, timezoneOption: 'UTC' };
    const dataDir = mkdtempSync(join(tmpdir(), 'uptime-'));
    const sent: SentEvent[] = [];
    await using aggregator = await openTarget((request, response) => {
      void text(request).then((body) => {
        sent.push(JSON.parse(body) as SentEvent);
        response.end('{}');
      });
    });
    try {
      {
        await using first = await openUptime({ clock, dataDir, aggregator });
        await first.call('POST', '/api/maintenances', {
          title: 'often',
          ...rule,
          reminders: [600],
          notifyStart: true,
          notifyEnd: true,
        });
        await pass(clock, 2 * hour, first);
        await waitForEvents(clock, { sent }, 2);
      }
      await using second = await openUptime({ clock, dataDir, aggregator });
      await pass(clock, 2 * hour, second);
      await waitForEvents(clock, { sent }, 3);
      await pass(clock, 12 * hour, second);
      expect(about({ sent })).toEqual(
        ['starts in 10 min', 'has started', 'has ended'].map((what) => `[Maintenance] often ${what}`),
      );
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  it('applies changes to an active window', async () => {
    const clock = createFakeClock(Date.parse('2026-06-01T12:00:00Z'));
    await using rig = await openUptime({ clock });
    const job = await rig.add({ type: 'manual', name: 'job', manual_status: 1, interval: 600 });
    clock.advance(1);
    const range = (end: string) => ({ dateRange: ['2026-06-01 11:00', end] });
    const { id } = await rig.call<Maintenance>('POST', '/api/maintenances', {
      title: 'w',
      strategy: 'single',
      timezoneOption: 'UTC',
      monitors: [job.id],
      ...range('2026-06-01 13:00'),
    });
    clock.advance(1);
    await rig.until(job.id, 3);
    await rig.call('PATCH', `/api/maintenances/${String(id)}`, range('2026-06-01 14:00'));
    await pass(clock, 1.5 * hour, rig);
    expect((await rig.beats(job.id)).at(-1)?.status).toBe(3);
    await rig.call('PATCH', `/api/maintenances/${String(id)}`, range('2026-06-01 13:15'));
    clock.advance(1);
    await rig.until(job.id, 1);
    expect(await rig.call('GET', `/api/maintenances/${String(id)}`)).toMatchObject({ status: 'ended', upcoming: [] });
  });
});
