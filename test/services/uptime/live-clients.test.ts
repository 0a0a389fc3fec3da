import { X509Certificate } from 'node:crypto';
import { createServer as createTlsServer } from 'node:https';
import { io, type Socket } from 'socket.io-client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { notify } from '../../../services/notify/index.ts';
import { control } from '../../../services/control/index.ts';
import { uptime } from '../../../services/uptime/index.ts';
import { admin, adminAuthorization } from '../../support/host.ts';
import { makeSelfSigned } from '../../support/self-signed.ts';
import { listen, openTarget, openUptime, type Target, type UptimeRig } from './rig.ts';

interface LiveClient extends Disposable {
  readonly socket: Socket;
  readonly events: { readonly name: string; readonly args: readonly unknown[] }[];
  ask<T = Record<string, unknown>>(event: string, ...args: unknown[]): Promise<T>;
}

interface ListedNotification {
  readonly id: number;
  readonly name: string;
  readonly config: string;
}

function connect(rig: UptimeRig): LiveClient {
  const socket = io(rig.url, { transports: ['websocket'], forceNew: true, reconnection: false });
  const events: { name: string; args: unknown[] }[] = [];
  socket.onAny((name: string, ...args: unknown[]) => void events.push({ name, args }));
  return {
    socket,
    events,
    ask: (event, ...args) => socket.timeout(30_000).emitWithAck(event, ...args),
    [Symbol.dispose]: () => void socket.disconnect(),
  };
}

const login = (client: LiveClient) =>
  client.ask('login', { username: admin.name, password: admin.password, token: '' });

describe('live client', () => {
  let rig: UptimeRig;
  let target: Target;
  beforeAll(async () => {
    target = await openTarget();
    rig = await openUptime({ services: [uptime, control, notify] });
  });
  afterAll(async () => {
    await rig[Symbol.asyncDispose]();
    await target[Symbol.asyncDispose]();
  });
  const control_ = (method: string, path: string, body: object): Promise<Response> =>
    fetch(`${rig.host.url('control')}${path}`, {
      method,
      headers: { authorization: adminAuthorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  it('is disconnected when its token ends', async () => {
    using client = connect(rig);
    const expiresAt = Date.now() + 4000;
    const token = await control_('POST', `/api/accounts/${admin.name}/tokens`, { label: 'short', expiresAt });
    const { text, token: secret } = (await token.json()) as { text?: string; token?: string };
    expect(await client.ask('loginByToken', text ?? secret)).toMatchObject({ ok: true });
    expect(await client.ask('getMonitorList')).toMatchObject({ ok: true });
    await vi.waitUntil(() => Date.now() > expiresAt + 100);
    const late = await client.ask('getMonitorList').catch(() => ({ ok: false }));
    expect(late).toMatchObject({ ok: false });
    await vi.waitUntil(() => !client.socket.connected);
  });

  it('gets uptime and response time after every heartbeat', async () => {
    using client = connect(rig);
    await login(client);
    const { id } = await rig.add({ type: 'http', name: 'figures', url: target.url, interval: 3600 });
    await rig.until(id, 1);
    const ofMonitor = (name: string) => client.events.filter((one) => one.name === name && one.args[0] === id);
    await vi.waitUntil(() => ofMonitor('uptime').length >= 3);
    expect(ofMonitor('uptime').map(({ args }) => args[1])).toEqual([24, 720, '1y']);
    expect(ofMonitor('avgPing')).toHaveLength(1);
    await rig.call('POST', `/api/monitors/${String(id)}/check`);
    await vi.waitUntil(() => ofMonitor('uptime').length >= 6);
  });

  it('gets the certificate of an HTTPS monitor after every heartbeat', async () => {
    const { key, cert } = makeSelfSigned();
    const server = createTlsServer({ key, cert }, (_request, response) => void response.end('fine'));
    const url = `https://127.0.0.1:${String(await listen(server))}/`;
    using client = connect(rig);
    await login(client);
    try {
      const { id } = await rig.add({ type: 'http', name: 'secure', url, ignoreTls: true, interval: 3600 });
      await rig.until(id, 1);
      const received = () => client.events.filter(({ name, args }) => name === 'certInfo' && args[0] === id);
      await vi.waitUntil(() => received().length >= 1);
      const { validTo, fingerprint256 } = new X509Certificate(cert);
      expect(JSON.parse(String(received()[0]?.args[1]))).toMatchObject({
        valid: false,
        certInfo: {
          validTo: new Date(validTo).toISOString(),
          fingerprint256,
          daysRemaining: Math.trunc((Date.parse(validTo) - Date.now()) / 86_400_000),
        },
      });
      await rig.call('POST', `/api/monitors/${String(id)}/check`);
      await vi.waitUntil(() => received().length >= 2);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it('gets lists that another client or the API changes', async () => {
    using first = connect(rig);
    using second = connect(rig);
    await login(first);
    await login(second);
    const count = (name: string): number => second.events.filter((one) => one.name === name).length;
    const changes: [string, () => Promise<unknown>][] = [
      ['statusPageList', () => first.ask('addStatusPage', 'All', 'all')],
      [
        'dockerHostList',
        () => rig.call('POST', '/api/docker-hosts', { name: 'n', dockerType: 'tcp', dockerDaemon: 'tcp://n:1' }),
      ],
      ['apiKeyList', () => first.ask('addAPIKey', { name: 'k', expires: null, active: true })],
      [
        'notificationList',
        () => first.ask('addNotification', { name: 'n', type: 'apprise', appriseURL: 'json://127.0.0.1:1/x' }, null),
      ],
    ];
    for (const [name, change] of changes) {
      const before = count(name);
      await change();
      await vi.waitUntil(() => count(name) > before);
    }
  });

  it('sets up notifications, which Delivery sends', async () => {
    const received: string[] = [];
    await using receiver = await openTarget((request, response) => {
      let text = '';
      request.on('data', (part: Buffer) => (text += part.toString()));
      request.on('end', () => {
        received.push(text);
        response.end('{}');
      });
    });
    using client = connect(rig);
    await login(client);
    const webhook = { name: 'hook', type: 'webhook', webhookURL: `${receiver.url}/hook`, webhookContentType: 'json' };
    expect(await client.ask('testNotification', webhook)).toEqual({ ok: true, msg: 'Sent Successfully.' });
    await vi.waitUntil(() => received.length > 0);
    expect(received[0]).toContain('hook Testing');
    const added = await client.ask<{ id: number }>('addNotification', webhook, null);
    const { id } = await rig.add({
      ...{ type: 'http', name: 'gone', url: 'http://127.0.0.1:1/', interval: 3600 },
      notificationIDList: { [String(added.id)]: true },
    });
    await rig.until(id, 0);
    await vi.waitUntil(() => received.some((text) => text.includes('gone')));
    expect(await client.ask('addNotification', { name: 'x', type: 'PushByTechulus' }, null)).toMatchObject({
      ...{ ok: false, msg: expect.stringContaining('PushByTechulus') },
    });
    const listed = () => client.events.filter(({ name }) => name === 'notificationList');
    const before = listed().length;
    expect(await client.ask('getNotificationList')).toEqual({ ok: true });
    expect(listed()).toHaveLength(before + 1);
    const find = () =>
      (listed().at(-1)?.args[0] as ListedNotification[]).find(({ id: listedId }) => listedId === added.id);
    expect(find()).toMatchObject({ name: 'hook', isDefault: false, active: true });
    expect(JSON.parse(find()?.config ?? '')).toMatchObject(webhook);
    expect(await client.ask('deleteNotification', added.id)).toMatchObject({ ok: true });
    expect(find()).toBeUndefined();
    expect(await client.ask('deleteNotification', added.id)).toMatchObject({ ok: false });
    expect(await client.ask('getDatabaseSize')).toMatchObject({ ok: true, size: expect.any(Number) });
  });

  it('sets up a notification for new monitors, and for those that exist', async () => {
    using client = connect(rig);
    await login(client);
    const { id: before } = await rig.add({ type: 'manual', name: 'before', interval: 3600 });
    const hook = { name: 'hook', type: 'webhook', webhookURL: `${target.url}/hook`, webhookContentType: 'json' };
    const first = await client.ask<{ id: number }>('addNotification', { ...hook, isDefault: true }, null);
    const getHeartbeats = async (id: number): Promise<unknown> =>
      (await rig.call<{ notificationIDList?: unknown }>('GET', `/api/monitors/${String(id)}`)).notificationIDList;
    expect(await getHeartbeats(before)).toEqual({});
    const { id: after } = await rig.add({ type: 'manual', name: 'after', interval: 3600 });
    expect(await getHeartbeats(after)).toEqual({ [String(first.id)]: true });
    const { id: without } = await rig.add({ type: 'manual', name: 'x', interval: 3600, notificationIDList: {} });
    expect(await getHeartbeats(without)).toEqual({});
    const second = await client.ask<{ id: number }>('addNotification', { ...hook, applyExisting: true }, null);
    expect(await getHeartbeats(before)).toEqual({ [String(second.id)]: true });
    expect(await getHeartbeats(after)).toEqual({ [String(first.id)]: true, [String(second.id)]: true });
    for (const { id } of [first, second]) await client.ask('deleteNotification', id);
  });

  it('gives the space of deleted rows back to the disk', async () => {
    using client = connect(rig);
    await login(client);
    const size = async (): Promise<number> => (await client.ask<{ size: number }>('getDatabaseSize')).size;
    const keyword = 'x'.repeat(90_000);
    const added: number[] = [];
    for (let index = 0; index < 20; index += 1) {
      const { id } = await rig.add({ type: 'manual', name: `large ${String(index)}`, interval: 3600, keyword });
      added.push(id);
    }
    const large = await size();
    expect(large).toBeGreaterThan(1_500_000);
    for (const id of added) await rig.call('DELETE', `/api/monitors/${String(id)}`);
    expect(await client.ask('shrinkDatabase')).toMatchObject({ ok: true });
    expect(await size()).toBeLessThan(large - 1_500_000);
    expect(await client.ask('getMonitorList')).toMatchObject({ ok: true });
  });

  it('stays connected when settings change', async () => {
    using client = connect(rig);
    await login(client);
    const reply = await control_('PATCH', '/api/settings/uptime', {
      certificateDays: [5],
      keepDays: 30,
      publicUrl: 'https://s.example',
    });
    expect(reply.status).toBe(200);
    await vi.waitUntil(async () => {
      const { data } = await client.ask<{ data: { tlsExpiryNotifyDays: number[]; primaryBaseURL: string } }>(
        'getSettings',
      );
      return data.tlsExpiryNotifyDays[0] === 5 && data.primaryBaseURL === 'https://s.example';
    });
    expect(client.socket.connected).toBe(true);
  });
});
