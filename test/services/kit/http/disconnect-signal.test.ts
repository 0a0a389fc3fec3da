import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Problem } from '../../../../services/contracts/problem.ts';
import {
  createCloseSignal,
  createDisconnectSignal,
  isDisconnectError,
} from '../../../../services/kit/http/disconnect-signal.ts';
import { readRequestBody } from '../../../../services/kit/http/body.ts';

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

const server = createServer();
const sockets: Socket[] = [];
beforeEach(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  // As the host's listener does: a client may stop sending and still wait for its answer.
  Object.assign(server, { httpAllowHalfOpen: true });
});
afterEach(async () => {
  server.removeAllListeners('request');
  for (const socket of sockets.splice(0)) socket.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Sends the text and returns the server's exchange, with the client's side of the connection. */
async function open(text: string): Promise<Exchange & { readonly client: Socket }> {
  const received = once(server, 'request');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  sockets.push(client);
  client.on('error', () => undefined);
  client.resume();
  client.write(text);
  const [request, response] = (await received) as [IncomingMessage, ServerResponse];
  return { request, response, client };
}

const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const halfBody = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf';

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('isDisconnectError', () => {
  it('recognizes a body that the client cut off', async () => {
    const { request, response, client } = await open(halfBody);
    const raw = failure(pipeline(request, new PassThrough().resume()));
    client.destroy();
    expect(isDisconnectError(request, response, await raw)).toBe(true);
  });

  it('recognizes the problem that reading such a body ends with', async () => {
    const { request, response, client } = await open(halfBody);
    const read = failure(readRequestBody(request, 1000, () => new Error('too large')));
    client.resetAndDestroy();
    const error = await read;
    expect(error).toMatchObject({ code: 'http.aborted' });
    expect(isDisconnectError(request, response, error)).toBe(true);
  });

  it('recognizes an answer that the client did not read to its end', async () => {
    const { request, response, client } = await open(get);
    const endless = new Readable({ read: () => undefined });
    endless.push('a beginning');
    const sent = failure(pipeline(endless, response));
    client.resetAndDestroy();
    expect(isDisconnectError(request, response, await sent)).toBe(true);
  });

  it('reports a defect of the service even when its client has left', async () => {
    const { request, response, client } = await open(halfBody);
    client.destroy();
    await failure(once(request, 'close'));
    expect(isDisconnectError(request, response, new TypeError('no such property'))).toBe(false);
    expect(isDisconnectError(request, response, new Problem('data.failed', 500, 'It failed.'))).toBe(false);
  });

  it('reports a connection of the service itself that failed while its client waits', async () => {
    const { request, response } = await open(get);
    const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
    expect(isDisconnectError(request, response, reset)).toBe(false);
  });
});

describe('signals of a client that leaves', () => {
  it('aborts when the connection closes before the response is complete', async () => {
    const { request, response, client } = await open(get);
    const signals = [createCloseSignal(response), createDisconnectSignal(request, response)];
    const closed = once(response, 'close');
    client.resetAndDestroy();
    await closed;
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });

  it('do not abort after a complete answer', async () => {
    const { request, response } = await open(get);
    const signals = [createCloseSignal(response), createDisconnectSignal(request, response)];
    const closed = once(response, 'close');
    response.end('done');
    await closed;
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  });

  it('distinguishes a client that stops sending and still reads', async () => {
    const { request, response, client } = await open(get);
    const [early, disconnected] = [createCloseSignal(response), createDisconnectSignal(request, response)];
    const aborted = once(disconnected, 'abort');
    client.end();
    await aborted;
    expect(early.aborted).toBe(false);
  });
});
