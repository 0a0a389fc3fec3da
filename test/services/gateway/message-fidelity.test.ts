import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { gateway } from '../../../services/gateway/index.ts';
import { openHome, type Home } from '../../support/gateway/phone.ts';

/** Bytes that the upstream received, as text, and its response to the first bytes of each connection. */
let received = '';
let reply = '';
let onData: ((socket: Socket, chunk: string) => void) | undefined;
let upstream: Server;
let home: Home;
const host = 'opn.nas.local';

beforeAll(async () => {
  upstream = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1');
      if (onData !== undefined) return void onData(socket, chunk.toString('latin1'));
      if (received.includes('\r\n\r\n')) socket.write(Buffer.from(reply, 'latin1'));
    });
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const port = String((upstream.address() as AddressInfo).port);
  home = await openHome({
    services: [control, gateway],
    settings: { outside: [`opn=http://127.0.0.1:${port}`], open: ['opn'] },
  });
}, 60_000);
afterAll(async () => {
  await home[Symbol.asyncDispose]();
  upstream.close();
});
beforeEach(() => {
  received = '';
  onData = undefined;
  reply = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
});

/** Sends bytes and returns the complete response. */
async function send(first: string, lines: readonly string[] = [], body = ''): Promise<string> {
  const socket = await home.dial(host);
  socket.setEncoding('latin1');
  socket.write(`${[first, `Host: ${host}`, 'Connection: close', ...lines].join('\r\n')}\r\n\r\n${body}`, 'latin1');
  let answer = '';
  for await (const part of socket) answer += String(part);
  return answer;
}

async function overHttp2(
  method = 'GET',
): Promise<{ head: Record<string, unknown>; body: string; code: number; trailers: unknown }> {
  const session = home.http2(host);
  const stream = session.request({ ':path': '/', ':method': method });
  let trailers: unknown;
  stream.once('trailers', (fields: Record<string, unknown>) => (trailers = { ...fields }));
  const head = once(stream, 'response') as Promise<[Record<string, unknown>]>;
  const closed = once(stream, 'close');
  const body = await text(stream);
  await closed;
  session.destroy();
  return { head: (await head)[0], body, code: stream.rstCode, trailers };
}

describe('a response', () => {
  it.each([
    ['204', 'GET', 'HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n', undefined],
    ['304', 'GET', 'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\nContent-Length: 100\r\n\r\n', '100'],
    ['a HEAD request with a length', 'HEAD', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n', '100'],
    ['a HEAD request without a length', 'HEAD', 'HTTP/1.1 200 OK\r\nX-A: 1\r\n\r\n', undefined],
    ['a HEAD request with a coding', 'HEAD', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', undefined],
    ['no content', 'GET', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', '0'],
  ])('has no body, and the length that the upstream announced: %s', async (_name, method, bytes, length) => {
    reply = bytes;
    const response = await send(`${method} / HTTP/1.1`);
    expect(response.slice(0, 13)).toBe(bytes.slice(0, 13).replace('\r', '\r'));
    expect(response.split('\r\n\r\n')[1]).toBe('');
    expect(/^content-length: (.*)$/im.exec(response)?.[1]?.trim()).toBe(length);
    received = '';
    const { head, body, code } = await overHttp2(method);
    expect([head['content-length'], body, code]).toEqual([length, '', 0]);
    expect(head['transfer-encoding']).toBeUndefined();
  });

  it('keeps duplicate headers and each Set-Cookie', async () => {
    reply =
      'HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Path=/\r\nX-Two: 1\r\nset-cookie: b=2\r\nX-Two: 2\r\n' +
      'WWW-Authenticate: Basic realm="a"\r\nWWW-Authenticate: Digest realm="b"\r\nContent-Length: 0\r\n\r\n';
    const response = await send('GET / HTTP/1.1');
    const lines = response.match(/^(?:set-cookie|x-two|www-authenticate): .*$/gim)?.map((line) => line.trim());
    const ofName = (name: string): unknown => lines?.filter((line) => line.toLowerCase().startsWith(`${name}:`));
    // The order of different names has no meaning (RFC 9110, 5.3).
    expect(ofName('set-cookie')).toEqual(['Set-Cookie: a=1; Path=/', 'Set-Cookie: b=2']);
    expect(ofName('x-two')).toEqual(['X-Two: 1', 'X-Two: 2']);
    expect(ofName('www-authenticate')).toEqual([
      'WWW-Authenticate: Basic realm="a"',
      'WWW-Authenticate: Digest realm="b"',
    ]);
    received = '';
    const { head } = await overHttp2();
    expect(head['set-cookie']).toEqual(['a=1; Path=/', 'b=2']);
    expect(head['x-two']).toBe('1, 2');
  });

  it('forwards trailers except framing fields', async () => {
    reply =
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n' +
      '2;name=value\r\nok\r\n0\r\nX-Sum: 7\r\nSet-Cookie: a=1\r\n\r\n';
    const response = await send('GET / HTTP/1.1');
    expect(response).toMatch(/\r\n0\r\nX-Sum: 7\r\n\r\n$/);
    received = '';
    expect(await overHttp2()).toMatchObject({ body: 'ok', trailers: { 'x-sum': '7' } });
  });

  it.each([
    ['100 Continue', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['102 Processing', 'HTTP/1.1 102 Processing\r\n\r\n'],
    ['several', 'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n'],
  ])('is forwarded after unexpected informational responses: %s', async (_name, before) => {
    reply = `${before}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`;
    expect(await send('GET / HTTP/1.1')).toMatch(/HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nok$/);
    received = '';
    expect((await overHttp2()).body).toBe('ok');
  });

  it('keeps compressed bytes and ranges unchanged', async () => {
    const packed = gzipSync('text').toString('latin1');
    reply =
      `HTTP/1.1 206 Partial Content\r\nContent-Encoding: gzip\r\nContent-Range: bytes 0-1/9\r\n` +
      `Vary: Accept-Encoding\r\nContent-Length: ${String(packed.length)}\r\n\r\n${packed}`;
    const response = await send('GET / HTTP/1.1', ['Range: bytes=0-1', 'If-Range: "a"', 'Accept-Encoding: gzip']);
    expect(response).toContain('Content-Range: bytes 0-1/9');
    expect(response.split('\r\n\r\n').slice(1).join('\r\n\r\n')).toBe(packed);
    expect(received).toMatch(/^range: bytes=0-1\r\nif-range: "a"\r\naccept-encoding: gzip\r$/im);
  });

  it('reaches the client before the end of the request body', async () => {
    onData = (socket, chunk) => {
      if (chunk.includes('POST'))
        socket.end('HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 3\r\n\r\nbig');
    };
    const socket = await home.dial(host);
    socket.write(`POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 1000000\r\n\r\nbegin`);
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    expect(String(chunk)).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
  });

  it('is streamed event by event', async () => {
    let next: () => void = () => undefined;
    onData = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n');
      next = () => socket.end('data: 2\n\n');
    };
    const session = home.http2(host);
    const stream = session.request({ ':path': '/' });
    expect(String(((await once(stream, 'data')) as [Buffer])[0])).toBe('data: 1\n\n');
    next();
    expect(String(((await once(stream, 'data')) as [Buffer])[0])).toBe('data: 2\n\n');
    session.destroy();
  });
});

describe('a request', () => {
  it.each([
    '/?',
    '//',
    '//a//b',
    '/a/../b',
    '/%2F%2e%2E',
    '/a%00b',
    '/a;b=c?d=e?f',
    '/?a=%',
    '/ä'.replace('ä', '%C3%A4'),
    '/a%zz',
    '/|^`{}',
  ])('keeps its path byte for byte: %s', async (path) => {
    await send(`GET ${path} HTTP/1.1`);
    expect(received.split('\r\n')[0]).toBe(`GET ${path} HTTP/1.1`);
  });

  it('forwards trailers except identity fields', async () => {
    onData = (socket) => {
      if (received.includes('\r\n0\r\n')) socket.write(reply);
    };
    const body = '2\r\nok\r\n0\r\nX-Sum: 7\r\nRemote-User: ada\r\n\r\n';
    await send('POST / HTTP/1.1', ['Transfer-Encoding: chunked'], body);
    expect(received).toMatch(/\r\n0\r\nX-Sum: 7\r\n\r\n$/);
  });

  it('forwards the TE header of the client', async () => {
    await send('GET / HTTP/1.1', ['TE: deflate, trailers', 'Connection: TE']);
    expect(received).toContain('\r\nTE: trailers\r\n');
    received = '';
    await send('GET / HTTP/1.1', ['TE: deflate']);
    expect(received).not.toMatch(/^te:/im);
  });

  it('keeps duplicate headers in their order', async () => {
    await send('GET / HTTP/1.1', ['X-Two: 1', 'Accept: a', 'x-two: 2', 'X-Empty:']);
    expect(received).toMatch(/X-Two: 1\r\nAccept: a\r\nx-two: 2\r\nX-Empty: ?\r\n/);
  });

  it.each(['GET', 'DELETE', 'PROPFIND', 'REPORT', 'PATCH', 'QUERY'])('keeps its method: %s', async (method) => {
    expect(await send(`${method} / HTTP/1.1`)).toMatch(/^HTTP\/1\.1 200 /);
    expect(received).toMatch(new RegExp(`^${method} / HTTP/1.1\r\n`));
  });

  it('receives 100 Continue when it expects it', async () => {
    onData = (socket) => {
      if (received.includes('whole body')) socket.write(reply);
    };
    const socket = await home.dial(host);
    socket.write(
      `POST / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n`,
    );
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    expect(String(chunk)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write('whole body');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(received).not.toMatch(/^expect:/im);
  });
});

describe('a WebSocket', () => {
  it('keeps its subprotocols, extensions and the bytes of its frames', async () => {
    // Consists of two fragments of a text message, a ping, and a close frame with the code 4001.
    const frames = '\x01\x01a\x89\x00\x80\x01b\x88\x04\x0f\xa1no';
    onData = (socket, chunk) => {
      if (!chunk.startsWith('GET')) return void socket.end(Buffer.from(frames, 'latin1'));
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
          'Sec-WebSocket-Accept: x\r\nSec-WebSocket-Protocol: chat.v2\r\n\r\n',
      );
    };
    const socket = await home.dial(host);
    socket.setEncoding('latin1');
    const lines = ['Sec-WebSocket-Protocol: chat.v1, chat.v2', 'Sec-WebSocket-Extensions: permessage-deflate'];
    socket.write(
      `GET /ws HTTP/1.1\r\nHost: ${host}\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n` +
        `${lines.join('\r\n')}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x\r\n\r\n`,
    );
    const [head] = (await once(socket, 'data')) as [string];
    expect(head).toContain('Sec-WebSocket-Protocol: chat.v2\r\n');
    for (const line of lines) expect(received).toContain(line);
    socket.write('go');
    let bytes = '';
    for await (const part of socket) bytes += String(part);
    expect(bytes).toBe(frames);
  });
});

describe('an upstream with an IPv6 address', () => {
  it('is supported', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nsix'));
    }).listen(0, '::1');
    await once(server, 'listening');
    const port = String((server.address() as AddressInfo).port);
    await home.change({ outside: [`six=http://[::1]:${port}`], open: ['six'] });
    expect((await home.ask('https://six.nas.local/')).body).toBe('six');
    server.close();
  });
});
