import * as contractsProblems from '#messages/contracts-problems';
import * as hostProblems from '#messages/host-problems';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { AddressInfo, Server } from 'node:net';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { createFetch } from '../../../main/host/fetch/fetch.ts';
import { withLanguage } from '../../../messages/language.ts';
import { loadLanguage } from '../../../messages/runtime.ts';
import type { Problem } from '../../../services/contracts/problem.ts';
import { quietLog } from '../http/raw.ts';
import { makeSelfSigned } from '../../support/self-signed.ts';

const open: (() => PromiseLike<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(async () => {
    if ('closeAllConnections' in server) (server as ReturnType<typeof createServer>).closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return (server.address() as AddressInfo).port;
}

const serve = async (handler: RequestListener): Promise<string> =>
  `http://127.0.0.1:${String(await listening(createServer(handler)))}`;

function make(options: Partial<Parameters<typeof createFetch>[0]> = {}) {
  const fetch = createFetch({ log: quietLog(), ...options });
  open.push(() => fetch[Symbol.asyncDispose]());
  return fetch;
}

const owner = { trust: 'owner' } as const;

describe('streamed response', () => {
  it('is returned before it is complete and with backpressure', async () => {
    let written = 0;
    const base = await serve((_request, response) => {
      const part = Buffer.alloc(64 * 1024);
      const write = (): void => {
        while (!response.destroyed && response.write(part)) written += part.length;
        if (!response.destroyed) response.once('drain', write);
      };
      write();
    });
    const { status, body } = await make().stream(base, owner);
    expect(status).toBe(200);
    await once(body, 'readable');
    const before = written;
    body.read();
    expect(before).toBeLessThan(32 * 1024 * 1024);
    body.destroy();
  });

  it('supports ranges and is not decoded', async () => {
    const base = await serve((request, response) => {
      response.writeHead(206, { 'content-range': 'bytes 1-3/9', 'content-encoding': 'gzip' });
      response.end(request.headers.range);
    });
    const reply = await make().stream(base, { ...owner, headers: { Range: 'bytes=1-3' } });
    expect(reply.headers).toMatchObject({ 'content-range': 'bytes 1-3/9', 'content-encoding': 'gzip' });
    expect(await text(reply.body)).toBe('bytes=1-3');
  });

  it('ends with its signal and reports interruptions and timeouts', async () => {
    const base = await serve((request, response) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('12345');
      if (request.url?.startsWith('/broken') === true) setImmediate(() => response.destroy());
    });
    const stop = new AbortController();
    const stopped = await make().stream(`${base}/still`, { ...owner, signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(buffer(stopped.body)).rejects.toThrow();
    const broken = await make().stream(`${base}/broken?key=secret`, owner);
    await expect(buffer(broken.body)).rejects.toMatchObject({
      code: 'fetch.failed',
      detail: expect.not.stringContaining('secret') as string,
    });
    const silent = await make().stream(`${base}/still`, { ...owner, idleTimeoutMs: 50 });
    await expect(buffer(silent.body)).rejects.toMatchObject({ code: 'fetch.timeout' });
  });

  it('follows checked redirects and does not repeat an upload', async () => {
    const base = await serve((request, response) => {
      if (request.url === '/target') return void response.end('there');
      response.writeHead(request.url === '/kept' ? 307 : 302, { location: '/target' }).end();
    });
    const { stream } = make();
    const { body, url } = await stream(`${base}/moved`, owner);
    expect([await text(body), url]).toEqual(['there', `${base}/target`]);
    const upload = { ...owner, method: 'PUT', body: Readable.from(['x']) };
    await expect(stream(`${base}/kept`, upload)).rejects.toMatchObject({ code: 'fetch.failed' });
    await expect(stream(base)).rejects.toMatchObject({ code: 'fetch.refused_address' });
  });

  it('accepts an upload of any length', async () => {
    let received = 0;
    const base = await serve((request, response) => {
      request.on('data', (part: Buffer) => (received += part.length));
      request.on('end', () => response.end());
    });
    const parts = Readable.from(
      (function* () {
        for (let i = 0; i < 64; i += 1) yield Buffer.alloc(64 * 1024);
      })(),
    );
    await make().stream(base, { ...owner, method: 'POST', body: parts });
    expect(received).toBe(4 * 1024 * 1024);
  });
});

describe('connection', () => {
  it('reports its phases and address', async () => {
    const port = await listening(createTcpServer((socket) => socket.end('hello')));
    const { connect } = make({ resolve: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]) });
    const { socket, address, phases } = await connect({ host: 'machine.test', port, ...owner });
    expect(await text(socket)).toBe('hello');
    expect(address).toBe('127.0.0.1');
    expect(phases.dns).toBeGreaterThanOrEqual(0);
    expect(phases.connect).toBeGreaterThan(0);
    expect(phases.tls).toBeUndefined();
  });

  it('is refused to non-public addresses under any name', async () => {
    const { connect } = make({ resolve: () => Promise.resolve([{ address: '10.0.0.1', family: 4 }]) });
    await expect(connect({ host: 'machine.test', port: 1 })).rejects.toMatchObject({ code: 'fetch.refused_address' });
    await expect(connect({ host: '[::1]', port: 1 })).rejects.toMatchObject({ code: 'fetch.refused_address' });
  });

  it('reports the certificate and accepts an untrusted one only on request', async () => {
    const port = await listening(
      createTlsServer({ ...makeSelfSigned(), ALPNProtocols: ['h2'] }, (socket) => socket.end()),
    );
    const { connect } = make();
    const tls = { servername: 'localhost', alpn: ['h2', 'http/1.1'] };
    await loadLanguage('de');
    const refused = (await connect({ host: '127.0.0.1', port, tls, ...owner }).catch(
      (error: unknown) => error,
    )) as Problem;
    const explain = (): string =>
      hostProblems.certificateUntrusted({
        host: `127.0.0.1:${String(port)}`,
        reason: contractsProblems.certificateSelfSigned(),
      });
    expect(refused).toMatchObject({ code: 'fetch.untrusted', message: explain() });
    expect(withLanguage('de', () => refused.detail)).toBe(withLanguage('de', explain));
    const { certificate, protocol, phases, socket } = await connect({
      host: '127.0.0.1',
      port,
      tls: { ...tls, verify: false },
      ...owner,
    });
    expect(certificate).toMatchObject({
      subject: 'localhost',
      names: ['DNS:localhost', 'IP Address:127.0.0.1'],
      problem: contractsProblems.certificateSelfSigned,
      fingerprint: expect.stringMatching(/^([0-9A-F]{2}:){31}/) as string,
    });
    expect(certificate?.validTo).toBeGreaterThan(Date.now());
    expect(protocol).toBe('h2');
    expect(phases.tls).toBeGreaterThan(0);
    socket.destroy();
  });

  it('reports a refusal or timeout', async () => {
    const { connect } = make();
    const port = await listening(createTcpServer((socket) => void socket.resume()));
    const slow = connect({ host: '127.0.0.1', port, tls: {}, timeoutMs: 50, ...owner });
    await expect(slow).rejects.toMatchObject({ code: 'fetch.timeout' });
    await expect(connect({ host: '127.0.0.1', port: 1, ...owner })).rejects.toMatchObject({
      code: 'fetch.failed',
      detail: 'Connection refused: nothing is listening on 127.0.0.1:1.',
    });
    const connection = connect({ host: '127.0.0.1', port, ...owner, signal: AbortSignal.abort(new Error('enough')) });
    await expect(connection).rejects.toThrow('enough');
  });
});
