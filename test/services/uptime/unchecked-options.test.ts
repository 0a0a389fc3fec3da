import * as texts from '#messages/uptime-texts';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Monitor } from '../../../services/contracts/uptime/views.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Children } from '../../../services/contracts/children.ts';
import { MonitorConfig } from '../../../services/contracts/uptime/monitor.ts';
import { pingHost } from '../../../services/uptime/monitoring/ping.ts';
import { makeSelfSigned } from '../../support/self-signed.ts';
import { listen, openTarget, openUptime, type Target, type UptimeRig } from './rig.ts';

let rig: UptimeRig;
let target: Target;
beforeAll(async () => {
  rig = await openUptime();
  target = await openTarget();
});
afterAll(async () => {
  await rig[Symbol.asyncDispose]();
  await target[Symbol.asyncDispose]();
});

const hourly = { interval: 3600, timeout: 20 };
const condition = (operator: string, value: string, andOr = 'and') => ({
  ...{ type: 'expression', variable: 'record', operator, value, andOr },
});

/** A DNS server that answers each question with the given records (type and data). */
async function openDns(answers: Readonly<Record<number, readonly Buffer[]>>) {
  const socket = createSocket('udp4');
  socket.on('message', (question, from) => {
    const end = question.indexOf(0, 12) + 5;
    const list = answers[question.readUInt16BE(end - 4)] ?? [];
    const header = Buffer.from(question.subarray(0, 12));
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(list.length, 6);
    header.fill(0, 8);
    const records = list.map((data) => {
      const record = Buffer.alloc(12);
      record.writeUInt16BE(0xc00c, 0);
      question.copy(record, 2, end - 4, end);
      record.writeUInt32BE(60, 6);
      record.writeUInt16BE(data.length, 10);
      return Buffer.concat([record, data]);
    });
    socket.send(Buffer.concat([header, question.subarray(12, end), ...records]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { port: socket.address().port, [Symbol.dispose]: () => void socket.close() };
}

const name = (text: string): Buffer =>
  Buffer.concat([
    ...text.split('.').flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]),
    Buffer.of(0),
  ]);

describe('A DNS monitor', () => {
  const dns = (port: number, overrides: object) => ({
    ...{ type: 'dns', name: 'dns', hostname: 'mail.example', dns_resolve_server: '127.0.0.1', port, ...hourly },
    ...overrides,
  });

  it.each([
    [1, [condition('equals', '192.0.2.10')]],
    [0, [condition('equals', '203.0.113.99')]],
    [1, [condition('equals', '203.0.113.99'), condition('starts_with', '192.', 'or')]],
    [0, [condition('starts_with', '192.'), { type: 'group', andOr: 'and', children: [condition('contains', '9.9')] }]],
    [0, [{ ...condition('equals', '192.0.2.10'), variable: 'unknown' }]],
    [0, [condition('matches', '192.0.2.10')]],
  ])('is %s by its conditions', async (status, conditions) => {
    using server = await openDns({ 1: [Buffer.from([192, 0, 2, 10])] });
    const { id } = await rig.add(dns(server.port, { dns_resolve_type: 'A', conditions }));
    await rig.until(id, status);
  });

  it('shows records as text, and finds the name of an address', async () => {
    const mx = Buffer.concat([Buffer.from([0, 10]), name('mx.example')]);
    using server = await openDns({ 15: [mx], 12: [name('host.example')] });
    const { id: mail } = await rig.add(dns(server.port, { dns_resolve_type: 'MX' }));
    expect((await rig.until(mail, 1)).msg).toBe('Hostname: mx.example - Priority: 10');
    const { id: address } = await rig.add(dns(server.port, { dns_resolve_type: 'PTR', hostname: '192.0.2.10' }));
    expect((await rig.until(address, 1)).msg).toBe('Records: host.example');
  });
});

describe('A DNS monitor of several kinds of records', () => {
  const numbers = (...values: readonly number[]): Buffer => {
    const bytes = Buffer.alloc(4 * values.length);
    values.forEach((value, index) => bytes.writeUInt32BE(value, 4 * index));
    return bytes;
  };
  const srv = Buffer.concat([Buffer.from([0, 5, 0, 10, 0x13, 0xc4]), name('sip.example')]);
  const caa = Buffer.concat([Buffer.from([0, 5]), Buffer.from('issueletsencrypt.org')]);
  const soa = Buffer.concat([name('ns.example'), name('host.example'), numbers(7, 3600, 600, 86_400, 300)]);

  it.each([
    ['SRV', 33, srv, 'Name: sip.example | Port: 5060 | Priority: 5 | Weight: 10', 'sip.example'],
    ['CAA', 257, caa, 'Records: 0 issue letsencrypt.org', 'letsencrypt.org'],
    [
      ...(['SOA', 6, soa] as const),
      'NS-Name: ns.example | Hostmaster: host.example | ' +
        'Serial: 7 | Refresh: 3600 | Retry: 600 | Expire: 86400 | MinTTL: 300',
      'ns.example',
    ],
  ] as const)('shows and compares %s records', async (type, number, record, msg, value) => {
    using server = await openDns({ [number]: [record] });
    const dns = { type: 'dns', name: type, hostname: 'mail.example', dns_resolve_server: '127.0.0.1', ...hourly };
    const add = (text: string) =>
      rig.add({ ...dns, port: server.port, dns_resolve_type: type, conditions: [condition('equals', text)] });
    expect((await rig.until((await add(value)).id, 1)).msg).toBe(msg);
    await rig.until((await add('other.example')).id, 0);
  });
});

describe('A port monitor that watches a certificate', () => {
  it('encrypts as configured and reports the option otherwise', async () => {
    const { key, cert } = makeSelfSigned();
    const secure = createTlsServer({ key, cert }, (socket) => socket.end());
    const closingServer = createServer((socket) => socket.on('error', () => undefined).end());
    const [port, plainPort] = [await listen(secure), await listen(closingServer)];
    try {
      const base = { type: 'port', name: 'port', hostname: '127.0.0.1', expiryNotification: true, ...hourly };
      const add = (overrides: object) => rig.add({ ...base, port, smtpSecurity: 'secure', ...overrides });
      const trusted = await add({ tlsCa: cert });
      expect(trusted.state.problems).toBeUndefined();
      await rig.until(trusted.id, 1);
      expect((await rig.until((await add({})).id, 0)).msg).toContain('certificate is not trusted');
      await rig.until((await add({ ignoreTls: true })).id, 1);
      await rig.until((await add({ port: plainPort })).id, 0);
      await rig.until((await add({ port: plainPort, smtpSecurity: 'starttls' })).id, 0);
      const unset = await add({ port: plainPort, smtpSecurity: null });
      await rig.until(unset.id, 1);
      expect((unset.state.problems ?? []).join()).toContain(texts.certificateIgnoredWithoutEncryption());
    } finally {
      secure.close();
      closingServer.close();
    }
  });
});

it('applies the timeout per echo of a ping', async () => {
  const calls: (readonly string[])[] = [];
  const children = {
    start(order: { readonly args: readonly string[] }) {
      calls.push(order.args);
      return Promise.reject(new Problem('children.none', 503, 'There is no such program.'));
    },
  } as unknown as Children;
  const config = MonitorConfig.parse({ type: 'ping', name: 'ping', hostname: 'host.example' });
  for (const seconds of [undefined, 3, 60, 'soon'])
    await pingHost(children, { ...config, ping_per_request_timeout: seconds }, 20_000);
  expect(calls.map((args) => args[args.indexOf('-W') + 1])).toEqual(['20', '3', '20', '20']);
});

describe('An HTTP monitor', () => {
  const http = (overrides: object) => ({ type: 'http', name: 'http', url: target.url, ...hourly, ...overrides });

  it('sends the cookies that a redirect sets', async () => {
    target.handler = (request, response) => {
      if (request.headers.cookie === 'seen=1') response.end('fine');
      else response.writeHead(302, { 'Set-Cookie': ['seen=1; Path=/', 'old=1; Max-Age=0'], Location: '/' }).end();
    };
    const { id } = await rig.add(http({}));
    await rig.until(id, 1);
  });

  it('reads the beginning of a long body and reports it', async () => {
    const long = `first line ${'x'.repeat(1_400_000)}`;
    target.handler = (_request, response) =>
      void response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync(long));
    const { id } = await rig.add(http({ type: 'keyword', keyword: 'first line' }));
    await rig.until(id, 1);
    const { id: missing } = await rig.add(http({ type: 'keyword', keyword: 'absent' }));
    expect((await rig.until(missing, 0)).msg).toContain('only the first MiB');
    const { id: inverted } = await rig.add(http({ type: 'keyword', keyword: 'absent', invertKeyword: true }));
    expect((await rig.until(inverted, 0)).msg).toContain('only the first MiB');
    target.handler = (_request, response) => void response.end(JSON.stringify({ pad: long, status: 'ok' }));
    const query = { type: 'json-query', jsonPath: 'status', expectedValue: 'ok' };
    const { id: json } = await rig.add(http(query));
    expect((await rig.until(json, 0)).msg).toContain('only the first MiB');
    target.handler = (_request, response) => void response.end('fine');
  });

  it.each([
    [{ authMethod: 'oauth2-cc' }, 'sign-in method isn’t supported'],
    [{ type: 'steam', hostname: 'x' }, 'steam aren’t supported'],
    [{ url: 'gopher://x' }, ''],
  ])('is never up, also upside down, when it cannot check: %j', async (overrides, problem) => {
    const { id } = await rig.add(http({ ...overrides, upsideDown: true }));
    await rig.until(id, 0);
    const monitor = await rig.call<Monitor>('GET', `/api/monitors/${String(id)}`);
    expect((monitor.state.problems ?? []).join()).toContain(problem);
  });

  it.each([
    [{ conditions: [condition('equals', 'x')] }, texts.conditionsIgnored()],
    [{ domainExpiryNotification: true }, texts.domainExpiryIgnored()],
    [{ madeUpOption: 'x' }, texts.optionsWithoutEffect({ names: 'madeUpOption' })],
  ])('reports options that have no effect: %j', async (overrides, problem) => {
    const added = await rig.add(http(overrides));
    expect((added.state.problems ?? []).join()).toContain(problem);
    const facts = await rig.call<{ problems: string[] }>('GET', `/api/monitors/${String(added.id)}/facts`);
    expect(facts.problems.join()).toContain(problem);
    const document = { monitorList: { 1: { id: 1, ...http(overrides) } } };
    const imported = await rig.call<{ skipped: { why: string }[] }>('POST', '/api/import', document);
    expect(imported.skipped.map(({ why }) => why).join()).toContain(problem);
  });

  it('accepts the default fields of Uptime Kuma clients without a problem', async () => {
    const sent = { conditions: [], proxyId: null, notificationIDList: {}, ping_count: 1, saveErrorResponse: true };
    expect((await rig.add(http(sent))).state.problems).toBeUndefined();
  });
});

describe('A push monitor', () => {
  it('keeps message and fractions of a push, also in upside-down mode', async () => {
    const { id } = await rig.add({
      ...{ type: 'push', name: 'job', interval: 3600, upsideDown: true, pushToken: 'upsidedown1' },
    });
    await fetch(`${rig.url}/api/push/upsidedown1?status=up&msg=disk+93+percent&ping=0.235`);
    expect(await rig.until(id, 0)).toMatchObject({ msg: 'disk 93 percent', ping: 0.235 });
  });
});

describe('Metrics', () => {
  it('includes the tags of monitors as labels', async () => {
    const tags = [{ tag_id: 1, name: 'env-name', color: '#112233', value: 'prod' }];
    const monitor = { id: 1, type: 'manual', name: 'tagged', interval: 3600, manual_status: 1, tags };
    await rig.call('POST', '/api/import', { monitorList: { 1: monitor } });
    await vi.waitUntil(async () => {
      const text = await (await rig.raw('GET', '/metrics')).text();
      return /monitor_status\{[^}]*monitor_name="tagged"[^}]*envname="prod"/.test(text);
    });
  });
});
