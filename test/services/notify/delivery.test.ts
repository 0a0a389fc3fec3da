import * as texts from '#messages/notify-texts';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ServiceState } from '../../../services/contracts/control/api.ts';
import { notificationOffered } from '../../../services/contracts/notify/notification.ts';
import type { Context } from '../../../services/contracts/service.ts';
import { control } from '../../../services/control/index.ts';
import { notify } from '../../../services/notify/index.ts';
import { NotificationStore } from '../../../services/notify/store/notifications.ts';
import type { Settings } from '../../../services/notify/settings.ts';
import { api } from '../../support/api.ts';
import { createFakeClock } from '../../support/clock.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { createProbe, openReceiver, withReadings, type Offers, type Receiver } from './support.ts';

const notification = { title: 'T', body: 'B', type: 'failure', format: 'text', tags: [], source: 'uptime' } as const;

let open: AsyncDisposableStack;
let receiver: Receiver;

beforeEach(async () => {
  open = new AsyncDisposableStack();
  receiver = open.use(await openReceiver());
});
afterEach(() => open.disposeAsync());

async function openNotify(
  options: Parameters<typeof openTestHost>[0] & { receives?: readonly ('inbox' | 'push')[] } = {},
): Promise<{ host: TestHost; offers: Offers }> {
  const { offers, descriptor } = createProbe(options.receives ?? ['inbox', 'push']);
  const host = open.use(await openTestHost({ services: [descriptor, notify], ...options }));
  return { host, offers };
}

async function post(host: TestHost, path: string, fields: unknown): Promise<{ status: number; text: string }> {
  const reply = await fetch(host.url('notify') + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(fields),
  });
  return { status: reply.status, text: await reply.text() };
}

describe('the default key', () => {
  it('delivers to the inbox and the push service once each, with one identity', async () => {
    const { host, offers } = await openNotify();
    const reply = await post(host, '/notify/aggregator', { title: 'Disk', body: 'full', type: 'failure' });
    expect(reply).toMatchObject({ status: 200 });
    expect(JSON.parse(reply.text)).toMatchObject({
      error: null,
      details: [expect.arrayContaining(['INFO']), expect.arrayContaining(['INFO'])],
    });
    const [[key, item] = []] = [...offers.inbox];
    const [[, message] = []] = [...offers.push];
    expect(item).toMatchObject({ title: 'Disk', body: 'full', priority: 4, source: 'notify', format: 'text' });
    expect(message).toMatchObject({ topic: 'homeport', title: 'Disk', message: 'full', priority: 4, origin: key });
    expect([offers.inbox.size, offers.push.size]).toEqual([1, 1]);
  });

  it('gives each posted notification a separate identity, and successes no higher priority', async () => {
    const { host, offers } = await openNotify();
    for (const type of ['info', 'success']) await post(host, '/notify/aggregator', { body: 'same', type });
    expect([...offers.inbox.values()].map(({ priority }) => priority)).toEqual([3, 3]);
  });
});

describe('a notification of another service', () => {
  it('is accepted once under its key, which remains its identity', async () => {
    const { offers } = await openNotify();
    const offer = { configuration: 'aggregator', notice: { ...notification, tags: [...notification.tags] } };
    for (let time = 0; time < 3; time += 1)
      await offers.context?.handovers.pass(notificationOffered, 'uptime:7', offer);
    await vi.waitFor(() => expect(offers.push.size).toBe(1));
    await vi.waitFor(() => expect([...offers.inbox.keys()]).toEqual(['uptime:7']));
    expect([...offers.push.values()]).toMatchObject([{ origin: 'uptime:7', source: 'uptime' }]);
  });

  it('is delivered to the inbox when no destination has its tag, and is refused without its key', async () => {
    const { offers } = await openNotify();
    const copy = { ...notification, tags: [...notification.tags] };
    await offers.context?.handovers.pass(notificationOffered, 'a:1', {
      configuration: 'aggregator',
      tag: 'nobody',
      notice: copy,
    });
    await vi.waitFor(() => expect([...offers.inbox.keys()]).toEqual(['a:1']));
    const lost = offers.context?.handovers.pass(notificationOffered, 'a:2', { configuration: 'nokey', notice: copy });
    await expect(lost).rejects.toMatchObject({ code: 'notify.unknown_configuration', retryable: false });
  });

  it('prefers its named destinations to a key, and drops invalid ones permanently without logging secrets', async () => {
    const { offers } = await openNotify();
    const pass = (key: string, urls: readonly string[]) =>
      offers.context?.handovers.pass(notificationOffered, key, {
        configuration: 'aggregator',
        urls: [...urls],
        notice: { ...notification, tags: [] },
      });
    await pass('named:1', [`json://127.0.0.1:${receiver.port}/named`, 'push://pager']);
    await vi.waitFor(() => expect([receiver.received.length, offers.push.size]).toEqual([1, 1]));
    expect(receiver.received[0]).toMatchObject({ path: '/named' });
    const refused = await pass('named:2', ['nowhere://secret-token'])?.catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'notify.bad_url', retryable: false });
    expect(String(refused)).not.toContain('secret-token');
  });
});

describe('destinations that do not answer', () => {
  it('does not delay healthy destinations or the responses of later calls', async () => {
    const { host, offers } = await openNotify({ environment: {} });
    const config = `json://127.0.0.1:${receiver.port}/__never\njson://127.0.0.1:${receiver.port}/fine\ninbox://\n`;
    await post(host, '/add/mixed', { config, format: 'text' });
    const reply = await post(host, '/notify/mixed', { body: 'first' });
    expect(reply.status).toBe(200);
    const { details } = JSON.parse(reply.text) as { details: string[][] };
    expect(details.map(([level]) => level).toSorted()).toEqual(['INFO', 'INFO', 'WARNING']);
    expect(offers.inbox.size).toBe(1);
    expect(receiver.received.filter(({ path }) => path === '/fine')).toHaveLength(1);
    await post(host, '/notify/mixed', { body: 'second' });
    expect(receiver.received.filter(({ path }) => path === '/fine')).toHaveLength(2);
    expect(receiver.received.filter(({ path }) => path === '/__never')).toHaveLength(1);
  });

  it('are named in the status on Home, or counted when their names are ambiguous', async () => {
    const { descriptor } = createProbe(['inbox', 'push']);
    const { host } = await openNotify({ services: [descriptor, notify, control] });
    const getServiceState = async (): Promise<ServiceState | undefined> => {
      const { services } = await api<{ services: ServiceState[] }>(host.url('control'), '/api/services');
      return services.find(({ id }) => id === 'notify');
    };
    const getReason = async (): Promise<unknown> => (await getServiceState())?.reason;
    const detail = async (): Promise<unknown> => (await getServiceState())?.detail;
    // Without destinations, the inbox and push topics receive the notifications.
    await expect.poll(detail).toBe(texts.noDestinations());
    const unavailableAddress = `127.0.0.1:${receiver.port}/__status/503`;
    await post(host, '/add/mine', { config: `json://${unavailableAddress}/mine`, format: 'text' });
    await expect.poll(detail).toBe(texts.allDelivered());
    await post(host, '/notify', { urls: `hassio://${unavailableAddress}/token`, body: 'x' });
    await expect.poll(getReason).toBe(texts.destinationFailing({ name: 'Home Assistant', waiting: 1 }));
    await post(host, '/notify', { urls: `json://${unavailableAddress}`, body: 'x' });
    await expect.poll(getReason).toBe(texts.destinationsFailing({ names: 'Home Assistant and JSON', waiting: 2 }));
    await post(host, '/notify', { urls: `json://${unavailableAddress}/other`, body: 'x' });
    await expect.poll(getReason).toBe(texts.countFailing({ count: 3, waiting: 3 }));
  });

  it('delivers waiting notifications in order after a restart', async () => {
    const { host, offers } = await openNotify({ receives: ['push'] });
    const reply = await post(host, '/notify/aggregator', { body: 'one' });
    expect(JSON.parse(reply.text)).toMatchObject({ error: null });
    expect(reply.text).toContain('WARNING');
    await post(host, '/notify/aggregator', { body: 'two' });
    expect(offers.inbox.size).toBe(0);
    // The probe leaves the hand-over to the inbox of the next host.
    const { dataDir } = host;
    const secondProbe = createProbe(['inbox', 'push']);
    await host.host[Symbol.asyncDispose]();
    const clock = createFakeClock(Date.now() + 60_000);
    open.use(await openTestHost({ services: [secondProbe.descriptor, notify], dataDir, clock }));
    await vi.waitFor(
      () => expect([...secondProbe.offers.inbox.values()].map(({ body }) => body)).toEqual(['one', 'two']),
      5000,
    );
    expect(secondProbe.offers.push.size).toBe(0);
  });

  it('fails the call for final refusals of destinations that are not optional', async () => {
    const { descriptor, readings } = withReadings(notify);
    const { host } = await openNotify({ services: [createProbe(['inbox']).descriptor, descriptor] });
    const goneUrl = `json://127.0.0.1:${receiver.port}/__status/410`;
    await post(host, '/add/gone', { config: goneUrl, format: 'text' });
    await post(host, '/add/soft', { config: `${goneUrl}?optional=yes\ninbox://`, format: 'text' });
    const reply = await post(host, '/notify/gone', { body: 'x' });
    expect(reply.status).toBe(424);
    expect(reply.text).toContain('error=410');
    expect(await post(host, '/notify/soft', { body: 'x' })).toMatchObject({ status: 200 });
    await vi.waitFor(async () => {
      expect(readings.counters.get('aggregator_notifications_sent_total{scheme="json",status="failure"}')).toBe(2);
      expect(await readings.read('aggregator_outbox_pending')).toBe(0);
    });
    expect(readings.counters.get('aggregator_notifications_sent_total{scheme="ntfy",status="success"}')).toBe(0);
    const metrics = await (await fetch(`${host.url('notify')}/metrics`)).text();
    expect(metrics).toMatch(/^aggregator_delivery_seconds_count\{.*scheme="inbox".*\} 1$/m);
    expect(readings.counters.get('aggregator_requests_total{code="424"}')).toBe(1);
  });
});

describe('a dead letter', () => {
  it('delivers a retried notification to a recovered destination', async () => {
    const { host } = await openNotify({ services: [control, notify] });
    receiver.answer = 410;
    await post(host, '/add/back', { config: `json://127.0.0.1:${receiver.port}/back`, format: 'text' });
    expect(await post(host, '/notify/back', { body: 'x' })).toMatchObject({ status: 424 });
    const dead = async () => (await api<{ jobs: { id: string }[] }>(host.url('control'), '/api/jobs/dead')).jobs;
    await vi.waitFor(async () => expect(await dead()).toHaveLength(1), 10_000);
    const [job] = await dead();
    receiver.answer = 200;
    await api(host.url('control'), `/api/jobs/notify/${job?.id}/retry`, { method: 'POST' });
    await vi.waitFor(() => expect(receiver.received).toHaveLength(2));
    await vi.waitFor(async () => expect(await dead()).toEqual([]));
  });
});

describe('a configuration of very many destinations', () => {
  it('is used up to a thousand destinations, and reports the ignored ones', async () => {
    const { host, offers } = await openNotify();
    const lines = Array.from({ length: 1002 }, (_, index) => `push://t${index}`);
    const added = await post(host, '/add/many', { config: lines.join('\n'), format: 'text' });
    expect(JSON.parse(added.text)).toMatchObject({ details: [{ 2: expect.stringContaining('Line 1001') }, {}] });
    expect(await post(host, '/notify/many', { body: 'x' })).toMatchObject({ status: 200 });
    await vi.waitFor(() => expect(offers.push.size).toBe(1000), 10_000);
  });
});

describe('secrets of destinations', () => {
  it('seals secrets in the data folder and omits them from logs, lists and details', async () => {
    const { host } = await openNotify();
    const url = `json://user:hunter22@127.0.0.1:${receiver.port}/__status/503?+X-Token=s3cr3ttoken`;
    await post(host, '/add/secret', { config: `${url}\nntfy://tk_verysecret1@127.0.0.1:1/topic\n`, format: 'text' });
    const replies = [
      await post(host, '/notify/secret', { body: 'x' }),
      await post(host, '/notify', { body: 'x', urls: url }),
      { text: await (await fetch(`${host.url('notify')}/json/urls/secret?privacy=1`)).text() },
    ];
    const secret = /hunter22|s3cr3ttoken|verysecret/;
    for (const { text } of replies) expect(text).not.toMatch(secret);
    expect(host.log.join('\n')).not.toMatch(secret);
    const folder = join(host.dataDir, 'notify');
    for (const name of readdirSync(folder).filter((entry) => entry.startsWith('db'))) {
      expect(readFileSync(join(folder, name), 'latin1')).not.toMatch(secret);
    }
    expect((await post(host, '/get/secret', {})).text).toContain('hunter22');
  });
});

describe('the history', () => {
  it('deletes finished notifications after the retention time, and no waiting ones', async () => {
    let context: Context | undefined;
    const watched = {
      ...notify,
      create: (serviceContext: Context, settings: Settings) => {
        context = serviceContext;
        return notify.create(serviceContext, settings);
      },
    };
    const { descriptor } = createProbe(['inbox']);
    const host = open.use(await openTestHost({ services: [descriptor, watched] }));
    await post(host, '/add/inbox', { config: 'inbox://', format: 'text' });
    await post(host, '/notify/inbox', { body: 'done' });
    await post(host, '/notify/aggregator', { body: 'waits for the push server' });
    if (context === undefined) throw new Error('the service was not made');
    await context.jobs.flush();
    const notices = new NotificationStore(context.db);
    expect(await notices.deleteOld(Date.now() - 3_600_000)).toBe(0);
    expect(await notices.deleteOld(Date.now() + 3_600_000)).toBe(1);
    const remainingNotices = await context.db.selectFrom('notices').select('body').execute();
    expect(remainingNotices).toEqual([{ body: 'waits for the push server' }]);
    expect(await context.db.selectFrom('deliveries').select('state').execute()).toHaveLength(2);
  });
});
