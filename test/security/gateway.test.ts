import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { gateway } from '../../services/gateway/index.ts';
import { api } from '../support/api.ts';
import { openHome, type Home } from '../support/gateway/phone.ts';
import { admin, adminAuthorization } from '../support/host.ts';

const reader = { name: 'reader', password: 'velvet-otter-93-lantern' };
let received: { request: IncomingMessage; body: string }[] = [];
let upgrades = 0;
let upstream: Server;
let home: Home;
let cookie = '';
const site = 'https://photos.nas.local';

beforeAll(async () => {
  upstream = createServer((request, response) => {
    const entry = { request, body: '' };
    received.push(entry);
    request.on('data', (chunk: Buffer) => (entry.body += chunk.toString('latin1')));
    request.once('end', () => response.end(`answer to ${request.url ?? ''}`));
  }).listen(0, '127.0.0.1');
  upstream.on('upgrade', (_request, socket) => {
    upgrades += 1;
    socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  });
  await once(upstream, 'listening');
  const address = `http://127.0.0.1:${String((upstream.address() as AddressInfo).port)}`;
  home = await openHome({
    services: [control, gateway],
    settings: { outside: [`photos=${address}`, `public=${address}`], shared: ['photos'], open: ['public'] },
  });
  await api(home.host.url('control'), '/api/accounts', {
    method: 'POST',
    body: JSON.stringify({ ...reader, grants: [{ service: 'photos', resource: '*', permission: 'read' }] }),
  });
  cookie = await home.signIn(site, admin.name, admin.password);
}, 60_000);
afterAll(async () => {
  await home[Symbol.asyncDispose]();
  upstream.closeAllConnections();
  upstream.close();
});
beforeEach(() => {
  received = [];
  upgrades = 0;
});

const origin = (): string => `${site}:${String(home.port)}`;
const navigates = { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' };

describe('a request that a page of another site sends with the session cookie', () => {
  it.each([
    ['form', 'POST', { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site', ...navigates }],
    ['form of a browser without fetch metadata', 'POST', { Origin: 'https://evil.example' }],
    ['form of a sibling name', 'POST', { Origin: 'https://public.nas.local', 'Sec-Fetch-Site': 'same-site' }],
    ['form of another port', 'POST', { Origin: 'https://photos.nas.local:1', 'Sec-Fetch-Site': 'same-site' }],
    ['form of the same name without TLS', 'POST', { Origin: 'http://photos.nas.local' }],
    ['form of an opaque origin', 'POST', { Origin: 'null', 'Sec-Fetch-Site': 'cross-site', ...navigates }],
    ['form of an opaque origin without fetch metadata', 'POST', { Origin: 'null' }],
    ['form without an Origin', 'POST', { 'Sec-Fetch-Site': 'cross-site', ...navigates }],
    ['fetch', 'GET', { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'cors' }],
    ['fetch without CORS', 'GET', { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' }],
    ['fetch from a sandboxed frame', 'GET', { Origin: 'null', 'Sec-Fetch-Site': 'cross-site' }],
    ['image', 'GET', { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'image' }],
    ['image of a sibling name', 'GET', { 'Sec-Fetch-Site': 'same-site', 'Sec-Fetch-Dest': 'image' }],
    ['frame', 'GET', { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'iframe' }],
    ['script', 'GET', { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Dest': 'script' }],
    ['DELETE', 'DELETE', { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' }],
    ['several origins', 'POST', { Origin: 'https://photos.nas.local https://evil.example' }],
  ])('does not reach the service: %s', async (_shape, method, headers) => {
    const { status } = await home.ask(`${site}/`, { method, headers: { ...headers, Cookie: cookie } });
    expect([302, 303, 401, 403]).toContain(status);
    expect(received).toEqual([]);
  });

  it.each([
    ['link', 'GET', { 'Sec-Fetch-Site': 'cross-site', ...navigates }],
    ['typed address', 'GET', { 'Sec-Fetch-Site': 'none', ...navigates }],
    ['own form', 'POST', { 'Sec-Fetch-Site': 'same-origin', ...navigates }],
    ['own form without a referrer', 'POST', { Origin: 'null', 'Sec-Fetch-Site': 'same-origin' }],
  ])('is distinguished from requests of users: %s', async (_shape, method, headers) => {
    expect((await home.ask(`${site}/`, { method, headers: { ...headers, Cookie: cookie } })).status).toBe(200);
  });

  it('does not sign anybody out', async () => {
    const headers = { Cookie: cookie, Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' };
    await home.ask(`${site}/.homeport/sign-out`, { method: 'POST', headers });
    expect((await home.ask(`${site}/`, { headers: { Cookie: cookie } })).status).toBe(200);
  });
});

describe('a WebSocket to another web service', () => {
  const upgrade = async (headers: Record<string, string>): Promise<number> => {
    const socket = await home.dial('photos.nas.local');
    const lines = Object.entries({
      ...{ Host: `photos.nas.local:${String(home.port)}`, Connection: 'Upgrade', Upgrade: 'websocket' },
      ...{ 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==' },
      ...headers,
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`GET /ws HTTP/1.1\r\n${lines.join('')}\r\n`);
    return Number((await text(socket)).slice(9, 12));
  };

  it.each(['https://evil.example', 'null', 'https://public.nas.local', 'http://photos.nas.local'])(
    'is refused for a page of %s',
    async (other) => {
      expect(await upgrade({ Cookie: cookie, Origin: other })).toBe(401);
      expect(upgrades).toBe(0);
    },
  );

  it('is opened for a page of the same origin', async () => {
    expect(await upgrade({ Cookie: cookie, Origin: origin() })).toBe(101);
    expect(upgrades).toBe(1);
  });

  it('requires the right to write', async () => {
    const Cookie = await home.signIn(site, reader.name, reader.password);
    expect((await home.ask(`${site}/`, { headers: { Cookie } })).status).toBe(200);
    expect(await upgrade({ Cookie, Origin: origin() })).toBe(403);
    expect((await home.ask(`${site}/`, { method: 'POST', headers: { Cookie } })).status).toBe(403);
    expect(upgrades).toBe(0);
  });
});

describe('a question at verify', () => {
  it.each(['GET', 'OPTIONS', 'POST'])('does not pass by headers that any client can send: %s', async (method) => {
    const headers = {
      ...{ Origin: 'https://app.example', 'Access-Control-Request-Method': 'PUT', 'X-Forwarded-Method': 'OPTIONS' },
      ...{ 'X-Original-Method': 'OPTIONS', 'X-HTTP-Method-Override': 'OPTIONS', 'Remote-User': admin.name },
    };
    expect((await home.ask('https://nas.local/.homeport/verify', { method, headers })).status).toBe(401);
  });
});

const hidden = 'GET /hidden HTTP/1.1\r\nHost: public.nas.local\r\n\r\n';
const size = hidden.length.toString(16);
const length = String(hidden.length);

describe('bytes that servers may divide into requests differently', () => {
  it.each([
    ['CL.TE', `Content-Length: ${String(5 + hidden.length)}\r\nTransfer-Encoding: chunked`, `0\r\n\r\n${hidden}`],
    ['TE.CL', 'Transfer-Encoding: chunked\r\nContent-Length: 4', `${size}\r\n${hidden}\r\n0\r\n\r\n`],
    ['two codings', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: x', `0\r\n\r\n${hidden}`],
    ['identity', `Transfer-Encoding: identity\r\nContent-Length: ${length}`, hidden],
    ['chunked, identity', 'Transfer-Encoding: chunked, identity', `0\r\n\r\n${hidden}`],
    ['unknown coding', 'Transfer-Encoding: xchunked', `0\r\n\r\n${hidden}`],
    ['space before the colon', `Transfer-Encoding : chunked\r\nContent-Length: 3`, `0\r\n\r\n${hidden}`],
    ['vertical tab', `Transfer-Encoding:\x0bchunked\r\nContent-Length: 3`, `0\r\n\r\n${hidden}`],
    ['folded coding', `Content-Length: ${length}\r\nTransfer-Encoding:\r\n chunked`, `0\r\n\r\n${hidden}`],
    ['folded header', `Content-Length: ${length}\r\nX-A: a\r\n Transfer-Encoding: chunked`, hidden],
    ['folded first line', ` X-A: a\r\nContent-Length: ${length}`, hidden],
    ['two lengths', `Content-Length: 0\r\nContent-Length: ${length}`, hidden],
    ['two lengths in reverse', `Content-Length: ${length}\r\nContent-Length: 0`, hidden],
    ['a list of lengths', `Content-Length: 0, ${length}`, hidden],
    ['a signed length', `Content-Length: +${length}`, hidden],
    ['a negative length', 'Content-Length: -1', hidden],
    ['a hexadecimal length', `Content-Length: 0x${size}`, hidden],
    ['a length with a space', `Content-Length: 1 ${length}`, hidden],
    ['a bare LF', `X-A: a\nContent-Length: ${length}`, hidden],
    ['a bare LF before a coding', `Content-Length: ${length}\nTransfer-Encoding: chunked`, `0\r\n\r\n${hidden}`],
    ['a bare CR', `X-A: a\rContent-Length: ${length}`, hidden.replace('GET', 'X')],
    ['a NUL', `X-A: a\0b\r\nContent-Length: ${length}`, hidden],
    ['a chunk extension with LF', 'Transfer-Encoding: chunked', `2;\nxx\r\n${size}\r\n${hidden}\r\n0\r\n\r\n`],
    ['a chunk size with 0x', 'Transfer-Encoding: chunked', `0x${size}\r\n${hidden}\r\n0\r\n\r\n`],
    ['a chunk size that overflows', 'Transfer-Encoding: chunked', `10000000000000000\r\n${hidden}\r\n0\r\n\r\n`],
    ['a chunk that is longer than its size', 'Transfer-Encoding: chunked', `1\r\nxx\r\n0\r\n\r\n${hidden}`],
    ['a chunk size that ends in LF', 'Transfer-Encoding: chunked', `1\nx\r\n0\r\n\r\n${hidden}`],
    ['a chunk that ends in LF', 'Transfer-Encoding: chunked', `1\r\nx\n0\r\n\r\n${hidden}`],
  ])('are refused: %s', async (_shape, head, body) => {
    const socket = await home.dial('public.nas.local');
    socket.write(`POST /first HTTP/1.1\r\nHost: public.nas.local\r\n${head}\r\n\r\n${body}`, 'latin1');
    const response = await text(socket);
    expect(response).not.toContain('answer to /hidden');
    const next = await home.ask('https://public.nas.local/next');
    expect(next.body).toBe('answer to /next');
    expect(received.map(({ request }) => request.url).filter((url) => url !== '/first')).toEqual(['/next']);
  });

  it.each([
    ['a chunk extension', 'Transfer-Encoding: chunked', `${size};a=b\r\n${hidden}\r\n0\r\n\r\n`],
    ['a quoted chunk extension', 'Transfer-Encoding: chunked', `${size};a="b;c"\r\n${hidden}\r\n0;end\r\n\r\n`],
    ['leading zeros', 'Transfer-Encoding: chunked', `000${size}\r\n${hidden}\r\n000\r\n\r\n`],
    ['trailers', 'Transfer-Encoding: chunked', `${size}\r\n${hidden}\r\n0\r\nHost: x\r\nRemote-User: ada\r\n\r\n`],
    ['a length', `Content-Length: ${length}`, hidden],
  ])('reaches a service as one body with one framing: %s', async (_shape, head, body) => {
    const socket = await home.dial('public.nas.local');
    const lines = `POST /first HTTP/1.1\r\nHost: public.nas.local\r\nConnection: close\r\n${head}`;
    socket.write(`${lines}\r\n\r\n${body}`, 'latin1');
    expect(await text(socket)).toContain('answer to /first');
    const [first] = received;
    expect(first?.body).toBe(hidden);
    const names = first?.request.rawHeaders.filter((_each, index) => index % 2 === 0) ?? [];
    expect(names.filter((name) => /^(?:content-length|transfer-encoding)$/i.test(name))).toHaveLength(1);
    expect(first?.request.trailers).toEqual({});
    expect((await home.ask('https://public.nas.local/next')).body).toBe('answer to /next');
    expect(received).toHaveLength(2);
  });

  it('do not mix the answers of clients that share the connections to a service', async () => {
    const paths = Array.from({ length: 40 }, (_each, index) => `/${String(index)}`);
    const answers = await Promise.all(
      paths.map(
        async (path) => (await home.ask(`${site}${path}`, { headers: { Authorization: adminAuthorization } })).body,
      ),
    );
    expect(answers).toEqual(paths.map((path) => `answer to ${path}`));
  });
});
