import * as m from '#messages/downloads-problems';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { io } from 'socket.io-client';
import { registry } from '../../../main/host/services/registry.ts';
import { control } from '../../../services/control/index.ts';
import { downloads } from '../../../services/downloads/index.ts';
import { adminAuthorization } from '../../support/host.ts';
import { inbox } from '../../support/api.ts';
import { createFakeClock } from '../../support/clock.ts';
import { startFixtureSite } from '../../support/fixture-site/site.ts';
import { startHostProcess } from '../../support/host-process.ts';
import { getNextCheck } from '../../../services/downloads/subscriptions/schedule.ts';
import { useRecordedExtractor } from '../../support/recorded-extractor/recorded-extractor.ts';
import { Client, dataFolderWith, openRecordedRig, type Rig } from './rig.ts';

interface Subscription {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly enabled: boolean;
  readonly seen_count: number;
  readonly error: string | null;
  readonly last_checked: number;
}
interface SubscribeResponse {
  readonly status: string;
  readonly msg?: string;
  readonly subscription?: Subscription;
}

async function post(client: Client, path: string, body: object): Promise<SubscribeResponse> {
  return await client.post(path, body);
}

/** Subscribes with `auto_start: false`, so that new videos stay in the pending list. */
async function subscribe(client: Client, url: string, fields: object = {}): Promise<Subscription> {
  const response = await post(client, '/subscribe', {
    url,
    quality: 'best',
    format: 'any',
    auto_start: false,
    ...fields,
  });
  if (response.subscription === undefined) throw new Error(`not subscribed: ${JSON.stringify(response)}`);
  return response.subscription;
}

async function listPending(client: Client, tag: string): Promise<readonly string[]> {
  return (await client.history()).pending.map(({ title }) => title).filter((title) => title.startsWith(tag));
}

let rig: Rig;
let client: Client;
beforeAll(async () => {
  rig = await openRecordedRig({ services: [downloads, control] });
  client = rig.client;
});
afterAll(async () => await rig[Symbol.asyncDispose]());

const find = async (id: string): Promise<Subscription | undefined> =>
  (await client.get<readonly Subscription[]>('/subscriptions')).find((entry) => entry.id === id);

describe('a subscription', () => {
  it('marks existing videos as seen and queues later ones once', async () => {
    const url = rig.site.publish('Once', ['Once 2', 'Once 1']);
    const { id, seen_count } = await subscribe(client, url);
    expect(seen_count).toBe(2);
    await post(client, '/subscriptions/check', { ids: [id] });
    expect(await listPending(client, 'Once')).toEqual([]);

    rig.site.publish('Once', ['Once 4', 'Once 3', 'Once 2', 'Once 1']);
    await Promise.all([
      post(client, '/subscriptions/check', { ids: [id] }),
      post(client, '/subscriptions/check', { ids: [id] }),
    ]);
    await post(client, '/subscriptions/check', { ids: [id] });
    expect(await listPending(client, 'Once')).toEqual(['Once 4', 'Once 3']);
    expect(await find(id)).toMatchObject({ seen_count: 4, error: null, name: 'Once' });
  });

  it('downloads into a folder with the name of the feed, below the requested folder', async () => {
    const url = rig.site.publish('Folder', []);
    const { id } = await subscribe(client, url, { folder: 'shows', auto_start: true });
    rig.site.publish('Folder', ['Folder 1']);
    await post(client, '/subscriptions/check', { ids: [id] });
    const record = await vi.waitFor(
      async () => {
        const download = (await client.history()).done.find(({ title }) => title === 'Folder 1');
        if (download === undefined) throw new Error('not there yet');
        return download;
      },
      { timeout: 60_000 },
    );
    expect(record).toMatchObject({ status: 'finished', filename: 'Folder/Folder 1.mp4' });
    expect(record).toMatchObject({ folder: 'shows' });
  });

  it('skips videos that its filter does not match', async () => {
    const url = rig.site.publish('Filter', []);
    const { id } = await subscribe(client, url, { title_regex: '(?i)^filter \\d+$' });
    rig.site.publish('Filter', ['Filter 1', 'FILTER 2', 'Filter trailer']);
    await post(client, '/subscriptions/check', { ids: [id] });
    expect(await listPending(client, 'F')).toEqual(expect.arrayContaining(['Filter 1', 'FILTER 2']));
    expect(await listPending(client, 'Filter t')).toEqual([]);
    expect((await find(id))?.seen_count).toBe(3);
  });

  it('limits the run time of a filter expression', async () => {
    const title = `${'a'.repeat(60)}!`;
    const url = rig.site.publish('Slow', []);
    const { id } = await subscribe(client, url, { title_regex: '^(a+)+$' });
    rig.site.publish('Slow', [title]);
    const checking = post(client, '/subscriptions/check', { ids: [id] });
    expect((await fetch(`${client.base}/version`)).status).toBe(200);
    await checking;
    expect((await find(id))?.error).toBe(m.filterTooSlow());
    // A valid feed shows that no video was missed.
    await post(client, '/subscriptions/update', { id, title_regex: '' });
    await post(client, '/subscriptions/check', { ids: [id] });
    expect(await listPending(client, 'aaaa')).toEqual([title]);
  });

  it('is refused for a video, an address twice, a bad filter, a bad interval and a folder outside', async () => {
    const url = rig.site.publish('Refused', []);
    await subscribe(client, url);
    expect(await post(client, '/subscribe', { url })).toEqual({
      status: 'error',
      msg: 'This URL is already subscribed',
    });
    const other = rig.site.publish('Other', []);
    expect(await post(client, '/subscribe', { url: other, title_regex: '(' })).toMatchObject({
      status: 'error',
      msg: expect.stringContaining('Invalid title_regex'),
    });
    expect(await post(client, '/subscribe', { url: other, folder: '../x' })).toMatchObject({ status: 'error' });
    expect(await post(client, '/subscribe', { url: 'file:///etc/passwd' })).toMatchObject({ status: 'error' });
    const reply = await fetch(`${client.base}/subscribe`, {
      method: 'POST',
      body: JSON.stringify({ url: other, check_interval_minutes: 'x' }),
    });
    expect([reply.status, reply.statusText]).toEqual([400, 'check_interval_minutes must be an integer']);
    expect(await post(client, '/subscriptions/update', { id: 'none', enabled: true })).toEqual({
      status: 'error',
      msg: 'Subscription not found',
    });
  });

  it('never shows the login of its address', async () => {
    const url = rig.site.publish('Login', []).replace('http://', 'http://ada:secret@');
    const { id } = await subscribe(client, url);
    expect(JSON.stringify(await client.get('/subscriptions'))).not.toContain('secret');
    await post(client, '/subscriptions/check', { ids: [id] });
    expect(rig.host.log.join('')).not.toContain('secret');
  });

  it('sends live clients events of its creation, changes and removal', async () => {
    const received: [string, any][] = [];
    const socket = io(client.base, { reconnection: false, forceNew: true });
    socket.onAny((event: string, text: string) => received.push([event, JSON.parse(text)]));
    try {
      await vi.waitFor(() => expect(received.map(([event]) => event)).toContain('custom_dirs'));
      const { id } = await subscribe(client, rig.site.publish('Heard', ['Heard 1']));
      await post(client, '/subscriptions/update', { id, enabled: false });
      await post(client, '/subscriptions/delete', { ids: [id] });
      await vi.waitFor(() => expect(received.at(-1)).toEqual(['subscription_removed', id]));
      const subscriptionEvents = received.filter(
        ([event, content]) => event.startsWith('subscription_') && content.id === id,
      );
      expect(subscriptionEvents.map(([event, { enabled }]) => [event, enabled])).toEqual([
        ['subscription_added', true],
        ['subscription_updated', false],
      ]);
    } finally {
      socket.disconnect();
    }
  });
});

async function call(path: string, body: object): Promise<any> {
  const reply = await fetch(`${rig.host.url('control')}/api/downloads/subscriptions${path}`, {
    method: 'POST',
    headers: { Authorization: adminAuthorization, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return await reply.json();
}

it('keeps seen entries and updates the picture after a change of the address', async () => {
  const picture = async (id: string): Promise<string> => {
    const reply = await fetch(`${rig.host.url('control')}/api/downloads/subscriptions/${id}/picture`, {
      headers: { Authorization: adminAuthorization },
    });
    return `${reply.status} ${reply.headers.get('content-type') ?? ''}`;
  };
  const subscription = await call('', { url: rig.site.publish('Moved', ['Moved 1']), auto_start: false });
  expect(subscription).toMatchObject({ kind: 'video', picture: false });
  expect(await picture(subscription.id)).toMatch(/^404/);
  rig.site.publish('Moved', undefined);
  await call('/check', { ids: [subscription.id] });
  expect(await find(subscription.id)).toMatchObject({ error: expect.stringContaining('404') });

  const url = `${rig.site.publish('New', ['Moved 2', 'Moved 1'])}&image=/cover.jpg`;
  const unreachable = await call('/update', { id: subscription.id, url: rig.site.url('/s/404') });
  expect(unreachable).toMatchObject({ error: { detail: expect.stringContaining('404') } });
  expect(await call('/update', { id: subscription.id, url })).toMatchObject({
    url,
    error: null,
    failures: 0,
    name: 'Moved',
  });
  await vi.waitFor(async () => expect(await listPending(client, 'Moved')).toEqual(['Moved 2']), { timeout: 30_000 });
  await vi.waitFor(async () => expect(await picture(subscription.id)).toBe('200 image/jpeg'), { timeout: 30_000 });

  // Without known videos it is another channel, whose current videos count as seen.
  const other = rig.site.publish('Elsewhere', ['Elsewhere 2', 'Elsewhere 1']);
  expect(await call('/update', { id: subscription.id, url: other })).toMatchObject({
    url: other,
    seen: 4,
    picture: false,
  });
  expect(await picture(subscription.id)).toMatch(/^404/);
  expect(await call('/check', { ids: [subscription.id] })).toEqual({ queued: 0 });
  const second = await call('', { url });
  expect(await call('/update', { id: second.id, url: other })).toMatchObject({
    error: { code: 'downloads.subscribed' },
  });
});

it('restores removed ones with their seen entries, and previews the matches of a filter', async () => {
  const url = rig.site.publish('Back', ['Back 2', 'Back 1 extra']);
  expect(await call('/preview', { url, titleRegex: 'extra' })).toEqual({
    name: 'Back',
    entries: [
      { title: 'Back 2', wanted: false },
      { title: 'Back 1 extra', wanted: true },
    ],
    total: 2,
    wanted: 1,
  });
  const added = await call('', { url, intervalMinutes: 5, quality: '720', format: 'mp4' });
  expect(added).toMatchObject({ name: 'Back', seen: 2, quality: '720', intervalMinutes: 5, enabled: true });
  expect(await call('/remove', { ids: [added.id] })).toEqual({ removed: [added.id] });
  expect(await find(added.id)).toBeUndefined();
  expect(await call('/restore', { ids: [added.id] })).toEqual({ restored: [added.id] });
  expect(await call('/check', { ids: [added.id] })).toEqual({ queued: 0 });
  expect(await call('/update', { id: added.id, titleRegex: '(' })).toMatchObject({
    error: { code: 'downloads.bad_filter' },
  });
  // After removing and subscribing again, the former subscription stays removed.
  await call('/remove', { ids: [added.id] });
  await call('', { url });
  expect(await call('/restore', { ids: [added.id] })).toEqual({ restored: [] });
});

it('checks feeds when they are due, and not while they are paused', async () => {
  const clock = createFakeClock(Date.now());
  // A loaded worker has time limits as well, which would expire when the clock advances by hours.
  const dataDir = dataFolderWith({ keepLoaded: false });
  await using tidy = new AsyncDisposableStack();
  tidy.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  await using timed = await openRecordedRig({ clock, dataDir });
  const url = timed.site.publish('Timed', ['Timed 1']);
  const { id } = await subscribe(timed.client, url, { check_interval_minutes: 30 });
  const hits = (): number => timed.site.stats().hits['/channel/Timed.rss'] ?? 0;
  const state = async (): Promise<Subscription> => {
    const subscription = (await timed.client.get<readonly Subscription[]>('/subscriptions')).find(
      (entry) => entry.id === id,
    );
    if (subscription === undefined) throw new Error('it is gone');
    return subscription;
  };
  /** Advances the clock in steps, so that the service can read it. */
  const pass = async (minutes: number): Promise<void> => {
    for (let minute = 0; minute < minutes; minute += 1) {
      clock.advance(60_000);
      await state();
    }
  };
  const checkedAfter = async (minutes: number): Promise<Subscription> => {
    const before = await state();
    await pass(minutes);
    return await vi.waitFor(
      async () => {
        clock.advance(1000);
        const now = await state();
        expect(now.last_checked).toBeGreaterThan(before.last_checked);
        return now;
      },
      { timeout: 30_000, interval: 50 },
    );
  };
  timed.site.publish('Timed', ['Timed 2', 'Timed 1']);
  const before = hits();
  await pass(28);
  expect(hits()).toBe(before);
  await checkedAfter(4);
  expect(hits()).toBeGreaterThan(before);
  expect(await listPending(timed.client, 'Timed')).toEqual(['Timed 2']);

  await post(timed.client, '/subscriptions/update', { id, enabled: false });
  const paused = hits();
  await pass(60);
  expect(hits()).toBe(paused);
});

it('increases the interval of a failing feed up to one day', () => {
  const waits = Array.from({ length: 12 }, (_, failures) => getNextCheck(0, 30, failures) / 60_000);
  expect(waits).toEqual([30, 30, 30, 30, 40, 80, 160, 320, 640, 1280, 1440, 1440]);
  expect(getNextCheck(0, 10_080, 12) / 60_000).toBe(10_080);
});

it('loses no video and queues none twice after kill -9 during checks', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'homeport-crash-'));
  try {
    await using site = await startFixtureSite();
    const environment = { ...useRecordedExtractor(), ALLOW_PRIVATE_ADDRESSES: 'true' };
    const url = site.publish('Crash', []);
    let id: string;
    const titles = (count: number): string[] => Array.from({ length: count }, (_, index) => `Crash ${index}`);
    {
      await using host = await startHostProcess(dataDir, { environment });
      ({ id } = await subscribe(new Client(host.url('downloads')), url));
    }
    for (let round = 1; round <= 3; round += 1) {
      site.publish('Crash', titles(round * 10));
      await using host = await startHostProcess(dataDir, { environment });
      const before = site.stats().hits['/channel/Crash.rss'] ?? 0;
      const client = new Client(host.url('downloads'));
      const checking = post(client, '/subscriptions/check', { ids: [id] }).catch(() => undefined);
      // Stops between the request to the site and the response to the client, each round a little later.
      await vi.waitFor(() => expect(site.stats().hits['/channel/Crash.rss'] ?? 0).toBeGreaterThan(before), {
        timeout: 30_000,
        interval: 5,
      });
      for (let turn = 0; turn < round * 3; turn += 1) await client.history();
      await host.kill();
      await checking;
    }
    await using host = await startHostProcess(dataDir, { environment });
    const after = new Client(host.url('downloads'));
    await post(after, '/subscriptions/check', { ids: [id] });
    const pending = await listPending(after, 'Crash');
    expect(pending.toSorted()).toEqual(titles(30).toSorted());
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

it('sends one notification of a feed that keeps failing', async () => {
  await using fullRig = await openRecordedRig({ services: registry });
  const url = fullRig.site.publish('Broken', []);
  const { id } = await subscribe(fullRig.client, url);
  fullRig.site.publish('Broken', undefined);
  for (let round = 0; round < 4; round += 1) await post(fullRig.client, '/subscriptions/check', { ids: [id] });
  const listMessages = async (): Promise<readonly string[]> =>
    (await inbox(fullRig.host.url('control')))
      .filter(({ source }) => source === 'downloads')
      .map(({ title, body }) => `${title}: ${body}`);
  await vi.waitFor(async () => expect(await listMessages()).toHaveLength(1), { timeout: 20_000, interval: 100 });
  expect(await listMessages()).toEqual([
    expect.stringMatching(/^A subscription keeps failing: Broken\nThe video no longer exists/),
  ]);
});
