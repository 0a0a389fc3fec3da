import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { io, type Socket } from 'socket.io-client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { secretFields, sensitiveFields } from '../../services/contracts/uptime/monitor.ts';
import { accessPassword } from '../support/access.ts';
import { adminAuthorization } from '../support/host.ts';
import { openUptime, type UptimeRig } from '../services/uptime/rig.ts';

/** Fields with an address that readers see; the marker is in its password and query. */
const addresses = new Set(['url', 'grpcUrl', 'oauth_token_url', 'hostname', 'dns_resolve_server']);
const fields = [...secretFields, ...sensitiveFields];
const mark = (field: string): string => `SECRET${String(fields.indexOf(field as 'url'))}X`;
const findLeakedFields = (text: string): readonly string[] => fields.filter((field) => text.includes(mark(field)));

let rig: UptimeRig;
let id: number;
const sockets: Socket[] = [];
beforeAll(async () => {
  rig = await openUptime();
  for (const [name, permission] of Object.entries({ reader: 'read', writer: 'read-write' })) {
    const reply = await fetch(`${rig.host.url('control')}/api/accounts`, {
      method: 'POST',
      headers: { authorization: adminAuthorization, 'content-type': 'application/json' },
      body: JSON.stringify({
        name,
        password: accessPassword,
        grants: [{ service: 'uptime', resource: '*', permission }],
      }),
    });
    expect(reply.ok).toBe(true);
  }
  const values = fields.map((field): [string, unknown] => {
    if (field.startsWith('kafkaProducer') && field !== 'kafkaProducerMessage')
      return [field, field.endsWith('Brokers') ? [mark(field)] : { password: mark(field) }];
    if (field === 'rabbitmqNodes') return [field, [`http://u:${mark(field)}@h/`]];
    return [field, addresses.has(field) ? `http://u:${mark(field)}@127.0.0.1:1/?k=${mark(field)}` : mark(field)];
  });
  const config = { ...Object.fromEntries(values), pushToken: mark('pushToken'), headers: `{"A":"${mark('headers')}"}` };
  ({ id } = await rig.add({ ...config, type: 'http', name: 'everything', interval: 3600, timeout: 5 }));
  const page = await rig.call<{ readonly slug: string }>('POST', '/api/status-pages', {
    ...{ slug: 'home', title: 'Home', published: true },
    groups: [{ name: 'All', monitors: [{ id, sendUrl: true }] }],
  });
  expect(page.slug).toBe('home');
  await rig.call('POST', `/api/monitors/${String(id)}/check`);
  await vi.waitUntil(async () => (await rig.beats(id)).length > 0);
});
afterAll(async () => {
  for (const socket of sockets) socket.disconnect();
  await rig[Symbol.asyncDispose]();
});

/** Returns all messages that a Socket.IO client receives as an account. */
async function receivedBy(account: string): Promise<string> {
  const socket = io(rig.url, { transports: ['websocket'], forceNew: true, reconnection: false });
  sockets.push(socket);
  const received: unknown[] = [];
  socket.onAny((...event: unknown[]) => void received.push(event));
  const sendRequest = (...event: [string, ...unknown[]]): Promise<unknown> =>
    socket
      .timeout(30_000)
      .emitWithAck(...event)
      .then((answer: unknown) => void received.push(answer));
  await sendRequest('login', { username: account, password: accessPassword, token: '' });
  await vi.waitUntil(() => received.some((event) => JSON.stringify(event).startsWith('["monitorList"')));
  for (const name of ['getMonitorList', 'getTags', 'getSettings', 'getStatusPageList', 'getMaintenanceList'])
    await sendRequest(name);
  for (const name of ['getMonitor', 'getMonitorBeats', 'editMonitor', 'getMonitorChartData'])
    await sendRequest(name, id, 24);
  return JSON.stringify(received);
}

describe('secrets of a monitor', () => {
  it('are accepted in every field', async () => {
    const stored = await (await rig.raw('GET', `/api/monitors/${String(id)}`)).text();
    expect(findLeakedFields(stored)).toEqual(sensitiveFields);
  });

  it('are sealed in every file of the service', () => {
    const folder = join(rig.host.dataDir, 'uptime');
    for (const file of readdirSync(folder).filter((name) => name.startsWith('db.sqlite')))
      expect([file, findLeakedFields(readFileSync(join(folder, file), 'latin1'))]).toEqual([file, []]);
  });

  it('are not sent to an account that may only read, over the socket', async () => {
    const text = await receivedBy('reader');
    expect(text).toContain('everything');
    expect(findLeakedFields(text)).toEqual([]);
    expect(findLeakedFields(await receivedBy('writer'))).toContain('url');
  });

  it.each([
    '/status/home',
    '/api/status-page/home',
    '/api/status-page/heartbeat/home',
    '/status/home/rss',
    '/api/badge/1/status',
    '/api/entry-page',
  ])('are not shown to visitors at %s', async (path) => {
    const reply = await fetch(`${rig.url}${path}`);
    expect(findLeakedFields(await reply.text())).toEqual([]);
  });

  it.each([
    '/api/uptime/overview',
    '/api/uptime/monitors',
    '/api/uptime/recent',
    '/api/uptime/incidents',
    '/api/uptime/report',
    '/metrics',
    '/metrics/uptime',
  ])('are not shown to accounts with read access at %s of the app API', async (path) => {
    const credentials = Buffer.from(`reader:${accessPassword}`).toString('base64');
    const reply = await fetch(`${rig.host.url('control')}${path}`, {
      headers: { authorization: `Basic ${credentials}` },
    });
    expect(findLeakedFields(await reply.text())).toEqual([]);
  });

  it('are in no line of the log and in no notification', async () => {
    await rig.events('down', id);
    expect(findLeakedFields(rig.host.log.join('\n'))).toEqual([]);
    expect(findLeakedFields(JSON.stringify(rig.sent))).toEqual([]);
  });
});
