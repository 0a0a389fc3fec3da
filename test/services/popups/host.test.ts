import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { adminAuthorization, openTestHost, type TestHost } from '../../support/host.ts';
import { Desktop, missingPrograms } from '../../host/desktop/desktop.ts';
import { RecordingNotifier } from './support.ts';

const waitOptions = { timeout: 15_000, interval: 20 };
const yearMs = 366 * 24 * 3_600_000;

async function ask(host: TestHost, method: string, path: string, body?: unknown): Promise<any> {
  const response = await fetch(`${host.url('control')}${path}`, {
    method,
    headers: { Authorization: adminAuthorization, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, ...((await response.json()) as object) };
}

async function publish(host: TestHost, text: string, headers: Readonly<Record<string, string>> = {}): Promise<void> {
  const response = await fetch(`${host.url('push')}/alerts`, {
    method: 'POST',
    headers: { Authorization: adminAuthorization, ...headers },
    body: text,
  });
  expect(response.status).toBe(200);
}

describe('published message', () => {
  let notifier: RecordingNotifier;
  let host: TestHost;
  const opened: string[] = [];

  beforeEach(async () => {
    notifier = new RecordingNotifier();
    opened.length = 0;
    host = await openTestHost({ notifier, openAddress: (url) => void opened.push(url) });
  });
  afterEach(() => host[Symbol.asyncDispose]());

  it('is shown as a popup; a click opens its row, "Mark as read" marks it', async () => {
    await publish(host, 'disk is full', { Title: 'Server', Priority: '4' });
    await vi.waitFor(
      () => expect(notifier.popups).toMatchObject([{ title: 'Server', body: 'disk is full' }]),
      waitOptions,
    );
    const { items } = await ask(host, 'GET', '/api/inbox');
    notifier.answer('clicked');
    expect(opened).toEqual([`${host.url('control')}/inbox/${String(items[0].id)}`]);
    notifier.answer({ action: 'read' });
    await vi.waitFor(
      async () => expect(await ask(host, 'GET', '/api/inbox')).toMatchObject({ unread: 0 }),
      waitOptions,
    );
  });

  it('opens its link when clicked', async () => {
    await publish(host, 'build 7 is red', { Click: 'https://ci.example/7' });
    await vi.waitFor(() => expect(notifier.popups).toHaveLength(1), waitOptions);
    notifier.answer('clicked');
    expect(opened).toEqual(['https://ci.example/7']);
  });

  it('is held while popups are paused through the API, and saved meanwhile', async () => {
    const pausedUntil = Date.now() + 3_600_000;
    expect(await ask(host, 'PUT', '/api/popups', { pausedUntil })).toMatchObject({ status: 200, pausedUntil, held: 0 });
    await publish(host, 'one');
    await publish(host, 'urgent', { Priority: '5' });
    await vi.waitFor(
      () => expect(notifier.popups).toMatchObject([{ body: 'urgent', urgency: 'critical' }]),
      waitOptions,
    );
    await vi.waitFor(async () => expect(await ask(host, 'GET', '/api/popups')).toMatchObject({ held: 1 }), waitOptions);
    const onDisk = (): any => JSON.parse(readFileSync(join(host.dataDir, 'popups', 'popups.json'), 'utf8'));
    await vi.waitFor(
      () => expect(onDisk()).toMatchObject({ pausedUntil, held: { rows: [[1, 'alerts', 3]] } }),
      waitOptions,
    );
    expect(await ask(host, 'PUT', '/api/popups', { pausedUntil: null })).toMatchObject({ pausedUntil: null, held: 0 });
    expect(notifier.titles.at(-1)).toBe('1 message during quiet hours');
  });

  it('is held in quiet hours that are set while the host runs', async () => {
    expect((await ask(host, 'PATCH', '/api/settings/host', { quietHours: ['25:00-26:00'] })).status).toBe(422);
    expect((await ask(host, 'PATCH', '/api/settings/host', { quietHours: ['daily 00:00-24:00'] })).status).toBe(200);
    const { quietUntil } = await ask(host, 'GET', '/api/popups');
    expect(quietUntil).toBeGreaterThan(Date.now());
    await publish(host, 'one');
    await vi.waitFor(async () => expect(await ask(host, 'GET', '/api/popups')).toMatchObject({ held: 1 }), waitOptions);
    expect((await ask(host, 'PATCH', '/api/settings/host', { quietHours: null })).status).toBe(200);
    await vi.waitFor(() => expect(notifier.titles).toEqual(['1 message during quiet hours']), waitOptions);
  });

  it('rejects a pause without end or with an invalid time', async () => {
    const { pausedUntil } = await ask(host, 'PUT', '/api/popups', { pausedUntil: Number.MAX_SAFE_INTEGER });
    expect(pausedUntil).toBeLessThanOrEqual(Date.now() + yearMs);
    for (const wrong of [-1, 'tomorrow', undefined]) {
      expect((await ask(host, 'PUT', '/api/popups', { pausedUntil: wrong })).status).toBe(422);
    }
  });

  it('publishes popups and the pause as live events', async () => {
    const stop = new AbortController();
    const stream = await fetch(`${host.url('control')}/api/events`, {
      headers: { Authorization: adminAuthorization },
      signal: stop.signal,
    });
    await ask(host, 'PUT', '/api/popups', { pausedUntil: Date.now() + 60_000 });
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of stream.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (/event: control\.popups\n/.test(text) && text.includes('"pausedUntil":1')) break;
    }
    stop.abort();
    expect(text).toContain('"driver":"remembered"');
  });
});

it('shows messages held by an earlier version', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'homeport-popups-former-'));
  const pausedUntil = Date.now() + 3_600_000;
  await (await openTestHost({ dataDir }))[Symbol.asyncDispose]();
  rmSync(join(dataDir, 'popups'), { recursive: true });
  // Format of the host before popups were a service.
  const former = { pausedUntil, held: { rows: [[7, 'mail', 3]], more: 1 }, urgent: [] };
  writeFileSync(join(dataDir, 'host', 'popups.json'), JSON.stringify(former));
  const host = await openTestHost({ dataDir, notifier: new RecordingNotifier() });
  expect(await ask(host, 'GET', '/api/popups')).toMatchObject({ pausedUntil, held: 2 });
  expect(existsSync(join(dataDir, 'host', 'popups.json'))).toBe(false);
  await host[Symbol.asyncDispose]();
  rmSync(dataDir, { recursive: true, force: true });
});

it('logs at debug level only why a host without desktop shows no popups', async () => {
  await using host = await openTestHost({ environment: { LOG_LEVEL: 'debug' } });
  expect(await ask(host, 'GET', '/api/popups')).toMatchObject({ driver: 'none', held: 0 });
  await publish(host, 'one', { Priority: '5' });
  await vi.waitFor(async () => expect(await ask(host, 'GET', '/api/inbox')).toMatchObject({ unread: 1 }), waitOptions);
  expect(host.log.filter((line) => line.includes('no desktop'))).toHaveLength(1);
});

describe.skipIf(missingPrograms.length > 0)('on a desktop', { timeout: 40_000 }, () => {
  it('shows a published message on the screen', async () => {
    await using desktop = await Desktop.open();
    await using host = await openTestHost({ environment: desktop.environment });
    await publish(host, 'done & dusted', { Title: 'Backup' });
    await vi.waitFor(async () => expect(await desktop.count('displayed')).toBe(1), waitOptions);
    expect(await desktop.history()).toMatchObject([{ summary: 'Backup', body: 'done &amp; dusted' }]);
    await vi.waitFor(async () =>
      expect(await ask(host, 'GET', '/api/popups')).toMatchObject({ driver: 'notify-send' }),
    );
  });

  it('keeps a message in the inbox and logs once when the session bus is not available', async () => {
    const dead = { DISPLAY: ':99', DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent/bus' };
    await using host = await openTestHost({ environment: dead });
    await publish(host, 'one');
    await publish(host, 'two');
    const lines = (): number => host.log.filter((line) => line.includes('popup display failed')).length;
    await vi.waitFor(() => expect(lines()).toBe(1), waitOptions);
    await vi.waitFor(
      async () => expect(await ask(host, 'GET', '/api/inbox')).toMatchObject({ unread: 2 }),
      waitOptions,
    );
    expect(lines()).toBe(1);
  });
});
