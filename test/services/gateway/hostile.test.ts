import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { constants } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { downloads } from '../../../services/downloads/index.ts';
import { gateway } from '../../../services/gateway/index.ts';
import { push } from '../../../services/push/index.ts';
import { createFakeClock } from '../../support/clock.ts';
import { fixtureService } from '../../support/fixture-service.ts';
import { lan, openHome, phoneAddress, type Home } from '../../support/gateway/phone.ts';
import { admin } from '../../support/host.ts';

/** Requests that a service received: method, path, headers. */
const seen: { method: string; url: string; headers: IncomingHttpHeaders; raw: readonly string[]; from: string }[] = [];
const mirror = fixtureService('mirror', (context) => ({
  http(request, response) {
    const { method = '', url = '', headers, rawHeaders: raw } = request;
    seen.push({ method, url, headers, raw, from: context.caller(request).remoteAddress });
    request.resume().once('end', () => response.end(context.publicUrl(request)));
    if (url === '/throw') throw new Error('broken on purpose');
  },
}));
const services = [mirror, push, downloads, control, gateway];
let home: Home;
beforeAll(async () => {
  home = await openHome({ services, environment: { GATEWAY_OPEN: 'mirror', GATEWAY_SHARED: 'push,downloads' } });
});
afterAll(() => home[Symbol.asyncDispose]());
beforeEach(() => void (seen.length = 0));

const host = 'mirror.nas.local';
/** Sends raw bytes and returns all received bytes until the peer ends the connection. */
async function send(bytes: string): Promise<string> {
  const socket = await home.dial(host);
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  socket.write(bytes.replaceAll(/\n/g, '\r\n'), 'latin1');
  if (!socket.closed) await new Promise((resolve) => void socket.once('close', resolve));
  return Buffer.concat(parts).toString('latin1');
}
const statuses = (answer: string): number[] =>
  [...answer.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, code]) => Number(code));

describe('request smuggling', () => {
  const hidden = 'GET /hidden HTTP/1.1\nHost: mirror.nas.local\n\n';
  it.each([
    ['two lengths', `POST / HTTP/1.1\nHost: ${host}\nContent-Length: 0\nContent-Length: 45\n\n${hidden}`],
    ['two lengths in one line', `POST / HTTP/1.1\nHost: ${host}\nContent-Length: 0, 45\n\n${hidden}`],
    [
      'a length and chunks',
      `POST / HTTP/1.1\nHost: ${host}\nContent-Length: 5\nTransfer-Encoding: chunked\n\n0\n\n${hidden}`,
    ],
    [
      'a coding beside chunks',
      `POST / HTTP/1.1\nHost: ${host}\nTransfer-Encoding: chunked, identity\n\n0\n\n${hidden}`,
    ],
    ['a coding with a tail', `POST / HTTP/1.1\nHost: ${host}\nTransfer-Encoding: xchunked\n\n0\n\n${hidden}`],
    [
      'a coding before a space and a colon',
      `POST / HTTP/1.1\nHost: ${host}\nTransfer-Encoding : chunked\n\n0\n\n${hidden}`,
    ],
    ['a folded line', `GET / HTTP/1.1\nHost: ${host}\nX-One: a\n Transfer-Encoding: chunked\n\n${hidden}`],
    ['a length that is no number', `POST / HTTP/1.1\nHost: ${host}\nContent-Length: +5\n\nhello${hidden}`],
    [
      'a chunk that is no number',
      `POST / HTTP/1.1\nHost: ${host}\nTransfer-Encoding: chunked\n\n0x5\nhello\n0\n\n${hidden}`,
    ],
    ['a chunk of a negative length', `POST / HTTP/1.1\nHost: ${host}\nTransfer-Encoding: chunked\n\n-1\n\n${hidden}`],
    [
      'a chunk without its end',
      `POST / HTTP/1.1\nHost: ${host}\nTransfer-Encoding: chunked\n\n5\nhelloXX0\n\n${hidden}`,
    ],
  ])('rejects smuggling by %s before it reaches a service', async (_case, bytes) => {
    expect(statuses(await send(bytes)).at(-1)).toBe(400);
    expect(seen.map(({ url }) => url)).not.toContain('/hidden');
  });

  it.each([
    ['a bare CR', `GET / HTTP/1.1\r\nHost: ${host}\r\nX: a\rGET /hidden HTTP/1.1\r\n\r\n`],
    ['a bare LF', `GET / HTTP/1.1\r\nHost: ${host}\r\nX: a\n\nGET /hidden HTTP/1.1\r\n\r\n`],
    ['a NUL', `GET / HTTP/1.1\r\nHost: ${host}\r\nX: a\0b\r\n\r\n`],
  ])('rejects an attack by %s', async (_case, bytes) => {
    const socket = await home.dial(host);
    const parts: Buffer[] = [];
    socket.on('data', (part: Buffer) => parts.push(part)).write(bytes, 'latin1');
    await new Promise((resolve) => void socket.once('close', resolve));
    expect(statuses(Buffer.concat(parts).toString('latin1'))).toEqual([400]);
    expect(seen).toEqual([]);
  });

  it.each<[string, Record<string, string | string[]>]>([
    ['the codings of HTTP/1.1', { 'transfer-encoding': 'chunked' }],
    ['the headers of a connection', { connection: 'keep-alive, x-secret' }],
    ['an upgrade', { upgrade: 'h2c' }],
    ['another host beside the authority', { host: 'push.nas.local', ':authority': 'mirror.nas.local' }],
    ['a space in the path', { ':path': '/a HTTP/1.1' }],
    ['an address in place of a path', { ':path': 'https://push.nas.local/' }],
    ['a tunnel', { ':method': 'CONNECT' }],
  ])('rejects an attack by %s in HTTP/2', async (_case, headers) => {
    const session = home.http2(host);
    const done = new Promise<number | 'reset'>((resolve) => {
      session.once('close', () => resolve('reset'));
      try {
        const tunnel = headers[':method'] === 'CONNECT';
        const stream = session.request(tunnel ? { ...headers, ':authority': host } : { ':path': '/', ...headers });
        stream.on('error', () => resolve('reset'));
        stream.once('response', ({ ':status': status }) => resolve(status ?? 0));
        stream.once('close', () => resolve('reset'));
        stream.resume().end();
      } catch {
        // Node's HTTP client cannot send it.
        resolve('reset');
      }
    });
    expect([400, 403, 'reset']).toContain(await done);
    expect(seen).toEqual([]);
    session.destroy();
  });

  it('resets HTTP/2 requests whose length does not match', async () => {
    const session = home.http2(host);
    const stream = session.request({ ':path': '/', ':method': 'POST', 'content-length': '3' });
    stream.on('error', () => undefined);
    stream.resume().end('more than three');
    await new Promise((resolve) => void stream.once('close', resolve));
    expect(stream.rstCode).not.toBe(constants.NGHTTP2_NO_ERROR);
    session.destroy();
  });
});

describe('excessive requests', () => {
  it('rejects excessive headers over HTTP/1.1 and HTTP/2', async () => {
    expect(statuses(await send(`GET / HTTP/1.1\nHost: ${host}\nX: ${'x'.repeat(80_000)}\n\n`))).toEqual([431]);
    const session = home.http2(host);
    const stream = session.request({ ':path': '/', x: 'x'.repeat(80_000) });
    stream.on('error', () => undefined);
    let status: number | undefined;
    stream.once('response', ({ ':status': responseStatus }) => (status = responseStatus)).resume();
    await new Promise((resolve) => void stream.once('close', resolve));
    expect(status).not.toBe(200);
    expect(seen).toEqual([]);
    session.destroy();
  });

  it('closes connections that reset requests rapidly, and serves others', async () => {
    const socket = connectTls({
      host: lan,
      port: home.port,
      servername: host,
      ca: home.authority,
      ALPNProtocols: ['h2'],
    });
    await once(socket, 'secureConnect');
    socket.on('error', () => undefined).resume();
    const closed = new Promise((resolve) => void socket.once('close', resolve));
    const frame = (type: number, flags: number, stream: number, payload: Buffer): Buffer => {
      const head = Buffer.alloc(9);
      head.writeUIntBE(payload.length, 0, 3);
      head[3] = type;
      head[4] = flags;
      head.writeUInt32BE(stream, 5);
      return Buffer.concat([head, payload]);
    };
    // Contains `GET`, `/` and `https` of the static table, and the authority.
    const fields = Buffer.concat([Buffer.from([0x82, 0x84, 0x87, 0x41, host.length]), Buffer.from(host)]);
    const cancel = Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL]);
    const requests = Array.from({ length: 4000 }, (_, index) => [
      frame(1, 5, 1 + 2 * index, fields),
      frame(3, 0, 1 + 2 * index, cancel),
    ]).flat();
    socket.write(
      Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0, Buffer.alloc(0)), ...requests]),
    );
    await closed;
    expect(seen.length).toBeLessThan(4000);
    expect((await home.ask(`https://${host}/`)).status).toBe(200);
  }, 60_000);

  it('throttles wrong passwords on the page and over Basic, except for known clients', async () => {
    const clock = createFakeClock(Date.now());
    await using slow = await openHome({ services, clock, environment: { GATEWAY_SHARED: 'downloads' } });
    expect(await slow.signIn('https://downloads.nas.local', admin.name, admin.password)).toContain('__Host-');
    const origin = `https://downloads.nas.local:${slow.port}`;
    const answers: { status: number; headers: IncomingHttpHeaders }[] = [];
    const attempt = async (turn: number): Promise<void> => {
      const body = new URLSearchParams({ name: 'eve', password: `guess number ${String(turn)}` }).toString();
      const requestOptions = { method: 'POST', headers: { Origin: origin }, body };
      answers.push(await slow.ask('https://downloads.nas.local/.homeport/sign-in', requestOptions));
    };
    const all = Promise.all(Array.from({ length: 40 }, (_, turn) => attempt(turn)));
    const refused = (): typeof answers => answers.filter(({ status }) => status === 429);
    await vi.waitFor(() => expect(refused().length).toBeGreaterThan(10), { timeout: 20_000 });
    expect(Number(refused()[0]?.headers['retry-after'])).toBeGreaterThan(0);
    const basic = `Basic ${Buffer.from('eve:guess again').toString('base64')}`;
    const response = await slow.ask('https://downloads.nas.local/history', { headers: { Authorization: basic } });
    expect(response.status).toBe(429);
    expect(await slow.signIn('https://downloads.nas.local', admin.name, admin.password)).toContain('__Host-');
    while (answers.length < 40) {
      clock.advance(1000);
      await new Promise((resolve) => void setImmediate(resolve));
    }
    await all;
  }, 60_000);

  it('rejects excessive form submissions before verifying passwords', async () => {
    const clock = createFakeClock(Date.now());
    await using slow = await openHome({ services, clock, environment: { GATEWAY_SHARED: 'push' } });
    const origin = `https://push.nas.local:${slow.port}`;
    const attempt = (): ReturnType<Home['ask']> =>
      slow.ask('https://push.nas.local/.homeport/sign-in', {
        method: 'POST',
        headers: { Origin: origin },
        body: 'name=',
      });
    const answers = await Promise.all(Array.from({ length: 70 }, attempt));
    const refused = answers.filter(({ body }) => body.includes('gateway.too_many'));
    expect(refused.map(({ status, headers }) => [status, headers['retry-after']])).toEqual(
      Array.from({ length: 10 }, () => [429, '3']),
    );
    clock.advance(1000);
    expect((await attempt()).body).not.toContain('gateway.too_many');
  });
});

describe('host names and paths', () => {
  it.each([
    'evil.example',
    'nas.local.evil.example',
    'evil.example:8443@nas.local',
    'nas.local/evil',
    'xn--ns-0ia.local',
    '10.9.8.7',
    'push.nas.local.',
    'mirror.nas.local, push.nas.local',
    '',
  ])('rejects a request for the host "%s"', async (name) => {
    const response = await send(`GET /v1/health HTTP/1.1\nHost: ${name}\nConnection: close\n\n`);
    // A name with a trailing dot is equivalent.
    if (name.endsWith('local.')) expect(statuses(response)).toEqual([200]);
    else expect([400, 403]).toContain(statuses(response)[0]);
    expect(seen).toEqual([]);
  });

  it('rejects duplicate and contradictory host names', async () => {
    const two = await send(`GET / HTTP/1.1\nHost: ${host}\nHost: push.nas.local\nConnection: close\n\n`);
    expect([400, 403]).toContain(statuses(two)[0]);
    for (const target of ['http://push.nas.local/', 'https://evil.example/', 'mirror', '\\evil', '*']) {
      const response = await send(`GET ${target} HTTP/1.1\nHost: ${host}\nConnection: close\n\n`);
      expect(statuses(response)[0]).toBe(400);
    }
    expect(seen).toEqual([]);
  });

  it('routes by the Host header instead of SNI', async () => {
    const socket = connectTls({ host: lan, port: home.port, servername: 'evil.example', rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    socket.end('GET /v1/health HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 403/);
  });

  it.each([
    '/mirror/../control/',
    '/%6dirror/',
    '/MIRROR/',
    '//mirror/',
    '/./mirror/',
    '/mirror%2f..%2fcontrol',
    '/.homeport/../mirror/',
    '/.homeport/%2e%2e/mirror/',
    '/.homeport//sign-in',
    '/control/',
    '/gateway/',
  ])('resolves the path %s only literally', async (path) => {
    const response = await send(`GET ${path} HTTP/1.1\nHost: nas.local\nConnection: close\n\n`);
    if (path === '/mirror/../control/') expect(seen.map(({ url }) => url)).toEqual(['/../control/']);
    else expect([statuses(response)[0], seen]).toEqual([404, []]);
  });

  it('rejects plain HTTP on a TLS port', async () => {
    const socket = connectTcp({ host: lan, port: home.port, localAddress: phoneAddress });
    socket.on('error', () => undefined);
    socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    expect(await text(socket).catch(() => '')).not.toContain('200');
    expect(seen).toEqual([]);
  });
});

describe('forwarding headers', () => {
  const forgedHeaders = {
    'X-Forwarded-For': '10.0.0.1',
    'X-Forwarded-Host': 'evil.example',
    'X-Forwarded-Proto': 'http',
    Forwarded: 'for=10.0.0.1;host=evil.example',
    'X-Real-IP': '10.0.0.1',
    'Remote-User': 'ada',
    'X-Remote-User': 'ada',
  };

  it('ignores headers of untrusted proxies', async () => {
    const response = await home.ask(`https://${host}/`, { headers: forgedHeaders });
    expect(response.body).toBe(`https://${host}:${home.port}`);
    const [request] = seen;
    expect(request?.from).toBe(phoneAddress);
    const names = [...Object.keys(request?.headers ?? {}), ...(request?.raw ?? [])].join(' ').toLowerCase();
    expect(names).not.toMatch(/forwarded|remote-user|real-ip|evil|ada/);
    expect((await home.ask('https://downloads.nas.local/history', { headers: forgedHeaders })).status).toBe(401);
  });

  it('accepts headers of trusted proxies', async () => {
    await using proxiedHome = await openHome({
      services,
      environment: { GATEWAY_OPEN: 'mirror', HOMEPORT_TRUSTED_PROXIES: phoneAddress },
    });
    const response = await proxiedHome.ask(`https://${host}/`, {
      headers: { 'X-Forwarded-For': '10.0.0.1', 'X-Forwarded-Host': 'home.example' },
    });
    expect(response.body).toBe('https://home.example');
    expect(seen.at(-1)?.from).toBe('10.0.0.1');
  });
});

describe('failing service', () => {
  it('keeps other services reachable', async () => {
    expect((await home.ask(`https://${host}/throw`)).status).toBe(500);
    expect((await home.ask('https://push.nas.local/v1/health')).status).toBe(200);
    expect((await home.ask(`https://${host}/`)).status).toBe(200);
  });
});
