import * as problems from '#messages/uptime-problems';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ReportRow, UptimeExport } from '../../../services/contracts/uptime/manage.ts';
import type { Monitor } from '../../../services/contracts/uptime/views.ts';
import { createFakeClock } from '../../support/clock.ts';
import { openUptime, type UptimeRig } from './rig.ts';

let rig: UptimeRig;
beforeAll(async () => {
  rig = await openUptime();
});
afterAll(() => rig[Symbol.asyncDispose]());

/** Backup file of Uptime Kuma 1.23 ("Export Backup"). */
const backup = {
  version: '1.23.16',
  notificationList: [{ id: 1, name: 'ntfy', type: 'ntfy' }],
  proxyList: [],
  monitorList: [
    {
      id: 12,
      name: 'inner',
      type: 'http',
      url: 'http://127.0.0.1:1/',
      parent: 30,
      interval: 3600,
      maxretries: 2,
      accepted_statuscodes: ['200-299'],
      active: 1,
      notificationIDList: { 1: true },
      basic_auth_pass: 'hush',
      tags: [{ id: 4, monitor_id: 12, tag_id: 7, value: 'berlin', name: 'site', color: '#112233' }],
      path: ['all', 'inner'],
      childrenIDs: [],
      includeSensitiveData: true,
    },
    { id: 30, name: 'all', type: 'group', interval: 3600, active: true, tags: [], parent: null },
    {
      id: 31,
      name: 'game',
      type: 'gamedig',
      game: 'minecraft',
      hostname: 'mc.test',
      port: 25565,
      gamedigGivenPortOnly: false,
      interval: 3600,
      active: true,
      tags: [],
    },
    {
      id: 32,
      name: 'backup',
      type: 'push',
      pushToken: 'Abc123',
      interval: 3600,
      active: false,
      upsideDown: false,
      tags: [],
    },
    { id: 33, name: '', type: 'http', url: 'http://x' },
  ],
};

describe('backup of Uptime Kuma', () => {
  it('imports groups, tags, tokens and unknown types and reports invalid entries', async () => {
    expect(await rig.call('POST', '/api/import', backup)).toEqual({
      ...{ monitors: 4, tags: 1, dockerHosts: 0, proxies: 0, statusPages: 0, maintenances: 0 },
      notifications: [{ name: 'ntfy', type: 'ntfy', monitors: 1 }],
      skipped: [
        { what: 'option', name: 'game', why: expect.stringContaining('gamedig aren’t supported') },
        { what: 'monitor', name: '', why: expect.stringContaining('name') },
      ],
    });
    const { items } = await rig.call<{ items: Monitor[] }>('GET', '/api/monitors');
    const by = Object.fromEntries(items.map((monitor) => [monitor.name, monitor]));
    expect(by['inner']).toMatchObject({
      parent: by['all']?.id,
      maxretries: 2,
      secrets: ['basic_auth_pass'],
      notificationIDList: { 1: true },
    });
    const { items: tags } = await rig.call<{ items: { id: number }[] }>('GET', '/api/tags');
    expect(tags).toEqual([{ id: expect.any(Number), name: 'site', color: '#112233' }]);
    expect(by['inner']?.['tags']).toEqual([{ tag_id: tags[0]?.id, value: 'berlin' }]);
    expect(by['game']).toMatchObject({ type: 'gamedig', game: 'minecraft', gamedigGivenPortOnly: false });
    expect(by['backup']?.active).toBe(false);
    await rig.call('POST', `/api/monitors/${String(by['backup']?.id)}/resume`);
    expect(await (await fetch(`${rig.url}/api/push/Abc123`)).json()).toEqual({ ok: true });
    // A repeated import skips the existing token and adds the rest again.
    const secondImport = await rig.call<{ monitors: number; tags: number; skipped: object[] }>(
      'POST',
      '/api/import',
      backup,
    );
    expect(secondImport).toMatchObject({ monitors: 3, tags: 0 });
    expect(secondImport.skipped).toHaveLength(3);
    const none = await rig.raw('POST', '/api/import', { hello: 1 });
    expect([none.status, await none.json()]).toEqual([400, { ok: false, msg: problems.backupWithoutMonitors() }]);
  });

  it('exports everything except secrets for another computer', async () => {
    await rig.call('POST', '/api/docker-hosts', { name: 'nas', dockerType: 'tcp', dockerDaemon: 'tcp://nas:2375' });
    const { items } = await rig.call<{ items: Monitor[] }>('GET', '/api/monitors');
    const host = items.find(({ name }) => name === 'game');
    const guest = await rig.add({ type: 'manual', name: 'guest', interval: 3600, dependsOn: [host?.id] });
    const page = await rig.call<{ id: number }>('POST', '/api/status-pages', { slug: 'main', title: 'Main' });
    await rig.call('PUT', '/api/status-pages/main', {
      publicGroupList: [{ name: 'G', monitorList: [{ id: guest.id }] }],
      theme: 'dark',
    });
    await rig.call('POST', '/api/maintenances', {
      title: 'w',
      strategy: 'cron',
      cron: '0 3 * * *',
      monitors: [guest.id],
      statusPages: [page.id],
    });
    const text = await (await rig.raw('GET', '/api/export')).text();
    expect(text).not.toMatch(/hush|Abc123/);
    const document = JSON.parse(text) as UptimeExport;
    await using other = await openUptime();
    await other.add({ type: 'group', name: 'first here', interval: 3600 });
    expect(await other.call('POST', '/api/import', document)).toEqual({
      ...{
        monitors: document.monitors.length,
        tags: 1,
        dockerHosts: 1,
        proxies: 0,
        statusPages: 1,
        maintenances: 1,
        notifications: [],
        skipped: document.monitors
          .filter(({ type }) => type === 'gamedig')
          .map(() => ({ what: 'option', name: 'game', why: expect.stringContaining('gamedig aren’t supported') })),
      },
    });
    const moved = (await other.call<{ items: Monitor[] }>('GET', '/api/monitors')).items;
    const id = (name: string) => moved.find((monitor) => monitor.name === name)?.id;
    expect(moved.find(({ name }) => name === 'guest')).toMatchObject({ dependsOn: [id('game')] });
    expect(await other.call('GET', '/api/status-pages/main')).toMatchObject({
      theme: 'dark',
      publicGroupList: [{ name: 'G', monitorList: [{ id: id('guest') }] }],
    });
    expect(await other.call('GET', '/api/maintenances')).toMatchObject({
      items: [{ title: 'w', monitors: [id('guest')] }],
    });
  });
});

it('edits, pauses and removes several monitors and reports failures', async () => {
  const ids: number[] = [];
  for (const name of ['a', 'b', 'c']) ids.push((await rig.add({ type: 'manual', name, interval: 3600 })).id);
  const edit = (body: object) => rig.call('POST', '/api/monitors/bulk-edit', body);
  expect(await edit({ ids: [...ids, 99_999], change: { interval: 120, active: false } })).toEqual({
    done: 3,
    failed: [{ id: 99_999, error: problems.monitorNotFound() }],
  });
  expect(await rig.call('GET', `/api/monitors/${String(ids[1])}`)).toMatchObject({
    interval: 120,
    active: false,
    name: 'b',
  });
  expect(await edit({ ids, change: { interval: -1 } })).toMatchObject({ done: 0, failed: [{}, {}, {}] });
  expect(await edit({ ids: ids.slice(1), remove: true })).toEqual({ done: 2, failed: [] });
  expect((await rig.raw('GET', `/api/monitors/${String(ids[2])}`)).status).toBe(404);
});

it('orders several monitors together, or none', async () => {
  const ids: number[] = [];
  for (const name of ['first', 'second']) ids.push((await rig.add({ type: 'manual', name, interval: 3600 })).id);
  const [first = 0, second = 0] = ids;
  const readWeights = () =>
    Promise.all(ids.map(async (id) => (await rig.call<Monitor>('GET', `/api/monitors/${String(id)}`)).weight));
  const weights = [
    { id: first, weight: 10 },
    { id: second, weight: 20 },
  ];
  expect(await rig.call('POST', '/api/monitors/order', { weights })).toEqual({ ok: true });
  expect(await readWeights()).toEqual([10, 20]);
  const unknown = await rig.raw('POST', '/api/monitors/order', {
    weights: [
      { id: first, weight: 30 },
      { id: 99_999, weight: 10 },
    ],
  });
  expect(unknown.status).toBe(404);
  expect(await readWeights()).toEqual([10, 20]);
});

it('counts an ongoing outage up to now in a report', async () => {
  const clock = createFakeClock(Date.parse('2026-02-01T00:00:00Z'));
  await using clockRig = await openUptime({ clock });
  await clockRig.add({ type: 'push', name: 'job', pushToken: 'r', interval: 300 });
  for (const status of ['up', 'down']) {
    clock.advance(60_000);
    await fetch(`${clockRig.url}/api/push/r?status=${status}`);
  }
  clock.advance(30_000);
  const { rows } = await clockRig.call<{ rows: ReportRow[] }>('GET', '/api/report?days=1&target=95');
  expect(rows).toMatchObject([{ downSeconds: 30, knownSeconds: 90, outages: 1 }]);
});

it('reports the error budget, also as CSV without formulas', async () => {
  const clock = createFakeClock(Date.parse('2026-02-01T00:00:00Z'));
  await using clockRig = await openUptime({ clock });
  const { id } = await clockRig.add({ type: 'push', name: '=cmd|"x", and more', pushToken: 'r', interval: 300 });
  const push = async (minutes: number, status: string) => {
    for (let passed = 0; passed < minutes; passed += 1) {
      clock.advance(60_000);
      await fetch(`${clockRig.url}/api/push/r?status=${status}&ping=10`);
    }
  };
  await push(91, 'up');
  await push(9, 'down');
  await push(1, 'up');
  const { rows } = await clockRig.call<{ rows: ReportRow[] }>('GET', '/api/report?days=1&target=95');
  expect(rows).toEqual([
    {
      ...{ id, name: '=cmd|"x", and more', uptime: expect.closeTo(0.91, 5), downSeconds: 540, knownSeconds: 6000 },
      ...{ outages: 1, avgPing: 10, budgetSeconds: 300, budgetLeftSeconds: -240, meets: false },
    },
  ]);
  const csv = await clockRig.raw('GET', '/api/report.csv?days=1&target=90');
  expect(csv.headers.get('content-type')).toContain('text/csv');
  const [head, line] = (await csv.text()).split('\r\n');
  expect(head).toBe('id,name,uptime,downSeconds,knownSeconds,outages,avgPing,budgetSeconds,budgetLeftSeconds,meets');
  expect(line).toMatch(/^\d+,"'=cmd\|""x"", and more",0\.91\d*,540,6000,1,10,600,60,true$/);
  expect((await fetch(`${clockRig.url}/api/report.csv`)).status).toBe(401);
  // Seven days, a month and a year have the same data.
  expect(await clockRig.call('GET', `/api/monitors/${String(id)}/facts`)).toMatchObject({
    uptime: {
      day: expect.closeTo(0.91, 2),
      week: expect.closeTo(0.91, 2),
      month: expect.closeTo(0.91, 2),
      year: expect.closeTo(0.91, 2),
    },
  });
});

it('provisions and removes the entries of settings and environment', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'uptime-'));
  const file = join(dataDir, 'homeport.yaml');
  const yaml = `services:
  uptime:
    monitors:
      - { name: inside, type: manual, manual_status: 1, interval: 3600, parent: all }
      - { name: all, type: group, interval: 3600 }
      - { name: wrong, type: http }
    statusPages:
      - { slug: main, title: Main, theme: dark, groups: [{ name: Group, monitors: [inside] }] }
    maintenances:
      - { title: Updates, strategy: cron, cron: '0 3 * * 0', monitors: [all], statusPages: [main] }
`;
  try {
    let inside: number;
    {
      writeFileSync(file, yaml);
      await using firstRig = await openUptime({ dataDir });
      const { items } = await firstRig.call<{ items: Monitor[] }>('GET', '/api/monitors');
      expect(items.map(({ name }) => name)).toEqual(['all', 'inside']);
      inside = items[1]?.id ?? 0;
      expect(items[1]?.parent).toBe(items[0]?.id);
      expect(await firstRig.call('GET', '/api/status-pages/main')).toMatchObject({
        theme: 'dark',
        publicGroupList: [{ name: 'Group', monitorList: [{ id: inside }] }],
      });
      expect(await firstRig.call('GET', '/api/maintenances')).toMatchObject({
        items: [{ title: 'Updates', monitors: [items[0]?.id] }],
      });
      expect(firstRig.host.log.some((line) => line.includes('wrong') && line.includes('url'))).toBe(true);
      await firstRig.add({ type: 'manual', name: 'by hand', interval: 3600 });
      await firstRig.until(inside, 1);
    }
    {
      writeFileSync(file, yaml.replace(/ {6}- { name: all.*\n/, '').replace(', parent: all', ''));
      const UPTIME_MONITORS = JSON.stringify([{ name: 'inside', type: 'manual', manual_status: 0, interval: 3600 }]);
      await using declaredRig = await openUptime({ dataDir, environment: { UPTIME_MONITORS } });
      const { items } = await declaredRig.call<{ items: Monitor[] }>('GET', '/api/monitors');
      expect(items.map(({ name, parent, id }) => [name, parent, id === inside])).toEqual([
        ['inside', null, true],
        ['by hand', null, false],
      ]);
      expect(await declaredRig.call<{ items: object[] }>('GET', '/api/maintenances')).toMatchObject({
        items: [{ title: 'Updates' }],
      });
      await declaredRig.until(inside, 0);
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

it('does not leave a page public whose provisioned restriction is invalid', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'uptime-'));
  const writePage = (fields: string): void =>
    writeFileSync(
      join(dataDir, 'homeport.yaml'),
      `services: { uptime: { statusPages: [{ slug: main, title: Main, ${fields} }] } }\n`,
    );
  try {
    for (const [fields, access] of [
      ['access: everyone', 'everyone'],
      ["access: password, password: ''", 'accounts'],
      ['access: password, password: blue harbor lamp', 'password'],
      ["access: password, password: ''", 'password'],
      ['access: everyone', 'everyone'],
      ['access: unknown', 'accounts'],
    ] as const) {
      writePage(fields);
      await using rig = await openUptime({ dataDir });
      expect(await rig.call('GET', '/api/status-pages/main')).toMatchObject({ access });
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});
