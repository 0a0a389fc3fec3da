import * as problems from '#messages/gateway-problems';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createPlainServer, type AddressInfo, type Server as PlainServer, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { gateway } from '../../../services/gateway/index.ts';
import { UpstreamConnections } from '../../../services/gateway/external-services/connections.ts';
import { fixtureService } from '../../support/fixture-service.ts';
import { openHome, type Home } from '../../support/gateway/phone.ts';
import { adminAuthorization } from '../../support/host.ts';

const host = 'photos.nas.local';
const hidden = 'GET /hidden HTTP/1.1\r\nHost: x\r\nRemote-User: ada\r\n\r\n';
const user = `Authorization: ${adminAuthorization}`;

/** Requests that the upstream parsed, with their content. */
let seen: { request: IncomingMessage; body: string }[] = [];
let upstream: Server;
/** Answers every request with these bytes. */
let hostileServer: PlainServer;
let reply = '';
/** Last connection to that upstream. */
let roughSocket: Socket | undefined;
let home: Home;

const getPort = (server: PlainServer): string => String((server.address() as AddressInfo).port);
beforeAll(async () => {
  upstream = createServer((request, response) => {
    const exchange = { request, body: '' };
    seen.push(exchange);
    request.on('data', (part: Buffer) => (exchange.body += part.toString('latin1')));
    request.once('end', () => response.end(`answer to ${request.url ?? ''}`));
  }).listen(0, '127.0.0.1');
  hostileServer = createPlainServer((socket) => {
    roughSocket = socket;
    socket.on('error', () => undefined);
    socket.on('data', () => socket.write(reply, 'latin1'));
  }).listen(0, '127.0.0.1');
  await Promise.all([once(upstream, 'listening'), once(hostileServer, 'listening')]);
  const outside = [`photos=http://127.0.0.1:${getPort(upstream)}`, `rough=http://127.0.0.1:${getPort(hostileServer)}`];
  const services = [fixtureService('lamp'), control, gateway];
  home = await openHome({ services, settings: { outside, shared: ['lamp', 'photos', 'rough'] } });
});
afterAll(async () => {
  await home[Symbol.asyncDispose]();
  upstream.closeAllConnections();
  upstream.close();
  hostileServer.close();
});
beforeEach(() => void (seen = []));

/** Sends raw bytes and reads until the response matches the pattern. */
async function send(lines: readonly string[], body: string, until: RegExp, to = host): Promise<string> {
  const socket = await home.dial(to);
  socket.write(`${[lines[0], `Host: ${to}`, ...lines.slice(1)].join('\r\n')}\r\n\r\n${body}`, 'latin1');
  let received = '';
  for await (const part of socket) {
    received += String(part);
    if (until.test(received)) break;
  }
  socket.destroy();
  return received;
}
const urls = (): (string | undefined)[] => seen.map(({ request }) => request.url);
const after = async (): Promise<string> =>
  (await home.ask(`https://${host}/after`, { headers: { Authorization: adminAuthorization } })).body;

describe('request smuggling to an upstream', () => {
  it.each(['GET', 'HEAD', 'DELETE', 'OPTIONS'])(
    'keeps the length of a %s that lists it in Connection',
    async (method) => {
      const lines = [
        `${method} /first HTTP/1.1`,
        user,
        'Connection: content-length, host',
        `Content-Length: ${String(hidden.length)}`,
      ];
      await send(lines, hidden, /200 OK[\s\S]*\r\n\r\n/);
      expect(await after()).toBe('answer to /after');
      expect(urls()).toEqual(['/first', '/after']);
      expect(seen[0]).toMatchObject({ body: hidden, request: { headers: { host } } });
    },
  );

  it.each([`Content-Length: ${String(hidden.length)}`, 'Transfer-Encoding: chunked'])(
    'drops the body of a preflight without a sign-in, with %s',
    async (length) => {
      const isChunked = length.startsWith('Transfer');
      const body = isChunked ? `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n` : hidden;
      const lines = [
        'OPTIONS /first HTTP/1.1',
        'Access-Control-Request-Method: GET',
        'Connection: content-length',
        length,
      ];
      await send(lines, body, /answer to/);
      expect(await after()).toBe('answer to /after');
      expect(urls()).toEqual(['/first', '/after']);
      const { headers } = seen[0]?.request ?? {};
      expect([seen[0]?.body, headers?.['content-length'], headers?.['transfer-encoding']]).toEqual([
        '',
        undefined,
        undefined,
      ]);
    },
  );

  it('closes the connection after a declined upgrade', async () => {
    const lines = [
      'GET /socket HTTP/1.1',
      user,
      'Connection: Upgrade',
      'Upgrade: websocket',
      `Content-Length: ${String(hidden.length)}`,
    ];
    const received = await send(lines, hidden, /answer to/);
    expect(received).toMatch(/^HTTP\/1\.1 200 /);
    expect(await after()).toBe('answer to /after');
    expect(urls()).toEqual(['/socket', '/after']);
    expect([seen[0]?.body, seen[0]?.request.headers['content-length']]).toEqual(['', undefined]);
    expect(seen[1]?.request.socket).not.toBe(seen[0]?.request.socket);
  });
});

describe('malformed upstream response', () => {
  const ending = 'Content-Length: 2\r\n\r\nhi';
  it.each([
    ['a status below 100', `HTTP/1.1 042 Odd\r\n${ending}`],
    ['a status above 599', `HTTP/1.1 999 Odd\r\n${ending}`],
    ['an upgrade', 'HTTP/1.1 101 Odd\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'],
  ])('rejects a response by %s', async (_case, bytes) => {
    reply = bytes;
    const hostileUrl = 'https://rough.nas.local/';
    const { status, body } = await home.ask(hostileUrl, { headers: { Authorization: adminAuthorization } });
    expect([status, body]).toEqual([502, expect.stringContaining(problems.externalInvalidResponse({ id: 'rough' }))]);
    const session = home.http2('rough.nas.local');
    const stream = session.request({ ':path': '/', authorization: adminAuthorization });
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
    expect(headers[':status']).toBe(502);
    session.close();
    expect(await after()).toBe('answer to /after');
  });

  it('rejects an unexpected upgrade', async () => {
    reply = `HTTP/1.1 042 Odd\r\n${ending}`;
    const lines = ['GET / HTTP/1.1', user, 'Connection: Upgrade', 'Upgrade: websocket'];
    expect(await send(lines, '', /doesn’t respond/, 'rough.nas.local')).toMatch(/^HTTP\/1\.1 502 /);
    expect(await after()).toBe('answer to /after');
  });

  it('adds nothing to the answer of a declined upgrade that breaks off', async () => {
    reply = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun';
    const socket = await home.dial('rough.nas.local');
    const lines = ['GET / HTTP/1.1', 'Host: rough.nas.local', user, 'Connection: Upgrade', 'Upgrade: websocket'];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    let received = '';
    socket.on('data', (part: Buffer) => {
      received += part.toString('latin1');
      if (received.endsWith('begun')) roughSocket?.resetAndDestroy();
    });
    await new Promise((resolve) => socket.once('close', resolve));
    expect(received).toMatch(/^HTTP\/1\.1 200 /);
    expect(received).toMatch(/begun$/);
  });

  it('discards the reason phrase', async () => {
    reply = `HTTP/1.1 200 O\x01K\x7f\r\n${ending}`;
    const { status } = await home.ask('https://rough.nas.local/', { headers: { Authorization: adminAuthorization } });
    expect([200, 502]).toContain(status);
    expect(await after()).toBe('answer to /after');
  });
});

describe('headers of upstreams and clients', () => {
  it('removes identity headers in every spelling', async () => {
    const names = [
      'Remote_User',
      'X_Forwarded-For',
      'Remote-User',
      'Remote-Groups',
      'Remote-Email',
      'X-WEBAUTH-USER',
      'Tailscale-User-Login',
      'Cf-Access-Jwt-Assertion',
    ];
    await send(['GET /first HTTP/1.1', user, ...names.map((name) => `${name}: eve`)], '', /answer to/);
    const { rawHeaders = [] } = seen[0]?.request ?? {};
    expect(rawHeaders.join(' ')).not.toMatch(/eve|_/);
    expect(seen[0]?.request.headers['remote-user']).toBe('ada');
  });

  it('removes the domain of cookies', async () => {
    reply =
      'HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Domain=nas.local; Path=/\r\nSet-Cookie: b=2; Path=/; ' +
      'domain = .nas.local\r\nContent-Length: 0\r\n\r\n';
    const { headers } = await home.ask('https://rough.nas.local/', { headers: { Authorization: adminAuthorization } });
    expect(headers['set-cookie']).toEqual(['a=1; Path=/', 'b=2; Path=/']);
  });

  it('hides the upstream address before the sign-in', async () => {
    const page = await home.ask('https://nas.local/');
    expect(page.body).toContain('https://photos.nas.local');
    expect(page.body).not.toContain('127.0.0.1');
  });
});

it('detects Homeport addresses without a port', async () => {
  const upstream = { id: 'loop', url: 'http://127.0.0.1', host: '127.0.0.1', port: 80, protocol: 'http' } as const;
  const context = {
    addresses: () => ['http://127.0.0.1/'],
    connect: () => Promise.reject(new Error('it was connected to')),
  };
  const connections = new UpstreamConnections(context, upstream, true);
  const opened = new Promise((_resolve, reject) =>
    connections.createConnection({}, (error) => reject(error ?? new Error('open'))),
  );
  await expect(opened).rejects.toMatchObject({ detail: problems.externalAddressIsHomeport() });
});
