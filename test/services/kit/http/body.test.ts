import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { readRequestBody, writeBodyToFile } from '../../../../services/kit/http/body.ts';

it('reads a rejected body to its end, so that the client receives the response', async () => {
  const server = createServer((incoming, response) => {
    writeBodyToFile(incoming, '/dev/full', { maxBytes: Infinity, tooLarge: () => new Error('too large') }).catch(
      ({ code }: NodeJS.ErrnoException) => response.writeHead(507).end(code),
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    const client = request({ port: (server.address() as AddressInfo).port, method: 'POST' });
    const [finished, answered] = [once(client, 'finish'), once(client, 'response')];
    // More than the buffers between both sides.
    client.end(Buffer.alloc(64 * 1024 * 1024));
    const [response] = await answered;
    expect(response.statusCode).toBe(507);
    expect(Buffer.concat(await response.toArray()).toString()).toBe('ENOSPC');
    await finished;
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

it('rejects a body that stalls', async () => {
  const server = createServer((incoming, response) => {
    readRequestBody(incoming, 100, () => new Error('too large'), { stallMs: 20 }).catch(
      ({ code, status }: { readonly code: string; readonly status: number }) => response.writeHead(status).end(code),
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port);
  try {
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf');
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    expect(chunk.toString()).toMatch(/^HTTP\/1\.1 408 .*http\.stalled/s);
  } finally {
    socket.destroy();
    server.closeAllConnections();
    server.close();
  }
});
