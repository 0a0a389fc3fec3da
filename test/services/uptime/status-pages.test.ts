import * as texts from '#messages/uptime-texts';
import * as problems from '#messages/uptime-problems';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { inbox } from '../../../services/inbox/index.ts';
import { notify } from '../../../services/notify/index.ts';
import { push } from '../../../services/push/index.ts';
import { uptime } from '../../../services/uptime/index.ts';
import { adminAuthorization } from '../../support/host.ts';
import { openMailServer } from '../../support/mail-server.ts';
import { openUptime, type UptimeRig } from './rig.ts';

let rig: UptimeRig;
beforeAll(async () => {
  rig = await openUptime({ services: [uptime, push, notify, inbox, control] });
});
afterAll(() => rig[Symbol.asyncDispose]());

async function addPage(slug: string, monitors: readonly number[], overrides: object = {}) {
  await rig.call('POST', '/api/status-pages', { slug, title: `Page ${slug}` });
  const publicGroupList = [{ name: 'All', monitorList: monitors.map((id) => ({ id })) }];
  return rig.call<{ id: number }>('PUT', `/api/status-pages/${slug}`, { publicGroupList, ...overrides });
}

const addJob = (name: string, status = 1) => rig.add({ type: 'manual', name, manual_status: status, interval: 3600 });
const set = (id: number, manual_status: number) => rig.call('PATCH', `/api/monitors/${String(id)}`, { manual_status });

/** Sends a request with another host name. */
function askAs(host: string, path: string): Promise<{ status: number | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(rig.url + path, { headers: { host } }, (response) => {
      let text = '';
      response.on('data', (part: Buffer) => (text += part.toString()));
      response.on('end', () => resolve({ status: response.statusCode, text }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

it('lists outages with their timeline and without causes', async () => {
  const job = await addJob('Mail');
  const other = await addJob('Secret', 0);
  await addPage('outages', [job.id]);
  await set(job.id, 0);
  await rig.until(job.id, 0);
  await rig.events('down', job.id);
  await rig.events('down', other.id);
  const html = async () => (await fetch(`${rig.url}/status/outages`)).text();
  expect(await html()).toMatch(/Mail<\/span><span class="word w0">Down now/);
  // Times are formatted in the server's time zone, which is included.
  expect(await html()).toMatch(/Down since <time datetime="[^"]+Z">\w{3}, \w{3} \d+, \d\d:\d\d \S+<\/time>/);
  const { items } = await rig.call<{ items: { id: number }[] }>('GET', `/api/incidents?monitor=${String(job.id)}`);
  await rig.call('POST', `/api/incidents/${String(items[0]?.id)}/ack`);
  await rig.call('POST', `/api/incidents/${String(items[0]?.id)}/notes`, { text: 'the admin password is wrong' });
  expect(await html()).toContain('Acknowledged <time');
  await set(job.id, 1);
  await rig.events('up', job.id);
  expect(await html()).toMatch(/Mail<\/span><span class="word w1">Resolved/);
  const statusPage = await (await fetch(`${rig.url}/api/status-page/outages`)).json();
  expect(statusPage).toMatchObject({
    outages: [{ monitorIds: [job.id], resolvedAt: expect.stringMatching(/^\d{4}-/) }],
  });
  for (const text of [await html(), JSON.stringify(statusPage)])
    expect(text).not.toMatch(/password|Secret|Set by hand/);
  await rig.call('PUT', '/api/status-pages/outages', { showOutages: false });
  expect(await html()).not.toContain(texts.outagesTitle());
});

it('lists an outage once in the feed despite a pause or maintenance', async () => {
  const job = await addJob('Boiler', 0);
  await addPage('feed', [job.id]);
  await rig.until(job.id, 0);
  const monitorPath = `/api/monitors/${String(job.id)}`;
  const readFeed = async () =>
    /<guid[^>]*>(m[^<]+)<[^]*<pubDate>([^<]+)<[^]*(has been down since [^\]]+)/
      .exec(await (await fetch(`${rig.url}/status/feed/rss`)).text())
      ?.slice(1);
  const first = await readFeed();
  expect(first).toHaveLength(3);
  const beats = (await rig.beats(job.id)).length;
  await rig.call('POST', `${monitorPath}/pause`);
  await rig.call('POST', `${monitorPath}/resume`);
  expect(await readFeed()).toEqual(first);
  await vi.waitUntil(async () => (await rig.beats(job.id)).length > beats);
  expect(await readFeed()).toEqual(first);
  const window = await rig.call<{ id: number }>('POST', '/api/maintenances', {
    title: 'Service',
    strategy: 'manual',
    active: true,
    monitors: [job.id],
  });
  await rig.until(job.id, 3);
  expect(await readFeed()).toBeUndefined();
  await rig.call('DELETE', `/api/maintenances/${String(window.id)}`);
  await rig.until(job.id, 0);
  expect(await readFeed()).toEqual(first);
});

it('changes only the given fields of pages and notes', async () => {
  const names = { domainNameList: ['kept.example.org'], theme: 'dark', footerText: 'By the harbour' };
  await addPage('kept', [], names);
  await rig.call('PUT', '/api/status-pages/kept', { published: false });
  expect(await rig.call('GET', '/api/status-pages/kept')).toMatchObject({ ...names, published: false });
  const incidentsPath = '/api/status-pages/kept/incidents';
  const { id } = await rig.call<{ id: number }>('POST', incidentsPath, {
    title: 'Move',
    content: 'To new disks.',
    style: 'danger',
  });
  const changed = await rig.call('PATCH', `${incidentsPath}/${String(id)}`, { pin: false });
  expect(changed).toMatchObject({ title: 'Move', content: 'To new disks.', style: 'danger', pin: false });
});

it('shows the logo and the accent color, with a readable button', async () => {
  await addPage('branded', []);
  const logo = `data:image/svg+xml;base64,${Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString('base64')}`;
  await rig.call('PUT', '/api/status-pages/branded', { logo, accentColor: '#ffd400' });
  const html = async () => (await fetch(`${rig.url}/status/branded`)).text();
  expect(await html()).toContain(`<img class="logo" src="${logo}" alt="">`);
  expect(await html()).toContain('--accent:#ffd400;--on:#000');
  await rig.call('PUT', '/api/status-pages/branded', { accentColor: '#0e7490' });
  expect(await html()).toContain('--accent:#0e7490;--on:#fff');
  // Clients of Uptime Kuma know neither.
  const { config } = (await (await fetch(`${rig.url}/api/status-page/branded`)).json()) as { config: object };
  expect(Object.keys(config)).not.toContain('logo');
  for (const invalid of [
    { logo: 'https://example.org/logo.png' },
    { logo: 'data:text/html;base64,PGI+' },
    { logo: 'data:image/png;base64,"onerror="' },
    { accentColor: 'red;}body{display:none' },
  ]) {
    expect((await rig.raw('PUT', '/api/status-pages/branded', invalid)).status, JSON.stringify(invalid)).toBe(400);
  }
});

it('lists resolved notes below the current ones', async () => {
  await addPage('past', []);
  const incidentsPath = '/api/status-pages/past/incidents';
  const { id } = await rig.call<{ id: number }>('POST', incidentsPath, {
    title: 'New disks',
    content: 'All **well**.',
  });
  const html = async () => (await fetch(`${rig.url}/status/past`)).text();
  expect(await html()).not.toContain(texts.pastNotesTitle());
  await rig.call('PATCH', `${incidentsPath}/${String(id)}`, { pin: false });
  expect(await html()).toMatch(/<section class="past">.*New disks<.*All <strong>well<\/strong>/s);
  expect(await html()).not.toContain('<section class="note');
});

it('lists all notes on the history page, 20 at a time', async () => {
  await addPage('history', []);
  const incidentsPath = '/api/status-pages/history/incidents';
  const titles = async (path: string) =>
    [...(await (await fetch(rig.url + path)).text()).matchAll(/<span class="name">([^<]*)</g)].map(
      ([, title]) => title,
    );
  for (let note = 1; note <= 22; note += 1) await rig.call('POST', incidentsPath, { title: `Note ${String(note)}` });
  const first = await (await fetch(`${rig.url}/status/history/history`)).text();
  expect(await titles('/status/history/history')).toHaveLength(20);
  const older = /href="(\/status\/history\/history\?before=\d+)"/.exec(first)?.[1] ?? '';
  expect(await titles(older)).toEqual(['Note 2', 'Note 1']);
  expect((await fetch(`${rig.url}/status/nosuch/history`)).status).toBe(404);
});

describe('domain name of a status page', () => {
  it('serves the page at its root until the page is deleted', async () => {
    const job = await addJob('Web');
    expect((await askAs('status.example.org', '/')).status).toBe(403);
    await addPage('named', [job.id], { domainNameList: ['Status.Example.org'] });
    const root = await askAs('status.example.org', '/');
    expect([root.status, root.text]).toEqual([200, expect.stringContaining('<title>Page named</title>')]);
    expect(JSON.parse((await askAs('status.example.org:8443', '/api/entry-page')).text)).toEqual({
      type: 'statusPageMatchedDomain',
      statusPageSlug: 'named',
    });
    expect(await (await fetch(`${rig.url}/api/entry-page`)).json()).toEqual({
      type: 'entryPage',
      entryPage: 'dashboard',
    });
    await rig.call('POST', '/api/status-pages', { slug: 'second', title: 'Second' });
    const response = await rig.raw('PUT', '/api/status-pages/second', { domainNameList: ['status.example.org'] });
    expect([response.status, await response.json()]).toEqual([
      409,
      expect.objectContaining({ issues: [{ path: ['domainNameList'], message: problems.domainNameTaken() }] }),
    ]);
    await rig.call('DELETE', '/api/status-pages/named');
    expect((await askAs('status.example.org', '/')).status).toBe(403);
  });
});

it('notifies followers once over push and Delivery', async () => {
  const job = await addJob('Shop');
  await using mail = await openMailServer();
  const url = `mailto://127.0.0.1:${String(mail.port)}?from=status@example.org&to=customer@example.com`;
  const added = await fetch(`${rig.host.url('notify')}/add/aggregator`, {
    method: 'POST',
    headers: { authorization: adminAuthorization, 'content-type': 'application/json' },
    body: JSON.stringify({ config: `customers=${url}`, format: 'text' }),
  });
  expect(added.status).toBe(200);
  const page = await addPage('followed', [job.id], { pushTopic: 'status-shop', notifyTag: 'customers' });
  await set(job.id, 0);
  await rig.events('down', job.id);
  await set(job.id, 1);
  await rig.events('up', job.id);
  await rig.call('POST', '/api/status-pages/followed/incidents', { title: 'New disks', content: 'We swap them.' });
  await rig.call('POST', '/api/maintenances', {
    title: 'Move',
    strategy: 'manual',
    statusPages: [page.id],
    notifyStart: true,
  });
  const messages = await vi.waitUntil(async () => {
    const reply = await fetch(`${rig.host.url('push')}/status-shop/json?poll=1&since=all`, {
      headers: { authorization: adminAuthorization },
    });
    const lines = (await reply.text()).split('\n').filter((line) => line !== '');
    return lines.length >= 4
      ? lines.map((line) => JSON.parse(line) as { title: string; message: string; click?: string })
      : undefined;
  });
  expect(messages.map(({ title }) => title)).toEqual([
    'Page followed: Shop is down',
    'Page followed: Shop is up again',
    'Page followed: New disks',
    'Page followed: Maintenance has started: Move',
  ]);
  expect(messages[0]?.message).toMatch(/^Since \d{4}-\d\d-\d\d \d\d:\d\d UTC\.$/);
  expect(messages[0]?.click).toBe(`${rig.url}/status/followed`);
  expect(JSON.stringify(messages)).not.toContain('Set by hand');
  await vi.waitUntil(() => mail.taken.length >= 4);
  expect(mail.taken.map(({ to }) => to)).toEqual(Array.from({ length: 4 }, () => ['customer@example.com']));
  expect(mail.taken[0]?.source.toString()).toContain('Subject: Page followed: Shop is down');
  const statusPage = JSON.stringify(await (await fetch(`${rig.url}/api/status-page/followed`)).json());
  expect(statusPage).not.toContain('customers');
});
