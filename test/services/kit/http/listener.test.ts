import * as kitProblems from '#messages/kit-problems';
import { once } from 'node:events';
import { createServer, request as sendRequest, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Problem } from '../../../../services/contracts/problem.ts';
import { readRequestBody } from '../../../../services/kit/http/body.ts';
import { createHttpListener, type Exchange, type Route } from '../../../../services/kit/http/listener.ts';
import { jsonReply, redirectReply, startResponse, textReply } from '../../../../services/kit/http/respond.ts';

interface Call extends Exchange {
  readonly account: string;
}
interface DeclaredRoute extends Route<Call> {
  readonly auth: 'public' | 'account';
}

const logged: { level: string; message: string; fields: Record<string, unknown> | undefined }[] = [];
const record =
  (level: string) =>
  (message: string, fields?: Record<string, unknown>): void =>
    void logged.push({ level, message, fields });
const log = { debug: record('debug'), info: record('info'), warn: record('warn'), error: record('error') };
const routes: readonly DeclaredRoute[] = [
  { method: 'GET', path: '/text', auth: 'public', handle: () => textReply(200, 'naïve') },
  {
    method: 'GET',
    path: '/items/:id',
    auth: 'account',
    handle: ({ account, params }) => jsonReply(200, { account, ...params }),
  },
  { method: 'POST', path: '/body', auth: 'public', handle: async ({ request }) => readLimited(request) },
  { method: 'GET', path: '/gone', auth: 'public', handle: () => ({ status: 204 }) },
  {
    method: 'GET',
    path: '/moved',
    auth: 'public',
    handle: ({ query }) => redirectReply(302, `/text?${query.toString()}`),
  },
  { method: 'GET', path: '/reason', auth: 'public', handle: () => ({ status: 400, reason: 'No such video' }) },
  { method: 'GET', path: '/defect', auth: 'public', handle: () => Promise.reject(new TypeError('secret detail')) },
  {
    method: 'GET',
    path: '/cut',
    auth: 'public',
    handle: ({ response }) => {
      startResponse(response, 200, { 'Content-Type': 'text/plain' });
      response.write('half');
      throw new Error('the rest is missing');
    },
  },
];
async function readLimited(incoming: IncomingMessage) {
  const body = await readRequestBody(incoming, 10, () => new Problem('test.too_large', 413, 'Too large.'));
  return textReply(200, body.toString());
}

let server: Server;
let base: string;
beforeEach(async () => {
  logged.length = 0;
  server = createServer(
    createHttpListener<Call, DeclaredRoute>({
      routes,
      service: 'test',
      context: { log, random: { bytes: (length) => Buffer.alloc(length), text: (length) => 'x'.repeat(length) } },
      dialect: {
        headers: { 'X-Frame-Options': 'DENY' },
        preflight: () => ({ status: 200, headers: { 'Access-Control-Allow-Origin': '*' } }),
        renderProblem: ({ status, code, detail, headers }) => jsonReply(status, { code, detail }, headers),
      },
      createCall: (exchange, { auth }) => {
        const account = exchange.request.headers.authorization ?? '';
        if (auth === 'account' && account === '') throw new Problem('test.sign_in', 401, 'Sign in.');
        return { ...exchange, account };
      },
    }),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  base = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function send(method: string, path: string, headers: Record<string, string> = {}, body?: string) {
  const sent = sendRequest(`${base}${path}`, { method, headers, agent: false }).end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return {
    status: response.statusCode,
    reason: response.statusMessage,
    headers: response.headers,
    text: await text(response),
  };
}

describe('a listener', () => {
  it('answers with the reply of the route, its length and the header fields of every response', async () => {
    const reply = await send('GET', '/text');
    expect(reply).toMatchObject({ status: 200, text: 'naïve' });
    expect(reply.headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-length': '6',
      'x-frame-options': 'DENY',
    });
  });

  it('answers HEAD with the header fields of GET', async () => {
    const reply = await send('HEAD', '/text');
    expect(reply).toMatchObject({ status: 200, text: '' });
    expect(reply.headers['content-length']).toBe('6');
  });

  it('gives handlers the decoded parameters and what the call was created with', async () => {
    expect(await send('GET', '/items/a%2Fb', { Authorization: 'mia' })).toMatchObject({
      text: '{"account":"mia","id":"a/b"}',
    });
    expect(await send('GET', '/items/1')).toMatchObject({
      status: 401,
      text: '{"code":"test.sign_in","detail":"Sign in."}',
    });
  });

  it('sends redirects, reasons and responses without a body', async () => {
    const moved = await send('GET', '/moved?a=1');
    expect(moved).toMatchObject({ status: 302, text: '' });
    expect(moved.headers).toMatchObject({ location: '/text?a=1', 'content-length': '0' });
    expect(await send('GET', '/reason')).toMatchObject({ status: 400, reason: 'No such video' });
    expect((await send('GET', '/gone')).headers['content-length']).toBeUndefined();
  });

  it('names the methods of a path, and answers preflights and unknown paths', async () => {
    const wrong = await send('DELETE', '/text');
    expect(wrong.status).toBe(405);
    expect(wrong.headers['allow']).toBe('GET');
    expect((await send('OPTIONS', '/text')).headers['access-control-allow-origin']).toBe('*');
    expect(await send('GET', '/none')).toMatchObject({
      status: 404,
      text: JSON.stringify({ code: 'test.unknown_path', detail: kitProblems.unknownPath() }),
    });
    expect((await send('GET', '/%E0%A4%A')).status).toBe(404);
  });

  it('logs a defect under the id that the client receives, which gets no other detail', async () => {
    const reply = await send('GET', '/defect?token=secret');
    expect(reply).toMatchObject({ status: 500 });
    expect(reply.text).toContain('xxxxxxxxxxxx');
    expect(reply.text).not.toContain('secret');
    expect(logged).toMatchObject([{ level: 'error', fields: { id: 'xxxxxxxxxxxx', method: 'GET', path: '/defect' } }]);
  });

  it('cuts off a response that fails after it has begun', async () => {
    await expect(send('GET', '/cut')).rejects.toThrow(/aborted|socket hang up|reset/i);
  });

  it('ends the connection of a request whose body it does not read', async () => {
    const reply = await send('POST', '/body', {}, 'x'.repeat(1_000_000));
    expect(reply).toMatchObject({ status: 413 });
    expect(reply.headers['connection']).toBe('close');
    expect(await send('POST', '/body', {}, 'short')).toMatchObject({ status: 200, text: 'short' });
  });

  it('reports no defect for a client that disconnects in the middle of its body', async () => {
    const { port } = server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const closed = new Promise<void>((resolve) => {
      server.once('connection', () => undefined);
      server.once('request', (incoming: IncomingMessage) => incoming.once('close', () => resolve()));
    });
    socket.write('POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab');
    server.once('request', () => socket.destroy());
    await closed;
    await new Promise((resolve) => void setImmediate(resolve));
    expect(logged.filter(({ level }) => level !== 'debug')).toEqual([]);
  });
});
