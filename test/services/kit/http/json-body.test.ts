import { once } from 'node:events';
import { createServer, request as sendRequest, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Problem } from '../../../../services/contracts/problem.ts';
import { readJsonBody } from '../../../../services/kit/http/json-body.ts';

const maxBytes = 100_000;
const outcomes: (string | undefined)[] = [];
let settled = Promise.withResolvers<void>();
let server: Server;
beforeEach(async () => {
  outcomes.length = 0;
  settled = Promise.withResolvers();
  server = createServer((request, response) => {
    readJsonBody(request, maxBytes)
      .then(
        (value) => response.end(JSON.stringify(value ?? 'none')),
        (error: unknown) => {
          outcomes.push(error instanceof Problem ? error.code : String(error));
          response.writeHead(error instanceof Problem ? error.status : 500).end();
        },
      )
      .finally(settled.resolve);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function send(body: string | Uint8Array, headers: Record<string, string> = {}) {
  const { port } = server.address() as AddressInfo;
  const sent = sendRequest({ port, method: 'POST', headers, agent: false }).end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode, text: await text(response) };
}

describe('a JSON body', () => {
  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('is decompressed with %s', async (coding, compress) => {
    const body = compress('{"a":"naïve"}');
    expect(await send(body, { 'Content-Encoding': coding })).toEqual({ status: 200, text: '{"a":"naïve"}' });
  });

  it('is read whatever its type, and may be missing', async () => {
    expect(await send('[1]', { 'Content-Type': 'text/plain; charset=UTF-8' })).toMatchObject({ text: '[1]' });
    expect(await send('')).toMatchObject({ text: '"none"' });
  });

  it.each([
    ['invalid JSON', '{', {}, 400, 'http.bad_json'],
    ['damaged gzip', 'no gzip', { 'Content-Encoding': 'gzip' }, 400, 'http.bad_json'],
    ['truncated gzip', gzipSync('{"a":1}').subarray(0, 12), { 'Content-Encoding': 'gzip' }, 400, 'http.bad_json'],
    ['an unknown encoding', '{}', { 'Content-Encoding': 'zstd2' }, 415, 'http.unsupported_encoding'],
    ['another charset', '{}', { 'Content-Type': 'a/b; charset=koi8-r' }, 415, 'http.unsupported_encoding'],
    ['a large body', `"${'x'.repeat(maxBytes)}"`, {}, 413, 'http.too_large'],
    ['a bomb', gzipSync(Buffer.alloc(50_000_000)), { 'Content-Encoding': 'gzip' }, 413, 'http.too_large'],
  ] as const)('is refused with a response: %s', async (_name, body, headers, status, code) => {
    expect(await send(body, headers)).toMatchObject({ status });
    expect(outcomes).toEqual([code]);
  });

  it.each([{}, { 'Content-Encoding': 'gzip' }])(
    'ends with a problem when the client disconnects in the middle: %j',
    async (headers) => {
      const { port } = server.address() as AddressInfo;
      const arrived = once(server, 'request');
      const sent = sendRequest({
        port,
        method: 'POST',
        headers: { ...headers, 'Content-Length': '1000' },
        agent: false,
      });
      sent.on('error', () => undefined);
      sent.write(gzipSync('{"a":1}').subarray(0, 8));
      await arrived;
      sent.destroy();
      await settled.promise;
      expect(outcomes).toEqual(['http.aborted']);
    },
  );
});
