import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminAuthorization, openTestHost, type TestHost } from '../support/host.ts';

const listeners = ['control', 'downloads', 'notify', 'push'] as const;
const changing = {
  control: '/api/session',
  downloads: '/add',
  notify: '/notify/aggregator',
  push: '/homeport',
} as const;

let host: TestHost;
beforeAll(async () => {
  host = await openTestHost();
});
afterAll(() => host[Symbol.asyncDispose]());

/** fetch sets Host and Sec-Fetch-* itself, so the request is written by hand. */
async function status(service: (typeof listeners)[number], request: string): Promise<number> {
  const socket = connect(host.port(service), '127.0.0.1');
  await once(socket, 'connect');
  let text = '';
  socket.on('data', (chunk) => (text += String(chunk)));
  // The listener may reset the connection after its response, since it did not read the rest of the request.
  socket.on('error', () => undefined);
  socket.write(request);
  await new Promise((resolve) => socket.on('close', resolve));
  return Number(text.split(' ')[1]);
}

describe.each(listeners)('the listener of %s', (service) => {
  it('rejects a host name that was rebound to this computer', async () => {
    expect(await status(service, `GET / HTTP/1.1\r\nHost: evil.example:80\r\nConnection: close\r\n\r\n`)).toBe(403);
    expect(await status(service, `GET / HTTP/1.0\r\n\r\n`)).toBe(403);
  });

  it('rejects a change by a page of another origin', async () => {
    const post = (headers: string): string =>
      `POST ${changing[service]} HTTP/1.1\r\nHost: 127.0.0.1:${host.port(service)}\r\n` +
      `${headers}Content-Type: text/plain\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`;
    expect(await status(service, post('Origin: https://evil.example\r\n'))).toBe(403);
    expect(await status(service, post('Origin: null\r\n'))).toBe(403);
    expect(await status(service, post('Sec-Fetch-Site: cross-site\r\n'))).toBe(403);
    expect(await status(service, post(`Origin: http://127.0.0.1:1\r\n`))).toBe(403);
  });

  it('answers on both loopback families under every local name', async () => {
    const port = host.port(service);
    for (const name of ['127.0.0.1', 'localhost', '[::1]']) {
      const reply = await fetch(`http://${name}:${port}/`, {
        redirect: 'manual',
        headers: { Authorization: adminAuthorization },
      });
      expect([200, 302, 303, 307]).toContain(reply.status);
      await reply.body?.cancel();
    }
  });

  it('closes the connection after invalid input and keeps running', async () => {
    expect(await status(service, 'NONSENSE\r\n\r\n')).toBe(400);
    expect(await status(service, `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${'x'.repeat(200_000)}\r\n\r\n`)).toBe(431);
    expect((await fetch(host.url(service), { redirect: 'manual' })).status).toBeLessThan(500);
  });
});
