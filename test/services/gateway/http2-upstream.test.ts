import { once } from 'node:events';
import { constants, createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { gateway } from '../../../services/gateway/index.ts';
import { openHome, type Home } from '../../support/gateway/phone.ts';
import { admin } from '../../support/host.ts';

let handle: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void = () => undefined;
const connections = new Set<Socket>();
let upstream: Http2Server;
let home: Home;
let session: ClientHttp2Session;

beforeAll(async () => {
  upstream = createServer();
  upstream.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    handle(stream, headers);
  });
  upstream.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  upstream.on('sessionError', () => undefined);
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const address = `h2c://127.0.0.1:${String((upstream.address() as AddressInfo).port)}`;
  home = await openHome({
    services: [control, gateway],
    settings: { outside: [`rpc=${address}`, `private=${address}`], open: ['rpc'], shared: ['private'] },
  });
  session = home.http2('rpc.nas.local');
}, 60_000);
afterAll(async () => {
  session.destroy();
  await home[Symbol.asyncDispose]();
  for (const socket of connections) socket.destroy();
  upstream.close();
});
beforeEach(() => {
  handle = echo;
});

/** Answers with the body and the trailers of the request. */
function echo(stream: ServerHttp2Stream): void {
  let received: IncomingHttpHeaders = {};
  stream.once('trailers', (trailers) => (received = trailers));
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.once('wantTrailers', () =>
    stream.sendTrailers({ 'grpc-status': '0', 'x-echo': String(received['x-checksum'] ?? '') }),
  );
  stream.pipe(stream);
}

interface Outcome {
  readonly status: number;
  readonly endsWithHead: boolean;
  readonly body: string;
  readonly trailers: IncomingHttpHeaders;
  readonly code: number;
}

async function finish(stream: ClientHttp2Stream): Promise<Outcome> {
  stream.on('error', () => undefined);
  let [status, endsWithHead, body] = [0, false, ''];
  let trailers: IncomingHttpHeaders = {};
  stream.once('response', (headers, flags) => {
    status = Number(headers[':status']);
    endsWithHead = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
  });
  stream.once('trailers', (fields) => (trailers = fields));
  stream.on('data', (chunk: Buffer) => (body += chunk.toString()));
  if (!stream.closed) await new Promise((resolve) => stream.once('close', resolve));
  return { status, endsWithHead, body, trailers, code: stream.rstCode };
}

const grpc = { ':method': 'POST', ':path': '/pkg.Service/Call', 'content-type': 'application/grpc', te: 'trailers' };

function call(trailers: Record<string, string> = {}, headers = {}, to = session): ClientHttp2Stream {
  const stream = to.request({ ...grpc, ...headers }, { waitForTrailers: true });
  stream.once('wantTrailers', () => stream.sendTrailers(trailers));
  return stream;
}

describe('a gRPC call through the gateway', () => {
  it('passes the head, the body and the trailers of both directions', async () => {
    let seen: IncomingHttpHeaders = {};
    handle = (stream, headers) => {
      seen = headers;
      echo(stream);
    };
    const stream = call({ 'x-checksum': 'abc' });
    stream.end('question');
    expect(await finish(stream)).toMatchObject({
      ...{ status: 200, body: 'question', code: 0 },
      trailers: { 'grpc-status': '0', 'x-echo': 'abc' },
    });
    expect(seen).toMatchObject({ ':method': 'POST', ':path': '/pkg.Service/Call', te: 'trailers' });
    expect(seen[':authority']).toBe(`rpc.nas.local:${String(home.port)}`);
    expect(seen['x-forwarded-proto']).toBe('https');
  });

  it('leaves trailers out that would frame or authenticate a message', async () => {
    handle = (stream) => {
      stream.respond({ ':status': 200 }, { waitForTrailers: true });
      stream.once('wantTrailers', () => stream.sendTrailers({ 'set-cookie': 'a=b', 'grpc-message': 'fine' }));
      stream.end('x');
    };
    const { trailers } = await finish(call().end());
    expect(trailers['grpc-message']).toBe('fine');
    expect(trailers['set-cookie']).toBeUndefined();
  });

  it('passes headers and trailers with names that every object inherits', async () => {
    handle = (stream) => {
      stream.respond({ ':status': 200, constructor: 'head' }, { waitForTrailers: true });
      stream.once('wantTrailers', () => stream.sendTrailers({ constructor: 'trailer', 'grpc-status': '0' }));
      stream.end('x');
    };
    const { body, trailers } = await finish(call().end());
    expect(body).toBe('x');
    expect(trailers).toMatchObject({ 'grpc-status': '0', constructor: 'trailer' });
  });

  it('forwards a response without a body', async () => {
    handle = (stream) => stream.respond({ ':status': 200, 'grpc-status': '12' }, { endStream: true });
    expect(await finish(call().end())).toMatchObject({ status: 200, endsWithHead: true, code: 0 });
  });

  it('streams in both directions at the same time', async () => {
    const stream = call();
    stream.write('one');
    for (const part of ['one', 'two', 'three']) {
      const [chunk] = (await once(stream, 'data')) as [Buffer];
      expect(chunk.toString()).toBe(part);
      if (part === 'one') stream.write('two');
      if (part === 'two') stream.write('three');
    }
    stream.end();
    expect(await finish(stream)).toMatchObject({ code: 0, trailers: { 'grpc-status': '0' } });
  });

  it('resets the upstream stream when the client resets its stream', async () => {
    const reset = Promise.withResolvers<number>();
    handle = (stream) => {
      stream.respond({ ':status': 200 });
      stream.once('close', () => reset.resolve(stream.rstCode));
      stream.write('begun');
    };
    const stream = call();
    await once(stream, 'data');
    stream.close(constants.NGHTTP2_CANCEL);
    expect(await reset.promise).toBe(constants.NGHTTP2_CANCEL);
  });

  it('does not complete an aborted request', async () => {
    const reset = Promise.withResolvers<{ isComplete: boolean; code: number }>();
    handle = (stream) => {
      let isComplete = false;
      stream.once('end', () => (isComplete = !stream.aborted && stream.rstCode === 0));
      stream.resume().once('close', () => reset.resolve({ isComplete, code: stream.rstCode }));
      stream.respond({ ':status': 200 });
      stream.write('begun');
    };
    const stream = call();
    stream.on('error', () => undefined);
    stream.write('half of it');
    await once(stream, 'data');
    stream.destroy(new Error('gone'));
    expect(await reset.promise).toEqual({ isComplete: false, code: constants.NGHTTP2_CANCEL });
  });

  it.each([
    ['a reset', (stream: ServerHttp2Stream) => void stream.destroy(new Error('broken'))],
    ['the end of the connection', (stream: ServerHttp2Stream) => stream.session?.destroy()],
  ])('resets the client stream when the upstream aborts: %s', async (_name, breakOff) => {
    handle = (stream) => {
      stream.respond({ ':status': 200 });
      stream.write('begun', () => setImmediate(() => breakOff(stream)));
    };
    const outcome = await finish(call().end());
    expect(outcome.code).not.toBe(0);
    expect(outcome.trailers).toEqual({});
    handle = echo;
    expect(await finish(call().end('again'))).toMatchObject({ status: 200, body: 'again' });
  });

  it('forwards a response before the end of the request body', async () => {
    handle = (stream) => {
      stream.respond({ ':status': 413 }, { waitForTrailers: true });
      stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '8' }));
      stream.end('too large');
    };
    const stream = call();
    stream.write('begin');
    expect(await finish(stream)).toMatchObject({
      ...{ status: 413, body: 'too large', code: 0 },
      trailers: { 'grpc-status': '8' },
    });
  });

  it('applies backpressure of a client that does not read', async () => {
    let sent = 0;
    handle = (stream) => {
      stream.respond({ ':status': 200 });
      const chunk = Buffer.alloc(64 * 1024);
      const more = (): void => {
        if (stream.destroyed) return;
        sent += chunk.length;
        stream.write(chunk, more);
      };
      more();
    };
    const stream = call().end();
    stream.on('error', () => undefined);
    stream.pause();
    await once(stream, 'response');
    let before = -1;
    await vi.waitUntil(() => sent === before || ((before = sent), false), { timeout: 10_000, interval: 500 });
    expect(sent).toBeLessThan(16 * 1024 * 1024);
    stream.destroy();
  });
});

describe('an HTTP/2 upstream', () => {
  it('serves clients of HTTP/1.1', async () => {
    const response = await home.ask('https://rpc.nas.local/', { method: 'POST', body: 'plain' });
    expect([response.status, response.body]).toEqual([200, 'plain']);
  });

  it('requires a sign-in if it is configured', async () => {
    const to = home.http2('private.nas.local');
    let requests = 0;
    handle = (stream) => {
      requests += 1;
      echo(stream);
    };
    expect((await finish(call({}, {}, to).end())).status).toBe(401);
    expect(requests).toBe(0);
    const Cookie = await home.signIn('https://private.nas.local', admin.name, admin.password);
    expect((await finish(call({}, { cookie: Cookie }, to).end('in'))).body).toBe('in');
    to.destroy();
  });

  it('keeps one connection for many requests', async () => {
    const bodies = await Promise.all([1, 2, 3, 4].map(async (entry) => (await finish(call().end(String(entry)))).body));
    expect(bodies).toEqual(['1', '2', '3', '4']);
    expect(connections.size).toBeLessThanOrEqual(2);
  });

  it('reports a WebSocket as unavailable and a missing upstream as 502', async () => {
    const headers = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' };
    expect((await home.ask('https://rpc.nas.local/ws', { headers })).status).toBe(502);
    await home.change({ outside: ['gone=h2c://127.0.0.1:9'], open: ['gone'], shared: [] });
    expect((await home.ask('https://gone.nas.local/')).status).toBe(502);
  });
});
