import { createConnection } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { admin, openRig, type Rig, type Stream } from './rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig[Symbol.asyncDispose]());

const getTexts = (messages: readonly { message: string }[]) => messages.map(({ message }) => message);

describe('stream', () => {
  it('begins with open and receives published messages in its framing', async () => {
    using json = await rig.listen('/f1,f2/json');
    using sse = await rig.listen('/f1/sse');
    using raw = await rig.listen('/f1/raw');
    await rig.publish('/f1', 'one\ntwo');
    await rig.publish('/f2', 'other');
    await rig.publish('/f1', '', { 'X-Poll-ID': 'AbCdEfGhIjKl' });
    await expect.poll(() => json.lines.length).toBe(4);
    expect(json.lines.map((line) => JSON.parse(line))).toMatchObject([
      { event: 'open', topic: 'f1,f2' },
      { event: 'message', topic: 'f1', message: 'one\ntwo' },
      { event: 'message', topic: 'f2' },
      { event: 'poll_request', poll_id: 'AbCdEfGhIjKl' },
    ]);
    await expect.poll(() => raw.lines).toEqual(['', 'one two', '']);
    await expect.poll(() => sse.lines.length).toBe(8);
    expect(sse.lines.map((line) => line.slice(0, 15))).toEqual([
      'event: open',
      'data: {"id":"' + sse.lines[1]?.slice(13, 15),
      '',
      'data: {"id":"' + sse.lines[3]?.slice(13, 15),
      '',
      'event: poll_req',
      'data: {"id":"' + sse.lines[6]?.slice(13, 15),
      '',
    ]);
  });

  it('is not chunked for an HTTP/1.0 client', async () => {
    const socket = createConnection(rig.port, '127.0.0.1').setEncoding('utf8');
    let text = '';
    socket.on('data', (chunk: string) => (text += chunk));
    socket.write(`GET /bare/raw HTTP/1.0\r\nHost: localhost\r\nAuthorization: ${admin}\r\n\r\n`);
    await expect.poll(() => text).toMatch(/\r\n\r\n\n$/);
    await rig.publish('/bare', 'as it is');
    await expect.poll(() => text).toMatch(/\r\n\r\n\nas it is\n$/);
    socket.destroy();
  });

  it('receives uncached messages, which a poll does not', async () => {
    using stream = await rig.listen('/live/json?since=all');
    await rig.publish('/live', 'now or never', { Cache: 'no' });
    await expect.poll(() => getTexts(stream.messages)).toEqual(['now or never']);
    expect(await rig.poll('/live/json?poll=1')).toEqual([]);
  });

  it('receives history first, then live messages, each once, during concurrent publishing', async () => {
    for (let index = 0; index < 1100; index += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, offset) => rig.publish('/busy', String(index + offset))));
    }
    const publishing = (async () => {
      for (let index = 1100; index < 1200; index += 1) await rig.publish('/busy', String(index));
    })();
    const streams: Stream[] = [];
    for (let count = 0; count < 5; count += 1) streams.push(await rig.listen('/busy/json?since=all'));
    await publishing;
    const polled = getTexts(await rig.poll('/busy/json?poll=1'));
    expect(polled).toHaveLength(1200);
    for (const stream of streams) {
      using reading = stream;
      await expect.poll(() => getTexts(reading.messages)).toEqual(polled);
    }
  });

  it('resumes from an id across a restart without gaps and duplicates', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'push-restart-'));
    const receivedIds: string[] = [];
    const published: string[] = [];
    let last = 'none';
    try {
      for (let round = 0; round < 3; round += 1) {
        await using host = await openRig({ dataDir });
        // Published without subscriber.
        published.push((await host.publish('/chain', 'missed')).id);
        using stream = await host.listen(`/chain/json?since=${last === 'none' ? 'all' : last}`);
        for (let index = 0; index < 5; index += 1) published.push((await host.publish('/chain', String(index))).id);
        const missing = published.length - receivedIds.length;
        await expect.poll(() => stream.messages.length).toBe(missing);
        receivedIds.push(...stream.messages.map(({ id }) => id));
        last = receivedIds.at(-1) ?? 'none';
        const stats = JSON.parse((await host.ask('GET', '/v1/stats')).text);
        expect(stats.messages).toBe(published.length);
        const closing = host[Symbol.asyncDispose]();
        await stream.ended;
        await closing;
      }
      expect(receivedIds).toEqual(published);
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  it('receives keepalives regardless of filters, and ends with its credentials', async () => {
    const clock = createFakeClock(Date.now());
    await using host = await openRig({ clock });
    const { accounts } = host.context;
    await accounts.create({
      name: 'reader',
      password: 'reader-password',
      grants: [{ service: 'push', resource: 'a*', permission: 'read' }],
    });
    const { text, token } = await accounts.createToken('reader', { label: 'x', expiresAt: clock.now() + 60_000 });
    using stream = await host.listen('/a1,a2/json?title=never', { authorization: `Bearer ${text}` });
    await host.publish('/a1', 'filtered out');
    clock.advance(45_000);
    await expect.poll(() => stream.lines.map((line) => JSON.parse(line).event)).toEqual(['open', 'keepalive']);
    expect(JSON.parse(stream.lines[1] ?? '')).toEqual({
      id: expect.stringMatching(/^[A-Za-z0-9]{12}$/),
      time: expect.any(Number),
      event: 'keepalive',
      topic: 'a1,a2',
    });
    expect(token.expiresAt).not.toBeNull();
    clock.advance(45_000);
    await stream.ended;
  });

  it('is closed when it is not read, without affecting others', async () => {
    using reader = await rig.listen('/flood/json');
    const listening = await rig.metric('push_subscribers');
    const disconnectedBefore = await rig.metric('push_subscribers_cut_total');
    const slow = createConnection(rig.port, '127.0.0.1');
    slow.on('error', () => undefined);
    slow.pause();
    slow.write(`GET /flood/json HTTP/1.1\r\nHost: 127.0.0.1:${rig.port}\r\nAuthorization: ${admin}\r\n\r\n`);
    const closed = new Promise((resolve) => slow.once('close', resolve));
    // An open connection is not yet a subscriber.
    await expect.poll(() => rig.metric('push_subscribers')).toBe(listening + 1);
    const body = '\u0001'.repeat(4000);
    // Kernel buffers on both sides hold some megabytes.
    for (let round = 0; round < 20; round += 1) {
      await Promise.all(Array.from({ length: 50 }, () => rig.publish('/flood', body)));
    }
    await expect.poll(() => reader.lines.length, { timeout: 15_000 }).toBe(1001);
    slow.resume();
    await closed;
    expect(await rig.metric('push_subscribers_cut_total')).toBe(disconnectedBefore + 1);
  });
});

describe('revoked access', () => {
  const newReader = async () => {
    const name = `reader-${rig.context.random.text(8)}`;
    const grants = [{ service: 'push', resource: 'a', permission: 'read' }] as const;
    await rig.context.accounts.create({ name, password: 'reader-password', grants });
    return { name, authorization: `Basic ${Buffer.from(`${name}:reader-password`).toString('base64')}` };
  };

  it.each([
    ['the grant is gone', (name: string) => rig.context.accounts.change(name, { grants: [] })],
    ['the account is gone', (name: string) => rig.context.accounts.remove(name)],
    ['the account is switched off', (name: string) => rig.context.accounts.change(name, { enabled: false })],
    ['the password is another', (name: string) => rig.context.accounts.change(name, { password: 'another-password' })],
  ])('ends the stream because %s', async (_why, revoke) => {
    const { name, authorization } = await newReader();
    using stream = await rig.listen('/a/json', { authorization });
    using other = await rig.listen('/a/json');
    await expect.poll(() => stream.lines.length).toBe(1);
    await revoke(name);
    await stream.ended;
    await rig.publish('/a', 'still here');
    await expect.poll(() => getTexts(other.messages)).toEqual(['still here']);
    expect(stream.messages).toEqual([]);
  });

  it('does not end the stream when nothing is revoked', async () => {
    const { name, authorization } = await newReader();
    using stream = await rig.listen('/a/json', { authorization });
    await rig.context.accounts.change(name, { description: 'still the same' });
    await rig.publish('/a', 'goes on');
    await expect.poll(() => getTexts(stream.messages)).toEqual(['goes on']);
  });

  it('ends streams of visitors', async () => {
    const { accounts } = rig.context;
    await accounts.change('*', { grants: [{ service: 'push', resource: 'open', permission: 'read' }] });
    using stream = await rig.listen('/open/json', {});
    await expect.poll(() => stream.lines.length).toBe(1);
    await accounts.change('*', { grants: [] });
    await stream.ended;
  });
});

describe('filters', () => {
  beforeAll(async () => {
    await rig.publish('/filter', 'a', { Title: 'T', Tags: 'x,y', Priority: '5' });
    await rig.publish('/filter', 'b', { Tags: 'x' });
    await rig.publish('/filter/b', 'c', { Priority: 'min' });
    await rig.ask('DELETE', '/filter/b', { authorization: admin });
  });

  it.each([
    ['tags=x', ['a', 'b']],
    ['tags=x,y', ['a']],
    ['title=T', ['a']],
    ['message=b', ['b']],
    ['priority=default', ['b', undefined]],
    ['p=1,urgent', ['a', 'c']],
    ['priority=1&tags=x', []],
    ['id=nobody', []],
  ])('applies %s', async (query, expected) => {
    expect((await rig.poll(`/filter/json?poll=1&${query}`)).map(({ message }) => message)).toEqual(expected);
    using stream = await rig.listen(`/filter/json?since=all&${query}`);
    await expect.poll(() => stream.lines.length).toBe(expected.length + 1);
  });

  it('accepts the id of one message, and headers', async () => {
    const [first] = await rig.poll('/filter/json?poll=1');
    expect(await rig.poll(`/filter/json?poll=1&id=${first.id}`)).toEqual([first]);
    const { text } = await rig.ask('GET', '/filter/json', {
      authorization: admin,
      'X-Poll': 'yes',
      'X-Since': 'all',
      'X-Tags': 'y',
    });
    expect(text.trim().split('\n')).toHaveLength(1);
  });

  it('refuses an unknown priority', async () => {
    const { text } = await rig.ask('GET', '/filter/json?poll=1&priority=9', { authorization: admin });
    expect(JSON.parse(text).code).toBe(40007);
  });
});

describe('poll', () => {
  it('merges topics, starts at the requested position, and returns repeated topics once', async () => {
    const ids: string[] = [];
    for (const [topic, message] of [
      ['p1', 'a'],
      ['p2', 'b'],
      ['p1', 'c'],
      ['p2', 'd'],
    ] as const) {
      ids.push((await rig.publish(`/${topic}`, message)).id);
    }
    expect(getTexts(await rig.poll('/p1,p2,p1/json?poll=1'))).toEqual(['a', 'b', 'c', 'd']);
    expect(getTexts(await rig.poll('/p1%2Cp2/json?poll=1&since=10m'))).toEqual(['a', 'b', 'c', 'd']);
    expect(getTexts(await rig.poll(`/p1,p2/json?po=1&si=${ids[1]}`))).toEqual(['c', 'd']);
    expect(getTexts(await rig.poll('/p1,p2/json?poll=1&since=latest'))).toEqual(['c', 'd']);
    expect(await rig.poll('/p1,p2/json?poll=1&since=none')).toEqual([]);
    expect(getTexts(await rig.poll('/p1/json?poll=1&since=000000000000&scheduled=1'))).toEqual(['a', 'c']);
  });

  it('requires access to every topic', async () => {
    await rig.context.accounts.create({
      name: 'half',
      password: 'half-password',
      grants: [{ service: 'push', resource: 'p1', permission: 'read' }],
    });
    const authorization = `Basic ${Buffer.from('half:half-password').toString('base64')}`;
    expect((await rig.ask('GET', '/p1/json?poll=1', { authorization })).status).toBe(200);
    for (const path of ['/p1,p2/json?poll=1', '/p1,p2/auth', '/p2/raw', '/p2/ws']) {
      expect((await rig.ask('GET', path, { authorization })).status).toBe(403);
    }
  });

  it('limits the number of topics', async () => {
    const list = (count: number) => Array.from({ length: count }, (_, index) => `t${index}`).join(',');
    expect((await rig.ask('GET', `/${list(1000)}/json?poll=1`, { authorization: admin })).status).toBe(200);
    expect((await rig.ask('GET', `/${list(1001)}/json?poll=1`, { authorization: admin })).status).toBe(400);
  });
});

it('excludes expired messages', async () => {
  const clock = createFakeClock(Date.now());
  await using host = await openRig({ clock, environment: { NTFY_CACHE_DURATION: '2m' } });
  const message = await host.publish('/short');
  expect(message.expires - message.time).toBe(120);
  expect(await host.poll('/short/json?poll=1')).toHaveLength(1);
  clock.advance(121_000);
  expect(await host.poll('/short/json?poll=1')).toEqual([]);
  await expect.poll(async () => JSON.parse((await host.ask('GET', '/v1/stats')).text)).toMatchObject({ messages: 1 });
});
