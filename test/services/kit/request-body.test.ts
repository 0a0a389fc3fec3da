import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { writeBodyToFile } from '../../../services/kit/request-body.ts';

it('a body that finds no room is taken to its end, so that its sender reads why', async () => {
  const server = createServer((incoming, response) => {
    writeBodyToFile(incoming, '/dev/full', { most: Infinity, tooLarge: () => new Error('too large') }).catch(
      ({ code }: NodeJS.ErrnoException) => response.writeHead(507).end(code),
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    const sent = request({ port: (server.address() as AddressInfo).port, method: 'POST' });
    const [finished, answered] = [once(sent, 'finish'), once(sent, 'response')];
    // More than the buffers between the two hold.
    sent.end(Buffer.alloc(64 * 1024 * 1024));
    const [response] = await answered;
    expect(response.statusCode).toBe(507);
    expect(Buffer.concat(await response.toArray()).toString()).toBe('ENOSPC');
    await finished;
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
