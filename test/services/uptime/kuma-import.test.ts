import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Monitor } from '../../../services/contracts/uptime/views.ts';
import { openKumaBackup } from '../../../services/uptime/kuma-import/kuma-reader.ts';
import { createFakeClock } from '../../support/clock.ts';
import { adminAuthorization } from '../../support/host.ts';
import { api } from '../../support/api.ts';
import { writeKumaDatabase } from './kuma-database.ts';
import { openUptime, type UptimeRig } from './rig.ts';

const now = Date.parse('2026-11-20T12:30:00Z');
const hour = 3_600_000;
const day = (back: number) => Date.parse('2026-11-20T00:00:00Z') - back * 24 * hour;
const time = (timestamp: number) => new Date(timestamp).toISOString().replace('T', ' ').slice(0, 23);

function send(rig: UptimeRig, bytes: Uint8Array<ArrayBuffer> | string): Promise<Response> {
  return fetch(`${rig.url}/api/import`, {
    method: 'POST',
    headers: { authorization: adminAuthorization },
    body: bytes,
  });
}

it('keeps the start of an imported outage, also in the feed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kuma-'));
  const file = join(folder, 'kuma.db');
  const quiet = { interval: 3600, active: 1 };
  writeKumaDatabase(file, {
    user: [{ id: 1, username: 'kuma', password: '$2a$10$secret' }],
    monitor: [
      { id: 1, name: 'box', type: 'port', ...quiet, hostname: '127.0.0.1', port: 1, maxretries: 0, timeout: 5 },
      { id: 2, name: 'job', type: 'push', ...quiet, push_token: 'abcdefghijklmnopqrstuvwxyz012345' },
    ],
    status_page: [{ id: 1, slug: 'main', title: 'Main', icon: '/icon.svg', theme: 'dark' }],
    group: [{ id: 1, name: 'All', weight: 1, status_page_id: 1 }],
    monitor_group: [
      { monitor_id: 1, group_id: 1, weight: 1 },
      { monitor_id: 2, group_id: 1, weight: 2 },
    ],
    heartbeat: [1, 2].flatMap((monitor_id) => [
      { monitor_id, status: 1, msg: 'OK', time: time(now - 6 * hour), important: 1 },
      { monitor_id, status: 0, msg: 'gone', time: time(now - 3 * hour), important: 1 },
    ]),
  });
  await using rig = await openUptime({ clock: createFakeClock(now) });
  try {
    expect((await send(rig, readFileSync(file))).status).toBe(200);
    const countOutages = async () =>
      (await rig.call<{ rows: { outages: number }[] }>('GET', '/api/report?days=1&target=95')).rows.map(
        (row) => row.outages,
      );
    // The ongoing outage is a single one, also before the first check here.
    expect(await countOutages()).toEqual([1, 1]);
    await fetch(`${rig.url}/api/push/abcdefghijklmnopqrstuvwxyz012345?status=down`);
    const { items } = await rig.call<{ items: Monitor[] }>('GET', '/api/monitors');
    await vi.waitUntil(async () =>
      (await Promise.all(items.map(({ id }) => rig.beats(id)))).every(
        (beats) => (beats.at(-1)?.time ?? '') >= time(now),
      ),
    );
    const began = new Date(now - 3 * hour).toUTCString();
    const feed = async () => (await fetch(`${rig.url}/status/main/rss`)).text();
    await expect
      .poll(async () => (await feed()).match(/<pubDate>[^<]+/g))
      .toEqual([`<pubDate>${began}`, `<pubDate>${began}`]);
    for (const { id } of items) {
      expect(await rig.call('GET', `/api/monitors/${String(id)}`)).toMatchObject({
        state: { status: 0, since: now - 3 * hour },
      });
    }
    expect(await countOutages()).toEqual([1, 1]);
    const { items: incidents } = await rig.call<{ items: { startedAt: number }[] }>('GET', '/api/incidents');
    expect(incidents.map(({ startedAt }) => startedAt)).toEqual(incidents.map(() => now - 3 * hour));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it('continues an imported outage without a gap', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kuma-'));
  const file = join(folder, 'kuma.db');
  writeKumaDatabase(file, {
    user: [{ id: 1, username: 'kuma', password: '$2a$10$secret' }],
    monitor: [
      {
        id: 1,
        name: 'job',
        type: 'push',
        interval: 60,
        active: 1,
        user_id: 1,
        push_token: 'abcdefghijklmnopqrstuvwxyz012345',
      },
    ],
    heartbeat: [180, 120].map((ago) => ({
      monitor_id: 1,
      status: 0,
      msg: 'gone',
      time: time(now - ago * 1000),
      important: 0,
    })),
  });
  await using rig = await openUptime({ clock: createFakeClock(now) });
  try {
    expect((await send(rig, readFileSync(file))).status).toBe(200);
    await fetch(`${rig.url}/api/push/abcdefghijklmnopqrstuvwxyz012345?status=down`);
    expect((await rig.call<{ rows: unknown[] }>('GET', '/api/report?days=1&target=95')).rows).toMatchObject([
      { downSeconds: 180 },
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Writes a database of Uptime Kuma 2 with data of every kind. */
function writeFullDatabase(file: string): void {
  const quiet = { interval: 3600, active: 1 };
  const stat = (monitor_id: number, timestamp: number, up: number, down: number) => ({
    monitor_id,
    timestamp: timestamp / 1000,
    ping: up === 0 ? 0 : 40,
    up,
    down,
    ping_min: 10,
    ping_max: 90,
  });
  writeKumaDatabase(file, {
    user: [{ id: 1, username: 'kuma', password: '$2a$10$secret' }],
    docker_host: [{ id: 3, user_id: 1, docker_daemon: '/var/run/docker.sock', docker_type: 'socket', name: 'nas' }],
    proxy: [
      {
        id: 1,
        user_id: 1,
        protocol: 'http',
        host: 'proxy.lan',
        port: 3128,
        auth: 1,
        username: 'kuma',
        password: 'proxysecret',
      },
    ],
    monitor: [
      {
        id: 5,
        name: 'shop',
        type: 'http',
        url: 'http://127.0.0.1:1/',
        ...quiet,
        active: 0,
        parent: 9,
        basic_auth_user: 'u',
        basic_auth_pass: 'hush',
        accepted_statuscodes_json: '["200-299","301"]',
        retry_interval: 30,
        maxretries: 2,
        upside_down: 0,
        expiry_notification: 1,
        proxy_id: 1,
        headers: '{"X-A":"b"}',
        user_id: 1,
        http_body_encoding: 'json',
      },
      { id: 6, name: 'box', type: 'docker', ...quiet, active: 0, docker_host: 3, docker_container: 'web', timeout: 48 },
      { id: 7, name: 'job', type: 'push', ...quiet, push_token: 'abcdefghijklmnopqrstuvwxyz012345' },
      {
        id: 8,
        name: 'game',
        type: 'gamedig',
        ...quiet,
        hostname: 'mc.test',
        port: 25565,
        game: 'minecraft',
        gamedig_given_port_only: 0,
        kafka_producer_brokers: '["a:1"]',
      },
      { id: 9, name: 'all', type: 'group', ...quiet },
      { id: 10, name: null, type: 'http', url: 'http://x', ...quiet },
    ],
    tag: [{ id: 2, name: 'site', color: '#112233' }],
    monitor_tag: [{ monitor_id: 5, tag_id: 2, value: 'berlin' }],
    notification: [{ id: 4, name: 'My bot', config: '{"type":"telegram","telegramBotToken":"botsecret"}' }],
    monitor_notification: [{ monitor_id: 5, notification_id: 4 }],
    status_page: [
      {
        id: 1,
        slug: 'main',
        title: 'Main',
        description: 'All *of* it',
        icon: '/icon.svg',
        theme: 'dark',
        custom_css: 'b{}',
        show_powered_by: 0,
        show_tags: 1,
      },
    ],
    status_page_cname: [{ status_page_id: 1, domain: 'status.example.org' }],
    group: [
      { id: 2, name: 'Second', weight: 2, status_page_id: 1 },
      { id: 1, name: 'First', weight: 1, status_page_id: 1 },
    ],
    monitor_group: [
      { monitor_id: 7, group_id: 1, weight: 2 },
      { monitor_id: 5, group_id: 1, weight: 1, send_url: 1, custom_url: 'https://shop.example' },
    ],
    incident: [
      {
        title: 'Old trouble',
        content: 'Disks',
        style: 'warning',
        created_date: '2026-11-01 10:00:00',
        status_page_id: 1,
      },
    ],
    maintenance: [
      {
        id: 1,
        title: 'Nightly',
        description: '',
        strategy: 'recurring-weekday',
        start_date: '2026-01-01 00:00:00',
        start_time: '02:00',
        end_time: '03:30',
        weekdays: '[1,3]',
        cron: '0 2 * * 1,3',
        duration: 5400,
      },
      {
        id: 2,
        title: 'Cron',
        description: '',
        strategy: 'cron',
        cron: '30 3 * * *',
        duration: 3600,
        timezone: 'Asia/Tokyo',
      },
    ],
    monitor_maintenance: [{ monitor_id: 5, maintenance_id: 1 }],
    maintenance_status_page: [{ status_page_id: 1, maintenance_id: 1 }],
    api_key: [{ key: '$2a$10$keysecret', name: 'prometheus' }],
    setting: [{ key: 'serverTimezone', value: '"Europe/Berlin"' }],
    heartbeat: [
      { monitor_id: 5, status: 1, msg: '200 - OK', time: time(now - 40 * 24 * hour), ping: 12, important: 1 },
      { monitor_id: 5, status: 1, msg: '200 - OK', time: time(now - 39 * 24 * hour), ping: 12 },
      { monitor_id: 5, status: 0, msg: 'gone', time: time(now - 2 * hour), important: 1 },
      { monitor_id: 5, status: 1, msg: '200 - OK', time: time(now - hour), ping: 14, important: 1 },
      { monitor_id: 7, status: 0, msg: 'late', time: time(now - 4 * hour), important: 1 },
      { monitor_id: 7, status: 1, msg: 'OK', time: time(now - 3 * hour), important: 1 },
      { monitor_id: 7, status: 1, msg: 'OK', time: time(now - 2 * hour) },
    ],
    stat_hourly: [stat(5, now - 2.5 * hour, 45, 15), stat(5, now - 0.5 * hour, 30, 0)],
    stat_daily: [stat(5, day(3), 90, 10), stat(5, day(2), 100, 0), stat(5, day(0), 50, 50)],
  });
}

describe('import of a kuma.db of Uptime Kuma 2', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kuma-'));
  let rig: UptimeRig;
  let status = 0;
  let text = '';
  let by: Readonly<Record<string, Monitor | undefined>> = {};
  let shop = 0;
  beforeAll(async () => {
    const file = join(folder, 'kuma.db');
    writeFullDatabase(file);
    rig = await openUptime({ clock: createFakeClock(now) });
    const reply = await send(rig, readFileSync(file));
    [status, text] = [reply.status, await reply.text()];
    const { items } = await rig.call<{ items: Monitor[] }>('GET', '/api/monitors');
    by = Object.fromEntries(items.map((monitor) => [monitor.name, monitor]));
    shop = by['shop']?.id ?? 0;
  });
  afterAll(async () => {
    await rig[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  it('reports what it imported and skipped, without secrets and leftovers', () => {
    expect([status, JSON.parse(text)]).toEqual([
      200,
      {
        ...{ monitors: 5, tags: 1, dockerHosts: 1, proxies: 1, statusPages: 1, maintenances: 2 },
        notifications: [{ name: 'My bot', type: 'telegram', monitors: 1 }],
        skipped: [
          { what: 'apiKey', name: 'prometheus', why: expect.any(String) },
          { what: 'option', name: 'game', why: expect.stringContaining('gamedig aren’t supported') },
          { what: 'monitor', name: '', why: expect.stringContaining('name') },
        ],
      },
    ]);
    expect(text + rig.host.log.join()).not.toMatch(/secret|hush/);
    expect(
      readdirSync(rig.host.dataDir, { recursive: true }).filter((name) => String(name).includes('import-')),
    ).toEqual([]);
  });

  it('imports proxies with their sign-in, for the monitors that use them', async () => {
    const { items } = await rig.call<{ items: { id: number }[] }>('GET', '/api/proxies');
    expect(items).toMatchObject([
      { protocol: 'http', host: 'proxy.lan', port: 3128, auth: true, username: 'kuma', hasPassword: true },
    ]);
    expect(by['shop']?.proxyId).toBe(items[0]?.id);
  });

  it('imports monitors with their options', async () => {
    expect(by['shop']).toMatchObject({
      active: false,
      parent: by['all']?.id,
      accepted_statuscodes: ['200-299', '301'],
      retryInterval: 30,
      maxretries: 2,
      upsideDown: false,
      expiryNotification: true,
      headers: '{"X-A":"b"}',
      secrets: ['basic_auth_pass'],
    });
    const { items: engines } = await rig.call<{ items: { id: number; name: string }[] }>('GET', '/api/docker-hosts');
    expect(by['box']).toMatchObject({ docker_host: engines[0]?.id, docker_container: 'web', timeout: 48 });
    expect(by['game']).toMatchObject({
      type: 'gamedig',
      game: 'minecraft',
      gamedigGivenPortOnly: false,
      kafkaProducerBrokers: ['a:1'],
    });
  });

  it('imports status pages and maintenances', async () => {
    expect(await rig.call('GET', '/api/status-pages/main')).toMatchObject({
      ...{ theme: 'dark', customCSS: 'b{}', showPoweredBy: false, showTags: true },
      domainNameList: ['status.example.org'],
      publicGroupList: [
        {
          name: 'First',
          monitorList: [{ id: shop, sendUrl: true, url: 'https://shop.example' }, { id: by['job']?.id }],
        },
        { name: 'Second', monitorList: [] },
      ],
      incidents: [{ title: 'Old trouble', createdDate: '2026-11-01 10:00:00', pin: true, active: true }],
    });
    const { items: windows } = await rig.call<{ items: object[] }>('GET', '/api/maintenances');
    expect(windows).toMatchObject([
      { title: 'Nightly', weekdays: [1, 3], duration: 5400, timezone: 'Europe/Berlin', monitors: [shop] },
      { title: 'Cron', cron: '30 3 * * *', durationMinutes: 60, timezone: 'Asia/Tokyo' },
    ]);
  });

  it('imports state changes and the heartbeats of the last day', async () => {
    // The import contains state changes, and single heartbeats of the last day.
    expect((await rig.beats(shop)).map(({ status, msg, time: beatTime }) => [status, msg, beatTime])).toEqual([
      [1, '200 - OK', time(now - 40 * 24 * hour)],
      [0, 'gone', time(now - 2 * hour)],
      [1, '200 - OK', time(now - hour)],
    ]);
    const { services } = await api<{ services: { id: string; detail: string }[] }>(
      rig.host.url('control'),
      '/api/services',
    );
    // A monitor without a check here is not reported as up.
    expect(services.find(({ id }) => id === 'uptime')?.detail).toMatch(/^3 monitors, [123] not checked yet$/);
  });

  it('imports outages that ended before the import', async () => {
    // Outages that ended before the import are listed as well.
    const { items: countOutages } = await rig.call<{ items: object[] }>('GET', '/api/incidents');
    expect(countOutages).toMatchObject([
      { monitorIds: [shop], startedAt: now - 2 * hour, resolvedAt: now - hour, cause: 'gone' },
      { monitorIds: [by['job']?.id], startedAt: now - 4 * hour, resolvedAt: now - 3 * hour, cause: 'late' },
    ]);
  });

  it('imports the statistics of hours and days', async () => {
    const { items: points } = await rig.call<{ items: object[] }>(
      'GET',
      `/api/monitors/${String(shop)}/chart?hours=8760`,
    );
    expect(points.slice(0, 2)).toMatchObject([
      { timestamp: day(3) / 1000, up: 90, down: 10, avgPing: 40 },
      { timestamp: day(2) / 1000, up: 100, down: 0 },
    ]);
    // The two hours before the last two are compared by hour.
    const { previous } = await rig.call<{ previous: object[] }>('GET', `/api/monitors/${String(shop)}/chart?hours=2`);
    expect(previous).toMatchObject([{ up: 45, down: 15, avgPing: 40 }]);
    const facts = await rig.call<{ uptime: { day: number; year: number } }>(
      'GET',
      `/api/monitors/${String(shop)}/facts`,
    );
    expect(facts.uptime.day).toBeGreaterThan(0.7);
    expect(facts.uptime.year).toBeLessThan(1);
  });

  it('continues push monitors with their address and the time of their last change', async () => {
    expect(await (await fetch(`${rig.url}/api/push/abcdefghijklmnopqrstuvwxyz012345`)).json()).toEqual({ ok: true });
    // The monitor has been up since the time that Uptime Kuma recorded.
    expect(await rig.call('GET', `/api/monitors/${String(by['job']?.id)}`)).toMatchObject({
      state: { status: 1, since: now - 3 * hour },
    });
  });
});

it('rejects other and damaged databases without leftovers', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kuma-'));
  await using rig = await openUptime();
  try {
    const file = join(folder, 'kuma.db');
    writeKumaDatabase(file, {
      monitor: Array.from({ length: 300 }, (_, index) => ({ name: `m${String(index)}`, type: 'group' })),
    });
    const original = readFileSync(file);
    const broken = Buffer.from(original);
    broken.fill(0xff, 4096);
    const other = join(folder, 'other.db');
    const { default: Sqlite } = await import('better-sqlite3');
    new Sqlite(other).exec('CREATE TABLE x (y); CREATE VIEW monitor AS SELECT 1 AS id').close();
    for (const bytes of [
      broken,
      original.subarray(0, 5000),
      readFileSync(other),
      Buffer.from('SQLite format 3\0'),
      'hello',
      '[1',
      '1',
    ]) {
      const reply = await send(rig, bytes);
      expect([reply.status, await reply.json()]).toEqual([400, { ok: false, msg: expect.any(String) }]);
    }
    await vi.waitUntil(async () => (await rig.call<{ total: number }>('GET', '/api/monitors')).total === 0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it('reads a kuma.db without blocking the event loop', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kuma-'));
  const file = join(folder, 'kuma.db');
  writeKumaDatabase(file, { monitor: [{ id: 5, name: 'shop', type: 'http', url: 'http://127.0.0.1:1/' }] });
  // A reader waits for this lock, which the event loop releases: a reader on the event loop would wait forever.
  const lock = new Sqlite(file);
  lock.pragma('journal_mode = DELETE');
  lock.exec('BEGIN EXCLUSIVE');
  setTimeout(() => lock.exec('COMMIT'), 100);
  await using database = await openKumaBackup(file);
  expect(database.source.monitors).toMatchObject([{ id: 5, name: 'shop' }]);
  lock.close();
  rmSync(folder, { recursive: true });
});
