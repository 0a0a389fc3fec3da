import { once } from 'node:events';
import { createServer } from 'node:https';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { SMTPServer } from 'smtp-server';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { notify } from '../../../services/notify/index.ts';
import { api } from '../../support/api.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { makeSelfSigned } from '../../support/self-signed.ts';
import { openReceiver } from './support.ts';

const certificate = makeSelfSigned();

let open: AsyncDisposableStack;
let clock: FakeClock;
let host: TestHost;

beforeEach(async () => {
  open = new AsyncDisposableStack();
  clock = createFakeClock(Date.UTC(2026, 5, 1, 12));
  host = open.use(await openTestHost({ services: [notify, control], clock }));
});
afterEach(() => open.disposeAsync());

/** Opens a web server with a self-signed certificate. */
async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(certificate, listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.defer(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return (server.address() as AddressInfo).port;
}

async function post(path: string, fields: unknown): Promise<{ status: number; text: string }> {
  const headers = { 'content-type': 'application/json' };
  const reply = await fetch(host.url('notify') + path, { method: 'POST', headers, body: JSON.stringify(fields) });
  return { status: reply.status, text: await reply.text() };
}

const add = (key: string, ...lines: readonly string[]) =>
  post(`/add/${key}`, { config: lines.join('\n'), format: 'text' });

interface DeliveriesResponse {
  readonly deliveries: readonly { readonly state: string; readonly attempts: number; readonly detail: string }[];
}
const history = async (): Promise<readonly DeliveriesResponse[]> =>
  (await api<{ notices: readonly DeliveriesResponse[] }>(host.url('control'), '/api/notify/notices')).notices;

describe('a destination with an untrusted certificate', () => {
  it('receives nothing, and fails permanently after the second attempt with the reason', async () => {
    let requestCount = 0;
    const port = await serve((_request, response) => {
      requestCount += 1;
      response.end();
    });
    await add('k', `jsons://127.0.0.1:${port}/hook`);
    const reply = await post('/notify/k', { body: 'x' });
    expect([reply.status, reply.text]).toEqual([200, expect.stringContaining('isn’t trusted: it is self-signed')]);
    clock.advance(10_000);
    await vi.waitFor(async () => {
      expect((await history())[0]?.deliveries).toMatchObject([{ state: 'dead', attempts: 2 }]);
    });
    expect((await history())[0]?.deliveries[0]?.detail).toContain(`127.0.0.1:${port} isn’t trusted`);
    expect(requestCount).toBe(0);
  });

  it('is accepted with verify=no, but checked for another destination on the same host', async () => {
    const paths: string[] = [];
    const port = await serve((request, response) => {
      paths.push(request.url ?? '');
      response.end();
    });
    await add('k', `jsons://127.0.0.1:${port}/trusting?verify=no`, `jsons://127.0.0.1:${port}/checked`);
    const reply = await post('/notify/k', { body: 'x' });
    expect(reply.text).toContain('Sent JSON POST notification.');
    expect(reply.text).toContain('isn’t trusted');
    expect(paths).toEqual(['/trusting']);
  });

  it('cannot redirect to another host with verify=no', async () => {
    const paths: string[] = [];
    const other = await serve((request, response) => {
      paths.push(request.url ?? '');
      response.end();
    });
    const port = await serve((_request, response) => {
      response.writeHead(307, { location: `https://localhost:${other}/elsewhere` }).end();
    });
    await add('k', `jsons://127.0.0.1:${port}/?verify=no`);
    await post('/notify/k', { body: 'x' });
    await vi.waitFor(async () => expect((await history())[0]?.deliveries[0]?.attempts).toBe(1), 10_000);
    expect(paths).toEqual([]);
  });

  it('keeps verify=no in storage, lists and exports', async () => {
    const { text } = await post('/add/k', {
      urls: 'ntfys://127.0.0.1/topic?verify=no&rto=1.5&redirect=no, jsons://h?cto=2',
    });
    expect(text).toContain('null');
    const stored = await (await fetch(`${host.url('notify')}/get/k`, { method: 'POST' })).text();
    expect(stored).toMatch(/ntfys:.*&rto=1\.5&redirect=no&verify=no&/);
    expect(stored).toMatch(/jsons:.*&cto=2&/);
  });

  it('may be a mail server', async () => {
    const recipients: string[] = [];
    const server = new SMTPServer({
      ...{ ...certificate, secure: true, authOptional: true, disableReverseLookup: true },
      onData(stream, session, done) {
        recipients.push(...session.envelope.rcptTo.map(({ address }) => address));
        stream.on('end', () => done()).resume();
      },
    });
    server.on('error', () => undefined);
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    open.defer(() => new Promise<void>((resolve) => server.close(resolve)));
    const { port } = server.server.address() as AddressInfo;
    const url = `mailtos://127.0.0.1:${port}?mode=ssl&from=a@example.com&to=b@example.com`;
    const refused = await post('/notify', { urls: url, body: 'x' });
    expect(refused.text).toContain('127.0.0.1 isn’t trusted: it is self-signed');
    expect((await post('/notify', { urls: `${url}&verify=no`, body: 'x' })).text).toContain(
      'Sent E-Mail notification.',
    );
    expect(recipients).toEqual(['b@example.com']);
  });

  it('may be a broker', async () => {
    const receivedBytes: Buffer[] = [];
    const server = createTlsServer(certificate, (socket) => {
      socket.on('error', () => undefined);
      socket.once('data', (chunk) => {
        receivedBytes.push(chunk);
        // Connection refused: not authorised (MQTT 3.1.1, 3.2.2.3).
        socket.write(Buffer.from([0x20, 2, 0, 5]));
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    open.defer(async () => {
      server.close();
      await once(server, 'close');
    });
    const url = `mqtts://127.0.0.1:${(server.address() as AddressInfo).port}/t`;
    expect((await post('/notify', { urls: url, body: 'x' })).text).toContain('127.0.0.1 isn’t trusted');
    expect(receivedBytes).toEqual([]);
    const firstResponse = await post('/notify', { urls: `${url}?verify=no`, body: 'x' });
    expect([firstResponse.status, receivedBytes.length]).toEqual([424, 1]);
  });
});

describe('a redirect', () => {
  it.each([301, 302, 307, 308])('preserves the complete request in a redirect with %i', async (status) => {
    const received: string[] = [];
    const port = await serve((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += String(chunk)));
      request.on('end', () => {
        received.push(
          `${request.method ?? ''} ${request.url ?? ''} ${body === '' ? '' : (JSON.parse(body) as { message: string }).message}`,
        );
        if (request.url === '/') response.writeHead(status, { location: '/there' }).end();
        else response.end('{}');
      });
    });
    expect(await post('/notify', { urls: `jsons://127.0.0.1:${port}/?verify=no`, body: 'x' })).toMatchObject({
      status: 200,
    });
    expect(received).toEqual(['POST / x', 'POST /there x']);
  });
});

describe('redirect=no', () => {
  it('makes redirects of a destination a permanent failure', async () => {
    const receiver = open.use(await openReceiver());
    receiver.answer = 200;
    const port = await serve((_request, response) => {
      response.writeHead(307, { location: '/other' }).end();
    });
    const reply = await post('/notify', { urls: `jsons://127.0.0.1:${port}/?verify=no&redirect=no`, body: 'x' });
    expect([reply.status, reply.text]).toEqual([424, expect.stringContaining('redirects to another address')]);
  });
});
