import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { gateway } from '../../../services/gateway/index.ts';
import { api } from '../../support/api.ts';
import { openHome, type Home } from '../../support/gateway/phone.ts';
import { admin } from '../../support/host.ts';

/** Bytes that the upstream received, as text, and its response to the first bytes of each request. */
let received = '';
let reply: (socket: Socket) => void = () => undefined;
let upstream: Server;
let address = '';
let home: Home;
const host = 'opn.nas.local';

beforeAll(async () => {
  upstream = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1');
      reply(socket);
    });
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  address = `http://127.0.0.1:${String((upstream.address() as AddressInfo).port)}`;
  home = await openHome({ services: [control, gateway], settings: { outside: [`opn=${address}`], open: ['opn'] } });
}, 60_000);
afterAll(async () => {
  await home[Symbol.asyncDispose]();
  upstream.close();
});
beforeEach(() => {
  received = '';
  reply = (socket) => void (received.includes('\r\n\r\n') && socket.write(answer('Content-Length: 2\r\n', 'ok')));
});
const answer = (fields: string, body = '', status = '200 OK'): string => `HTTP/1.1 ${status}\r\n${fields}\r\n${body}`;

/** Sends a head and a body, and returns the complete response. */
async function send(first: string, fields: readonly string[] = [], body = ''): Promise<string> {
  const socket = await home.dial(host);
  socket.setEncoding('latin1');
  socket.write(`${[first, `Host: ${host}`, 'Connection: close', ...fields].join('\r\n')}\r\n\r\n${body}`, 'latin1');
  let response = '';
  for await (const part of socket) response += String(part);
  return response;
}

async function overHttp2(
  fields: Record<string, string> = {},
): Promise<{ readonly status: unknown; readonly body: string; readonly code: number }> {
  const session = home.http2(host);
  const stream = session.request({ ':path': '/', ...fields });
  let status: unknown;
  stream.once('response', (head) => (status = head[':status']));
  stream.on('error', () => undefined);
  const closed = once(stream, 'close');
  const body = await text(stream).catch(() => '');
  await closed;
  session.destroy();
  return { status, body, code: stream.rstCode };
}

describe('a response without content', () => {
  it.each([
    ['a length', 'Content-Length: 2\r\n', ''],
    ['a length and bytes', 'Content-Length: 2\r\n', 'ok'],
    ['the length 0', 'Content-Length: 0\r\n', ''],
    ['a coding', 'Transfer-Encoding: chunked\r\n', '0\r\n\r\n'],
  ])('loses its framing: 204 with %s', async (_name, fields, body) => {
    reply = (socket) => socket.write(answer(fields, body, '204 No Content'));
    const response = await send('GET / HTTP/1.1');
    expect(response).toMatch(/^HTTP\/1\.1 204 No Content\r\n/);
    expect(response).not.toMatch(/^(?:content-length|transfer-encoding):/im);
    expect(await overHttp2()).toEqual({ status: 204, body: '', code: 0 });
  });
});

describe('a transfer coding of a response', () => {
  it.each(['gzip, chunked', 'gzip', 'deflate', 'chunked, chunked', 'chunked, identity'])(
    'is refused instead of lost: %s',
    async (coding) => {
      reply = (socket) => socket.end(answer(`Transfer-Encoding: ${coding}\r\n`, '2\r\nok\r\n0\r\n\r\n'));
      const response = await send('GET / HTTP/1.1');
      expect(response).toMatch(/^HTTP\/1\.1 502 /);
      expect(Buffer.from(response, 'latin1').toString()).toContain('isn’t valid HTTP');
    },
  );

  it.each([
    ['with a length', 'Transfer-Encoding: identity\r\nContent-Length: 2\r\n'],
    ['after a length', 'Content-Length: 2\r\ntransfer-encoding:  Identity \r\n'],
  ])('is ignored when it means no coding: identity %s', async (_name, fields) => {
    reply = (socket) => socket.write(answer(fields, 'ok'));
    const response = await send('GET / HTTP/1.1');
    expect(response).toMatch(/^HTTP\/1\.1 200 OK\r\n(?:[^\r]*\r\n)*?Content-Length: 2\r\n[^]*\r\n\r\nok$/i);
    expect(response).not.toMatch(/^transfer-encoding:/im);
    expect(await overHttp2()).toEqual({ status: 200, body: 'ok', code: 0 });
  });

  it('is accepted from a server that reports HTTP/1.0', async () => {
    reply = (socket) => socket.end('HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n');
    expect(await overHttp2()).toEqual({ status: 200, body: 'ok', code: 0 });
  });

  it('is not sent to a client of HTTP/1.0', async () => {
    reply = (socket) => socket.write(answer('Transfer-Encoding: chunked\r\n', '2\r\nok\r\n0\r\n\r\n'));
    const response = await send('GET / HTTP/1.0');
    expect(response).not.toMatch(/^transfer-encoding:/im);
    expect(response.endsWith('\r\n\r\nok')).toBe(true);
  });
});

describe('the head of a request', () => {
  it.each([
    ['a length', ['Content-Length: 4']],
    ['chunks', ['Transfer-Encoding: chunked']],
    ['the expectation of 100 Continue', ['Content-Length: 4', 'Expect: 100-continue']],
  ])('reaches the upstream before the body: %s', async (_name, fields) => {
    const socket = await home.dial(host);
    socket.write(`${['POST /early HTTP/1.1', `Host: ${host}`, ...fields].join('\r\n')}\r\n\r\n`);
    await vi.waitFor(() => expect(received).toMatch(/^POST \/early HTTP\/1\.1\r\n[^]*\r\n\r\n$/));
    socket.destroy();
  });

  it('can be refused by the upstream before the body', async () => {
    reply = (socket) => socket.end(answer('Content-Length: 2\r\nConnection: close\r\n', 'no', '417 No'));
    const socket = await home.dial(host);
    socket.write(`PUT /file HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n`);
    // The gateway still waits for the rest of the request, therefore the end of the connection says nothing.
    let response = '';
    socket.setEncoding('utf8').on('data', (part: string) => (response += part));
    await expect.poll(() => response).toMatch(/\r\n\r\nno$/);
    expect(response).toContain('HTTP/1.1 417 Expectation Failed\r\n');
    socket.destroy();
  });

  it('may have hundreds of fields, also over HTTP/2', async () => {
    const names = Array.from({ length: 400 }, (_each, index) => `x-${String(index)}`);
    await send(
      'GET / HTTP/1.1',
      names.map((name) => `${name}: 1`),
    );
    expect(received.match(/^x-\d+: 1\r$/gm)).toHaveLength(400);
    received = '';
    expect(await overHttp2(Object.fromEntries(names.map((name) => [name, '1'])))).toMatchObject({ status: 200 });
    expect(received.match(/^x-\d+: 1\r$/gm)).toHaveLength(400);
  });

  it('may have its target as an address', async () => {
    expect(await send(`GET https://${host}/a/b?c=d HTTP/1.1`)).toMatch(/^HTTP\/1\.1 200 /);
    expect(received).toMatch(/^GET \/a\/b\?c=d HTTP\/1\.1\r\n/);
    for (const target of [`https://evil.example/`, `http://${host}/`, `https://${host}.evil/`])
      expect(await send(`GET ${target} HTTP/1.1`)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('is answered when it asks for a tunnel', async () => {
    expect(await send('CONNECT example.org:443 HTTP/1.1')).toMatch(/^HTTP\/1\.1 405 Method Not Allowed\r\n/);
    expect(received).toBe('');
  });

  it('keeps the value of a range', async () => {
    reply = (socket) => socket.write(answer('Content-Range: bytes */10\r\nContent-Length: 0\r\n', '', '416 No'));
    const response = await send('GET / HTTP/1.1', ['Range: bytes=0-1, 5-, -2']);
    expect(received).toContain('\r\nRange: bytes=0-1, 5-, -2\r\n');
    expect(response).toMatch(/^HTTP\/1\.1 416 [^]*\r\nContent-Range: bytes \*\/10\r\n/);
  });
});

describe('the name of an external service', () => {
  it.each(['home-assistant', '2fauth', 'a', 'x-1-y', `a${'b'.repeat(30)}c`])('is accepted: %s', async (name) => {
    await home.change({
      outside: [`opn=${address}`, `${name}=${address}`],
      shared: [name],
      outsideHosts: [`${name}=127.0.0.1:8080`],
      publicPaths: [`${name}=/public/`],
    });
    const url = `https://${name}.nas.local`;
    const Cookie = await home.signIn(url, admin.name, admin.password);
    expect(await home.ask(`${url}/`, { headers: { Cookie } })).toMatchObject({ status: 200, body: 'ok' });
    expect(received).toMatch(/^host: 127\.0\.0\.1:8080\r$/im);
    expect((await home.ask(`${url}/public/x`)).status).toBe(200);
    expect((await home.ask(`${url}/`)).status).toBe(401);
    await home.change({ outside: [`opn=${address}`], shared: [], outsideHosts: [], publicPaths: [] });
  });

  it.each(['-a', 'a-', 'a_b', 'a.b', 'A', `a${'b'.repeat(32)}`, ''])('is refused: %j', async (name) => {
    await expect(home.change({ outside: [`${name}=${address}`] })).rejects.toThrow();
  });

  it('can be part of a grant', async () => {
    const grants = ['home-assistant', '2fauth'].map((service) => ({ service, resource: '*', permission: 'read' }));
    const account = { name: 'eve', password: 'a long password of eve', grants };
    const reply = await api<{ account: { grants: unknown } }>(home.host.url('control'), '/api/accounts', {
      method: 'POST',
      body: JSON.stringify(account),
    });
    expect(JSON.stringify(reply)).toContain('2fauth');
  });
});
