import * as problems from '#messages/gateway-problems';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { gateway } from '../../../services/gateway/index.ts';
import { api } from '../../support/api.ts';
import { fixtureService } from '../../support/fixture-service.ts';
import { lan, openHome, type Home } from '../../support/gateway/phone.ts';
import { admin, adminAuthorization } from '../../support/host.ts';
import { makeSelfSigned } from '../../support/self-signed.ts';

const waitOptions = { timeout: 30_000, interval: 20 };
const dataChunk = Buffer.alloc(256 * 1024, 'x');
const offered = 128 * 1024 * 1024;
const bufferLimit = 32 * 1024 * 1024;
const user = { Authorization: adminAuthorization };

/** Requests that the other computer received, newest first. */
let seen: { request: IncomingMessage; disconnected: boolean; sent: number; body: string }[] = [];
const sockets = new WebSocketServer({ noServer: true });
sockets.on('connection', (client) =>
  client.on('message', (data) => client.send(`heard ${(data as Buffer).toString()}`)),
);

function answer(request: IncomingMessage, response: ServerResponse): void {
  const exchange = { request, disconnected: false, sent: 0, body: '' };
  seen.unshift(exchange);
  response.once('close', () => (exchange.disconnected = true));
  if (request.url === '/pour') {
    response.writeHead(200, { 'Content-Length': offered });
    const writeChunks = (): void => {
      while (exchange.sent < offered && !response.destroyed) {
        exchange.sent += dataChunk.length;
        if (!response.write(dataChunk)) return void response.once('drain', writeChunks);
      }
      response.end();
    };
    return writeChunks();
  }
  if (request.url === '/events') {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    return void response.write('data: first\n\n');
  }
  if (request.url === '/broken') {
    response.writeHead(200, { 'Content-Length': 100 });
    response.write('half', () => response.destroy());
    return;
  }
  request.on('data', (chunk: Buffer) => (exchange.body += chunk.toString('latin1').slice(0, 100)));
  request.once('end', () => {
    const cookies = ['__Host-homeport-8443=tossed; Path=/; Secure', 'own=1'];
    response.writeHead(200, 'Fine', { 'Set-Cookie': cookies, 'X-Own': 'yes', Connection: 'X-Hop', 'X-Hop': 'no' });
    response.end(`photos ${request.method ?? ''} ${request.url ?? ''}`);
  });
}

let upstream: Server;
let secure: Server;
let home: Home;
const getPort = (server: Server): string => String((server.address() as AddressInfo).port);
beforeAll(async () => {
  upstream = createServer(answer).listen(0, '127.0.0.1');
  upstream.on('upgrade', (request, socket, head) => {
    seen.unshift({ request, disconnected: false, sent: 0, body: '' });
    sockets.handleUpgrade(request, socket, head, (client) => sockets.emit('connection', client));
  });
  secure = createTlsServer(makeSelfSigned(), answer).listen(0, '127.0.0.1');
  await Promise.all([once(upstream, 'listening'), once(secure, 'listening')]);
  home = await openHome({ services: [fixtureService('lamp'), control, gateway], settings: { shared: ['lamp'] } });
});
afterAll(async () => {
  await home[Symbol.asyncDispose]();
  for (const server of [upstream, secure]) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});
beforeEach(async () => {
  seen = [];
  const outside = [`photos=http://127.0.0.1:${getPort(upstream)}`, `safe=https://localhost:${getPort(secure)}/`];
  await home.change({ outside, outsideUnverified: [], shared: ['lamp', 'photos', 'safe'], open: [] });
});

const photos = 'https://photos.nas.local';

describe('external service', () => {
  it('serves the name behind the sign-in and passes the account without credentials', async () => {
    expect((await home.ask(`${photos}/`)).status).toBe(401);
    expect((await home.ask(`${photos}/`, { headers: { Accept: 'text/html' } })).status).toBe(302);
    expect(seen).toEqual([]);
    const cookie = await home.signIn(photos, admin.name, admin.password);
    const { status, body, headers } = await home.ask(`${photos}/album?x=1`, {
      headers: {
        Cookie: `${cookie}; theirs=1`,
        'X-Forwarded-For': '9.9.9.9',
        'Remote-User': 'eve',
        Connection: 'X-Mine',
        'X-Mine': '1',
        TE: 'trailers',
      },
    });
    expect([status, body, headers['x-own'], headers['x-hop']]).toEqual([
      200,
      'photos GET /album?x=1',
      'yes',
      undefined,
    ]);
    expect(headers['set-cookie']).toEqual(['own=1']);
    const receivedHeaders = seen[0]?.request.headers ?? {};
    expect(receivedHeaders).toMatchObject({
      ...{ host: `photos.nas.local:${home.port}`, cookie: 'theirs=1', 'remote-user': 'ada' },
      ...{ 'x-forwarded-for': '127.0.0.3', 'x-forwarded-proto': 'https' },
      'x-forwarded-host': `photos.nas.local:${home.port}`,
    });
    expect([receivedHeaders['x-mine'], receivedHeaders.te]).toEqual([undefined, 'trailers']);
    await home.ask(`${photos}/`, { headers: user });
    expect(seen[0]?.request.headers.authorization).toBeUndefined();
  });

  it('is not served below a path of a shared origin', async () => {
    expect((await home.ask('https://nas.local/photos/', { headers: user })).status).toBe(404);
    const page = await home.ask('https://nas.local/', { headers: { ...user, Accept: 'text/html' } });
    expect(page.body).toContain(`href="https://photos.nas.local:${home.port}/"`);
    const { services } = await home.state();
    const service = services.find(({ id }) => id === 'photos');
    expect(service).toMatchObject({
      exposure: 'sign-in',
      running: true,
      outside: `http://127.0.0.1:${getPort(upstream)}`,
    });
    expect(service?.addresses.map(({ by }) => by)).toEqual(['name']);
    // A single shared external service keeps the listener open as well.
    await home.change({ shared: [], open: ['photos'] });
    expect((await home.ask(`${photos}/`)).body).toBe('photos GET /');
  });

  it('streams responses with backpressure and cancellation', async () => {
    for (const path of ['/events', '/pour']) {
      const openRequest = home.open(`${photos}${path}`, { headers: user });
      openRequest.on('error', () => undefined).end();
      const [stream] = (await once(openRequest, 'response')) as [IncomingMessage];
      if (path === '/events') expect(String((await once(stream, 'data'))[0])).toBe('data: first\n\n');
      else {
        let last = -1;
        await vi.waitFor(
          () => {
            const now = seen[0]?.sent ?? 0;
            const isStable = now === last && now > 0;
            last = now;
            expect(isStable).toBe(true);
          },
          { timeout: 30_000, interval: 500 },
        );
        expect(last).toBeLessThan(bufferLimit);
      }
      openRequest.destroy();
      await vi.waitFor(() => expect(seen[0]?.disconnected).toBe(true), waitOptions);
    }
    const large = await home.ask(`${photos}/upload`, { method: 'POST', headers: user, body: 'y'.repeat(5_000_000) });
    expect(large.status).toBe(200);
  }, 60_000);

  it('passes WebSocket messages after the sign-in', async () => {
    const open = (headers: Record<string, string>): WebSocket =>
      new WebSocket(`wss://${lan}:${home.port}/socket`, {
        ca: home.authority,
        ...{ servername: 'photos.nas.local', headers: { Host: `photos.nas.local:${home.port}`, ...headers } },
      });
    const stranger = open({});
    const [error] = (await once(stranger, 'error')) as [Error];
    expect(error.message).toContain('401');
    expect(seen).toEqual([]);
    const webSocket = open(user);
    await once(webSocket, 'open');
    webSocket.send('hello');
    expect(String((await once(webSocket, 'message'))[0])).toBe('heard hello');
    expect(seen[0]?.request.headers).toMatchObject({ 'remote-user': 'ada', upgrade: 'websocket' });
    await home.change({ outside: [] });
    await once(webSocket, 'close');
  });

  it('explains unreachable, aborted and untrusted upstreams', async () => {
    const untrusted = await home.ask('https://safe.nas.local/', { headers: user });
    expect([untrusted.status, untrusted.body]).toEqual([
      502,
      expect.stringContaining(problems.externalNoResponse({ id: 'safe' })),
    ]);
    await home.change({ outsideUnverified: ['safe'] });
    expect((await home.ask('https://safe.nas.local/', { headers: user })).body).toBe('photos GET /');
    await expect(home.ask(`${photos}/broken`, { headers: user })).rejects.toThrow(/aborted|ECONNRESET/);
    await home.change({ outside: ['photos=http://127.0.0.1:1'] });
    expect((await home.ask(`${photos}/`, { headers: user })).status).toBe(502);
    expect((await home.ask('https://safe.nas.local/', { headers: user })).status).toBe(403);
  });

  it('rejects addresses outside of the home and of Homeport', async () => {
    const control_ = new URL(home.host.url('control')).port;
    const bad = [
      '169.254.169.254',
      '[fe80::1]',
      '0.0.0.0',
      '[::ffff:169.254.1.1]',
      `127.0.0.1:${control_}`,
      `localhost:${control_}`,
      `${lan}:${home.port}`,
    ];
    for (const address of bad) {
      await home.change({ outside: [`photos=http://${address}`] });
      const { status, body } = await home.ask(`${photos}/`, { headers: user });
      expect([address, status, body]).toEqual([
        address,
        502,
        // The host refuses some addresses of Homeport earlier, with a sentence of its own.
        expect.stringContaining(/:\d+$/.test(address) ? 'Homeport' : problems.externalAddressUnusable()),
      ]);
    }
    for (const text of [
      'photos=http://ada:secret@127.0.0.1',
      'photos=http://a/b',
      'photos=file:///etc',
      'Photos=http://a',
      'http://a',
    ]) {
      await expect(home.change({ outside: [text] })).rejects.toThrow('NAME=ADDRESS');
    }
    const url = `http://127.0.0.1:${getPort(upstream)}`;
    await home.change({ outside: [`lamp=${url}`] });
    expect((await home.ask('https://lamp.nas.local/', { headers: user })).body).toBe('lamp');
    expect((await home.state()).problems).toContain(problems.externalNameTaken({ url, id: 'lamp' }));
  });

  it('does not pass a second request in an HTTP/2 body', async () => {
    const session = home.http2('photos.nas.local');
    const smuggling = session.request(
      { ':path': '/first', ':method': 'GET', authorization: adminAuthorization },
      { endStream: false },
    );
    smuggling.on('error', () => undefined);
    smuggling.end('GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n');
    const [headers] = (await once(smuggling, 'response')) as [Record<string, unknown>];
    expect([headers[':status'], seen[0]?.body]).toEqual([200, expect.stringContaining('GET /smuggled')]);
    session.close();
    expect((await home.ask(`${photos}/after`, { headers: user })).body).toBe('photos GET /after');
    expect(seen.map(({ request }) => request.url)).not.toContain('/smuggled');
  });

  it('requires an administrator to add a service', async () => {
    await api(home.host.url('control'), '/api/accounts', {
      method: 'POST',
      body: JSON.stringify({ name: 'eve', password: 'long enough', role: 'user' }),
    });
    const reply = await fetch(`${home.host.url('control')}/api/settings/gateway`, {
      method: 'PATCH',
      headers: {
        Authorization: `Basic ${Buffer.from('eve:long enough').toString('base64')}`,
        'Content-Type': 'application/json',
      },
      body: '{"outside":["evil=http://127.0.0.1:9"]}',
    });
    expect(reply.status).toBe(403);
  });
});
