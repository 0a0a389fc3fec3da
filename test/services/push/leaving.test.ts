import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin, openRig, type Rig } from './rig.ts';

/** Two streams per account, so that a stream that is not released is noticed. */
const environment = {
  PUSH_LIMIT_ACCOUNTS: 'true',
  NTFY_VISITOR_REQUEST_LIMIT_EXEMPT_HOSTS: '203.0.113.0/24',
  NTFY_VISITOR_SUBSCRIPTION_LIMIT: '2',
};
let rig: Rig;
beforeAll(async () => {
  rig = await openRig({ environment });
});
afterAll(() => rig[Symbol.asyncDispose]());

const upgrade =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';

describe('client that disconnects during authentication', () => {
  it.each([
    ['json', 'Connection: close\r\n'],
    ['sse', 'Connection: close\r\n'],
    ['raw', 'Connection: close\r\n'],
    ['ws', upgrade],
  ])('releases its stream (%s)', async (format, extra) => {
    const name = `leaver-${format}`;
    const grants = [{ service: 'push', resource: '*', permission: 'read-write' }] as const;
    await rig.context.accounts.create({ name, password: 'secret word', grants });
    const authorization = `Basic ${Buffer.from(`${name}:secret word`).toString('base64')}`;
    const head = `GET /leave/${format} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${authorization}\r\n${extra}\r\n`;
    // Hashing the password takes a while the first time; the clients disconnect in the meantime.
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        const socket = connect(rig.port, '127.0.0.1').on('error', () => undefined);
        await new Promise((resolve) => socket.write(head, resolve));
        socket.resetAndDestroy();
      }),
    );
    const getStatus = async () => {
      using stream = await rig.listen('/leave/json', { authorization });
      return stream.status;
    };
    await expect.poll(getStatus).toBe(200);
    using _first = await rig.listen('/leave/json', { authorization });
    await expect.poll(getStatus).toBe(200);
  });
});

it('publishes and answers a request whose client half-closes the connection', async () => {
  const name = 'device';
  const grants = [{ service: 'push', resource: '*', permission: 'read-write' }] as const;
  await rig.context.accounts.create({ name, password: 'secret word', grants });
  const authorization = `Basic ${Buffer.from(`${name}:secret word`).toString('base64')}`;
  const socket = connect({ port: rig.port, host: '127.0.0.1', allowHalfOpen: true });
  socket.end(
    `POST /half HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${authorization}\r\nContent-Length: 5\r\n\r\nhello`,
  );
  let response = '';
  for await (const chunk of socket) response += String(chunk);
  expect(response).toContain('HTTP/1.1 200 OK');
  expect((await rig.poll('/half/json?poll=1&since=latest'))[0]).toMatchObject({ message: 'hello' });

  const reader = connect({ port: rig.port, host: '127.0.0.1', allowHalfOpen: true });
  reader.end(`GET /half/json HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${authorization}\r\n\r\n`);
  await once(reader.resume(), 'close');
});

it('ends a stream when its client half-closes the connection', async () => {
  const reader = connect({ port: rig.port, host: '127.0.0.1', allowHalfOpen: true });
  reader.write(`GET /half/json HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${admin}\r\n\r\n`);
  await once(reader, 'data');
  reader.end();
  await once(reader.resume(), 'close');
});
