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
  /** The code it was closed with. */
  readonly closed: Promise<number>;
}

async function listen(path: string, options: ClientOptions = { headers: { authorization: admin } }): Promise<Reader> {
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

/** The status that an upgrade was refused with. */
async function refusedWith(path: string, headers: Record<string, string>): Promise<number> {
  const socket = new WebSocket(`ws://127.0.0.1:${rig.port}${path}`, { headers });
  const [, response] = await once(socket, 'unexpected-response');
  response.resume();
  return response.statusCode;
}

const texts = (messages: readonly { message: string }[]) => messages.map(({ message }) => message);

describe('a WebSocket stream', () => {
  it('begins with open and gets what is published then, long and short, each in a frame', async () => {
    using reader = await listen('/w1,w2/ws');
    const sent = [];
    for (const text of ['a', 'b'.repeat(200), '🚨'.repeat(1000)]) sent.push(await rig.publish('/w1', text));
    sent.push(await rig.publish('/w2', 'x', { Title: 'y'.repeat(7000), Click: 'z'.repeat(7000) }));
    await expect.poll(() => reader.messages).toEqual(sent);
    expect(reader.events[0]).toMatchObject({ event: 'open', topic: 'w1,w2' });
  });

  it('gets history first, then what comes, each once, through its filter', async () => {
    for (let index = 0; index < 700; index += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, at) => rig.publish('/wh', String(index + at))));
    }
    const { id } = await rig.publish('/wh', 'before', { Priority: '5' });
    using all = await listen('/wh/ws?since=all');
    using urgent = await listen('/wh/ws?since=all&priority=5');
    using resumed = await listen(`/wh/ws?since=${id}`);
    await rig.publish('/wh', 'after', { Priority: '5' });
    await expect.poll(() => all.messages.length).toBe(702);
    expect(new Set(all.messages.map((message) => message.id)).size).toBe(702);
    await expect.poll(() => texts(urgent.messages)).toEqual(['before', 'after']);
    await expect.poll(() => texts(resumed.messages)).toEqual(['after']);
  });

  it('ends after the history when it only polls', async () => {
    await rig.publish('/wp', 'one');
    using reader = await listen('/wp/ws?poll=1');
    await reader.closed;
    expect(reader.events).toMatchObject([{ event: 'message', message: 'one' }]);
  });

  it('takes the credential from the address, as browsers must send it', async () => {
    using reader = await listen(`/wa/ws?auth=${Buffer.from(admin).toString('base64url')}`, {});
    await rig.publish('/wa', 'seen');
    await expect.poll(() => texts(reader.messages)).toEqual(['seen']);
  });

  it.each([
    ['/w/ws', {}, 403],
    ['/w/ws', { authorization: 'Bearer tk_00000000000000000000000000000' }, 401],
    ['/v1/ws', { authorization: admin }, 400],
    ['/w/ws?since=never', { authorization: admin }, 400],
    ['/w/json', { authorization: admin }, 404],
    ['/w/ws/ws', { authorization: admin }, 404],
    ['/%00/ws', { authorization: admin }, 404],
  ])('%s with %o is refused with %i before the upgrade', async (path, headers, status) => {
    expect(await refusedWith(path, headers)).toBe(status);
  });

  it('answers pings and is closed for frames that a reader has no use for', async () => {
    using reader = await listen('/wf/ws');
    reader.socket.ping('hello');
    expect(String((await once(reader.socket, 'pong'))[0])).toBe('hello');
    reader.socket.send('short ones do no harm');
    await rig.publish('/wf', 'still there');
    await expect.poll(() => texts(reader.messages)).toEqual(['still there']);
    reader.socket.send('x'.repeat(65));
    expect(await reader.closed).toBe(1009);
  });

  it('is asked for a sign of life every 45 seconds, and cut off when it gives none within 60', async () => {
    using lively = await listen('/wl/ws');
    const deaf = await openDeaf('/wl/ws');
    const gone = once(deaf, 'close');
    const pinged = once(lively.socket, 'ping');
    clock.advance(45_000);
    await pinged;
    // The pong must have come before the time is up.
    await rig.publish('/wl', 'one');
    await expect.poll(() => lively.messages.length).toBe(1);
    clock.advance(60_000);
    await gone;
    await rig.publish('/wl', 'two');
    await expect.poll(() => lively.messages.length).toBe(2);
    expect(lively.events.filter(({ event }) => event === 'keepalive')).toEqual([]);
  });

  it('ends when the right to read goes', async () => {
    const { accounts } = rig.context;
    const grant = { service: 'push', resource: 'wr', permission: 'read' } as const;
    await accounts.create({ name: 'reader', password: 'reader-password', grants: [grant] });
    const authorization = `Basic ${Buffer.from('reader:reader-password').toString('base64')}`;
    using reader = await listen('/wr/ws', { headers: { authorization } });
    await accounts.change('reader', { grants: [] });
    expect(await reader.closed).toBe(1001);
  });

  it.each([
    ['pings', Buffer.concat([Buffer.from([0x89, 0x80 | 60, 0, 0, 0, 0]), Buffer.alloc(60)])],
    ['pieces of a frame', Buffer.from([0x00, 0x80, 0, 0, 0, 0])],
  ])('is cut off when its reader sends %s without end', async (_what, bytes) => {
    using chatty = await listen('/chatty/ws');
    using reader = await listen('/chatty/ws');
    const { _socket: raw } = chatty.socket as unknown as { _socket: Socket };
    raw.pause();
    raw.on('error', () => undefined);
    // The beginning of a frame that never ends.
    raw.write(Buffer.from([0x01, 0x80, 0, 0, 0, 0]));
    const many = Buffer.concat(Array.from({ length: 1000 }, () => bytes));
    const ended = new Promise((resolve) => raw.resume().once('close', resolve));
    for (let size = 0; size < 10 * 65_536; size += many.length) raw.write(many);
    await ended;
    const published = await rig.publish('/chatty');
    await expect.poll(() => reader.messages).toEqual([published]);
  });

  it('survives junk in place of frames', async () => {
    const head = `GET /wj/ws HTTP/1.1\r\nHost: 127.0.0.1:${rig.port}\r\nAuthorization: ${admin}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
    expect(await sendRaw(rig.port, head + 'x'.repeat(1000))).toMatch(/^HTTP\/1.1 101 /);
    expect(await sendRaw(rig.port, head.replace('Version: 13', 'Version: 7'))).toMatch(/^HTTP\/1.1 4/);
    expect((await rig.publish('/wj')).message).toBe('x');
  });

  it('cuts off a reader that does not read, and goes on with the others', async () => {
    using lively = await listen('/ws1/ws');
    const deaf = await openDeaf('/ws1/ws');
    deaf.pause();
    const text = 'x'.repeat(4000);
    let cut = false;
    deaf.once('close', () => (cut = true));
    for (let count = 0; count < 6000 && !cut; count += 100) {
      await Promise.all(Array.from({ length: 100 }, () => rig.publish('/ws1', text, { Cache: 'no' })));
      const page = await fetch(`${rig.host.url('control')}/metrics`, { headers: { authorization: admin } });
      cut = /^push_subscribers_cut_total\{service="push"\} 1$/m.test(await page.text());
    }
    expect(cut).toBe(true);
    const before = lively.messages.length;
    await rig.publish('/ws1', 'end');
    await expect.poll(() => texts(lively.messages).at(-1)).toBe('end');
    expect(lively.messages.length).toBeGreaterThan(before);
    deaf.destroy();
  }, 60_000);
});

/** A client that makes the connection and then says nothing. */
async function openDeaf(path: string): Promise<Socket> {
  const socket = connect(rig.port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${rig.port}\r\nAuthorization: ${admin}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
  );
  const [data] = await once(socket, 'data');
  expect(String(data)).toMatch(/^HTTP\/1.1 101 /);
  return socket.resume();
}
