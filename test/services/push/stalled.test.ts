import { connect, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { admin, openRig } from './rig.ts';

it('disconnects a client that does not read its history after a minute, and serves those that do', async () => {
  const clock = createFakeClock();
  await using rig = await openRig({ clock, environment: { NTFY_MESSAGE_SIZE_LIMIT: '16384' } });
  // Larger than the buffers of a connection.
  const text = 'x'.repeat(16_000);
  for (let part = 0; part < 20; part += 1) {
    await Promise.all(Array.from({ length: 60 }, () => rig.publish('/long', text, { 'X-Firebase': 'no' })));
  }
  const closed: string[] = [];
  const sockets: Socket[] = [];
  for (const path of ['/long/json?poll=1', '/long/raw?poll=1', '/long/json?since=all', '/long/sse?since=all']) {
    const socket = connect(rig.port, '127.0.0.1').pause();
    sockets.push(socket);
    socket.on('error', () => undefined).once('close', () => closed.push(path));
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${admin}\r\n\r\n`);
  }
  using reader = await rig.listen('/long/json?since=all');
  await expect.poll(() => reader.messages.length, { timeout: 20_000 }).toBe(1200);
  expect(closed).toEqual([]);
  const openSlowClient = async (): Promise<number> => {
    const { text: page } = await rig.ask('GET', '/metrics', { authorization: admin });
    return Number(/^push_subscribers (\d+)/m.exec(page)?.[1]);
  };
  expect(await openSlowClient()).toBe(3);
  clock.advance(60_001);
  await expect.poll(openSlowClient).toBe(1);
  // Otherwise the polls would finish and their connections remain.
  for (const socket of sockets) socket.resume();
  await expect.poll(() => closed.length).toBe(4);
  expect((await rig.poll('/long/json?poll=1&since=latest')).length).toBe(1);
}, 60_000);
