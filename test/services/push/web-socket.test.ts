import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket, type ClientOptions } from 'ws';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { admin, openRig, sendRaw, type Rig } from './rig.ts';

let clock: FakeClock;
let rig: Rig;
beforeAll(async () => {
  clock = createFakeClock();
  rig = await openRig({ clock });
});
afterAll(() => rig[Symbol.asyncDispose]());

interface Reader extends Disposable {
  readonly socket: WebSocket;
  readonly events: any[];
  readonly messages: any[];
  /** Close code. */
  readonly closed: Promise<number>;
}

async function openStream(
  path: string,
  options: ClientOptions = { headers: { authorization: admin } },
): Promise<Reader> {
  const socket = new WebSocket(`ws://127.0.0.1:${rig.port}${path}`, options);
  const events: any[] = [];
  socket.on('message', (data) => events.push(JSON.parse((data as Buffer).toString())));
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  await once(socket, 'open');
  return {
    socket,
    events,
    closed,
    get messages() {
      return events.filter(({ event }) => event === 'message');
    },
    [Symbol.dispose]: () => socket.terminate(),
  };
}

/** Returns the status of a refused upgrade. */
async function getRefusalStatus(path: string, headers: Record<string, string>): Promise<number> {
  const socket = new WebSocket(`ws://127.0.0.1:${rig.port}${path}`, { headers });
  const [, response] = await once(socket, 'unexpected-response');
  response.resume();
  return response.statusCode;
}

const getTexts = (messages: readonly { message: string }[]) => messages.map(({ message }) => message);

describe('WebSocket stream', () => {
  it('begins with open and receives published messages of any length, each in a frame', async () => {
    using reader = await openStream('/w1,w2/ws');
    const sent = [];
    for (const text of ['a', 'b'.repeat(200), '🚨'.repeat(1000)]) sent.push(await rig.publish('/w1', text));
    sent.push(await rig.publish('/w2', 'x', { Title: 'y'.repeat(7000), Click: 'z'.repeat(7000) }));
    await expect.poll(() => reader.messages).toEqual(sent);
    expect(reader.events[0]).toMatchObject({ event: 'open', topic: 'w1,w2' });
  });

  it('receives history first, then live messages, each once, with its filter', async () => {
    for (let index = 0; index < 700; index += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, offset) => rig.publish('/wh', String(index + offset))));
    }
    const { id } = await rig.publish('/wh', 'before', { Priority: '5' });
    using history = await openStream('/wh/ws?since=all');
    using urgent = await openStream('/wh/ws?since=all&priority=5');
    using resumed = await openStream(`/wh/ws?since=${id}`);
    await rig.publish('/wh', 'after', { Priority: '5' });
    await expect.poll(() => history.messages.length).toBe(702);
    expect(new Set(history.messages.map((message) => message.id)).size).toBe(702);
    await expect.poll(() => getTexts(urgent.messages)).toEqual(['before', 'after']);
    await expect.poll(() => getTexts(resumed.messages)).toEqual(['after']);
  });

  it('ends after the history when polling', async () => {
    await rig.publish('/wp', 'one');
    using reader = await openStream('/wp/ws?poll=1');
    await reader.closed;
    expect(reader.events).toMatchObject([{ event: 'message', message: 'one' }]);
  });

  it('accepts credentials in the URL, as browsers send them', async () => {
    using reader = await openStream(`/wa/ws?auth=${Buffer.from(admin).toString('base64url')}`, {});
    await rig.publish('/wa', 'seen');
    await expect.poll(() => getTexts(reader.messages)).toEqual(['seen']);
  });

  it.each([
    ['/w/ws', {}, 403],
    ['/w/ws', { authorization: 'Bearer tk_00000000000000000000000000000' }, 401],
    ['/v1/ws', { authorization: admin }, 400],
    ['/w/ws?since=never', { authorization: admin }, 400],
    ['/w/json', { authorization: admin }, 404],
    ['/w/ws/ws', { authorization: admin }, 404],
    ['/%00/ws', { authorization: admin }, 404],
  ])('refuses %s with %o and status %i before the upgrade', async (path, headers, status) => {
    expect(await getRefusalStatus(path, headers)).toBe(status);
  });

  it('answers pings and is closed after invalid frames', async () => {
    using reader = await openStream('/wf/ws');
    reader.socket.ping('hello');
    expect(String((await once(reader.socket, 'pong'))[0])).toBe('hello');
    reader.socket.send('short ones do no harm');
    await rig.publish('/wf', 'still there');
    await expect.poll(() => getTexts(reader.messages)).toEqual(['still there']);
    reader.socket.send('x'.repeat(65));
    expect(await reader.closed).toBe(1009);
  });

  it('receives a ping every 45 seconds and is closed after 60 without answer', async () => {
    using activeStream = await openStream('/wl/ws');
    const pausedClient = await openSlowClient('/wl/ws');
    const closed = once(pausedClient, 'close');
    const pinged = once(activeStream.socket, 'ping');
    clock.advance(45_000);
    await pinged;
    // The pong must arrive before the timeout.
    await rig.publish('/wl', 'one');
    await expect.poll(() => activeStream.messages.length).toBe(1);
    clock.advance(60_000);
    await closed;
    await rig.publish('/wl', 'two');
    await expect.poll(() => activeStream.messages.length).toBe(2);
    expect(activeStream.events.filter(({ event }) => event === 'keepalive')).toEqual([]);
  });

  it('ends when the permission to read is revoked', async () => {
    const { accounts } = rig.context;
    const grant = { service: 'push', resource: 'wr', permission: 'read' } as const;
    await accounts.create({ name: 'reader', password: 'reader-password', grants: [grant] });
    const authorization = `Basic ${Buffer.from('reader:reader-password').toString('base64')}`;
    using reader = await openStream('/wr/ws', { headers: { authorization } });
    await accounts.change('reader', { grants: [] });
    expect(await reader.closed).toBe(1001);
  });

  it.each([
    ['pings', Buffer.concat([Buffer.from([0x89, 0x80 | 60, 0, 0, 0, 0]), Buffer.alloc(60)])],
    ['pieces of a frame', Buffer.from([0x00, 0x80, 0, 0, 0, 0])],
  ])('is closed when its client keeps sending %s', async (_case, bytes) => {
    using chatty = await openStream('/chatty/ws');
    using reader = await openStream('/chatty/ws');
    const { _socket: raw } = chatty.socket as unknown as { _socket: Socket };
    raw.pause();
    raw.on('error', () => undefined);
    // Start of a frame that never ends.
    raw.write(Buffer.from([0x01, 0x80, 0, 0, 0, 0]));
    const many = Buffer.concat(Array.from({ length: 1000 }, () => bytes));
    const ended = new Promise((resolve) => raw.resume().once('close', resolve));
    for (let size = 0; size < 10 * 65_536; size += many.length) raw.write(many);
    await ended;
    const published = await rig.publish('/chatty');
    await expect.poll(() => reader.messages).toEqual([published]);
  });

  it('survives invalid frames', async () => {
    const head =
      `GET /wj/ws HTTP/1.1\r\nHost: 127.0.0.1:${rig.port}\r\nAuthorization: ${admin}\r\nConnection: ` +
      'Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ' +
      'dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
    expect(await sendRaw(rig.port, head + 'x'.repeat(1000))).toMatch(/^HTTP\/1.1 101 /);
    expect(await sendRaw(rig.port, head.replace('Version: 13', 'Version: 7'))).toMatch(/^HTTP\/1.1 4/);
    expect((await rig.publish('/wj')).message).toBe('x');
  });

  it('closes slow clients and continues with others', async () => {
    using activeStream = await openStream('/ws1/ws');
    const pausedClient = await openSlowClient('/ws1/ws');
    pausedClient.pause();
    const text = 'x'.repeat(4000);
    let isClosed = false;
    pausedClient.once('close', () => (isClosed = true));
    for (let count = 0; count < 6000 && !isClosed; count += 100) {
      await Promise.all(Array.from({ length: 100 }, () => rig.publish('/ws1', text, { Cache: 'no' })));
      const page = await fetch(`${rig.host.url('control')}/metrics`, { headers: { authorization: admin } });
      isClosed = /^push_subscribers_cut_total\{service="push"\} 1$/m.test(await page.text());
    }
    expect(isClosed).toBe(true);
    const before = activeStream.messages.length;
    await rig.publish('/ws1', 'end');
    await expect.poll(() => getTexts(activeStream.messages).at(-1)).toBe('end');
    expect(activeStream.messages.length).toBeGreaterThan(before);
    pausedClient.destroy();
  }, 60_000);
});

/** Client that completes the handshake and then reads nothing. */
async function openSlowClient(path: string): Promise<Socket> {
  const socket = connect(rig.port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${rig.port}\r\nAuthorization: ${admin}\r\nConnection: ` +
      'Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ' +
      'dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  const [data] = await once(socket, 'data');
  expect(String(data)).toMatch(/^HTTP\/1.1 101 /);
  return socket.resume();
}
