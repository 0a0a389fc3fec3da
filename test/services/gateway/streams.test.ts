import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { gateway } from '../../../services/gateway/index.ts';
import { fixtureService } from '../../support/fixture-service.ts';
import { lan, openHome, type Home } from '../../support/gateway/phone.ts';

const dataChunk = Buffer.alloc(256 * 1024, 'x');
/** Maximum number of buffered bytes: more than all buffers together, and far less than the offered amount. */
const bufferLimit = 32 * 1024 * 1024;
const offered = 128 * 1024 * 1024;
const waitOptions = { timeout: 30_000, interval: 20 };

/** Last request that the service received. */
let seen: { request: IncomingMessage; response: ServerResponse; sent: number; accepted: number; disconnected: boolean };
const sockets = new WebSocketServer({ noServer: true });
const streamingService = fixtureService('hose', () => ({
  http(request, response) {
    const exchange = { request, response, sent: 0, accepted: 0, disconnected: false };
    seen = exchange;
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
      writeChunks();
    }
    if (request.url === '/drink') {
      request.on('data', (chunk: Buffer) => (exchange.accepted += chunk.length));
      request.once('end', () => response.end(String(exchange.accepted)));
    }
    // `/stare` reads nothing and sends no response.
  },
  upgrade: (request, socket, head) =>
    sockets.handleUpgrade(request, socket, head, (client) => sockets.emit('connection', client)),
}));

let home: Home;
beforeAll(async () => {
  home = await openHome({ services: [streamingService, control, gateway], environment: { GATEWAY_OPEN: 'hose' } });
});
afterAll(() => home[Symbol.asyncDispose]());

/** Open exchange over HTTP/1.1 or HTTP/2. */
interface Exchange {
  readonly to: Writable;
  readonly answer: Promise<Readable>;
  readonly disconnect: () => void;
}
const ways = {
  'HTTP/1.1': (path: string, method: string): Exchange => {
    const to = home.open(`https://hose.nas.local${path}`, { method });
    to.on('error', () => undefined);
    const answer = once(to, 'response').then(([response]) => response as Readable);
    answer.catch(() => undefined);
    return { to, answer, disconnect: () => to.destroy() };
  },
  'HTTP/2': (path: string, method: string): Exchange => {
    const session = home.http2('hose.nas.local');
    const to = session.request({ ':path': path, ':method': method }, { endStream: false });
    to.on('error', () => undefined);
    to.once('close', () => session.close());
    return { to, answer: once(to, 'response').then(() => to), disconnect: () => session.destroy() };
  },
};

/** Sends bytes until none are accepted for a while. Returns the number of accepted bytes. */
async function push(to: Writable): Promise<number> {
  let accepted = 0;
  const more = (): void => {
    if (accepted >= offered || to.destroyed) return;
    accepted += dataChunk.length;
    to.write(dataChunk, () => setImmediate(more));
  };
  more();
  return waitUntilStable(() => accepted);
}

/** Returns a number after it has not changed for half a second. */
async function waitUntilStable(read: () => number): Promise<number> {
  for (let last = -1; ;) {
    const now = read();
    if (now === last && now > 0) return now;
    last = now;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

beforeEach(() => {
  seen = undefined as unknown as typeof seen;
});

describe.each(['HTTP/1.1', 'HTTP/2'] as const)('streams over %s', (protocol) => {
  const sendRequest = ways[protocol];

  it('applies backpressure of a slow reader without data loss', async () => {
    const { to, answer } = sendRequest('/pour', 'GET');
    to.end();
    const body = await answer;
    body.pause();
    await vi.waitFor(() => expect(seen.sent).toBeGreaterThan(0), waitOptions);
    expect(await waitUntilStable(() => seen.sent)).toBeLessThan(bufferLimit);
    let length = 0;
    body.on('data', (chunk: Buffer) => (length += chunk.length)).resume();
    await once(body, 'end');
    expect(length).toBe(offered);
  }, 60_000);

  it('applies backpressure of a slow service to an upload', async () => {
    const { to, disconnect } = sendRequest('/stare', 'PUT');
    expect(await push(to)).toBeLessThan(bufferLimit);
    disconnect();
    // An HTTP/1.1 client that does not read notices the disconnect when it resumes reading.
    seen.request.on('error', () => undefined).resume();
    await vi.waitFor(() => expect(seen.disconnected).toBe(true), waitOptions);
  }, 60_000);

  it('passes a large upload completely', async () => {
    const { to, answer } = sendRequest('/drink', 'PUT');
    for (let sent = 0; sent < offered; sent += dataChunk.length) if (!to.write(dataChunk)) await once(to, 'drain');
    to.end();
    const chunks: Buffer[] = [];
    for await (const chunk of await answer) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).toString()).toBe(String(offered));
  }, 60_000);

  it.each(['/pour', '/stare'])('releases everything after a client disconnects in the middle of %s', async (path) => {
    const { to, answer, disconnect } = sendRequest(path, 'GET');
    to.end();
    if (path === '/pour') (await answer).pause();
    else answer.catch(() => undefined);
    await vi.waitFor(() => expect(seen).toBeDefined(), waitOptions);
    disconnect();
    await vi.waitFor(() => expect([seen.disconnected, seen.response.destroyed]).toEqual([true, true]), waitOptions);
  });
});

describe('a WebSocket', () => {
  const dial = (): WebSocket =>
    new WebSocket(`wss://hose.nas.local:${home.port}/`, {
      ca: home.authority,
      lookup: (_name: string, options: any, done: any) =>
        options.all ? done(null, [{ address: lan, family: 4 }]) : done(null, lan, 4),
    });

  it('closes a WebSocket of a vanished client', async () => {
    const arrived = once(sockets, 'connection') as Promise<[WebSocket]>;
    const client = dial();
    client.on('error', () => undefined);
    const [server] = await arrived;
    const closed = once(server, 'close');
    await once(client, 'open');
    client.terminate();
    await closed;
  });

  it('applies backpressure of a WebSocket that does not read', async () => {
    const arrived = once(sockets, 'connection') as Promise<[WebSocket]>;
    const client = dial();
    client.on('error', () => undefined);
    const [server] = await arrived;
    await once(client, 'open');
    client.pause();
    let sent = 0;
    const more = (): void => {
      if (sent >= offered || server.readyState !== WebSocket.OPEN) return;
      sent += dataChunk.length;
      server.send(dataChunk, () => setImmediate(more));
    };
    more();
    expect(await waitUntilStable(() => sent)).toBeLessThan(bufferLimit);
    client.terminate();
  }, 60_000);
});
