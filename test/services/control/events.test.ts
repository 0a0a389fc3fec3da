import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { accessChanged } from '../../../services/contracts/control/access.ts';
import { control } from '../../../services/control/index.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../../support/host.ts';
import { MemoryInbox } from '../../renderer/memory-services.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { openEvents, type EventStream, type StreamEvent } from './event-stream.ts';

const signedIn = { headers: { Authorization: adminAuthorization } };
let inbox: MemoryInbox;
let host: TestHost;
let url: string;

beforeEach(async () => {
  inbox = new MemoryInbox();
  host = await openTestHost({ services: [inbox.descriptor, control] });
  url = host.url('control');
});
afterEach(() => host[Symbol.asyncDispose]());

function title(event: StreamEvent | undefined): unknown {
  return (event?.data as { title?: string } | undefined)?.title;
}

describe('GET /api/events', () => {
  it('tells what happens, with growing ids', async () => {
    await using stream = await openEvents(url, signedIn);
    expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    inbox.add({ title: 'one' });
    inbox.add({ title: 'two\nlines' });
    const [first, second] = [await stream.next(), await stream.next()];
    expect(first).toMatchObject({ event: 'inbox.added', data: { title: 'one', read: false } });
    expect(second).toMatchObject({ event: 'inbox.added', data: { title: 'two\nlines' } });
    expect(first?.id).not.toBe(second?.id);
  });

  it('gives a page that comes back what it missed, once', async () => {
    const first = await openEvents(url, signedIn);
    inbox.add({ title: 'seen' });
    expect(title(await first.next())).toBe('seen');
    const { lastId } = first;
    await first[Symbol.asyncDispose]();
    inbox.add({ title: 'missed' });
    await using again = await openEvents(url, { ...signedIn, lastId });
    inbox.add({ title: 'new' });
    expect(title(await again.next())).toBe('missed');
    expect(title(await again.next())).toBe('new');
  });

  it('lets a page resume that has not seen an event yet', async () => {
    const first = await openEvents(url, signedIn);
    const { lastId } = first;
    await first[Symbol.asyncDispose]();
    inbox.add({ title: 'missed' });
    await using again = await openEvents(url, { ...signedIn, lastId });
    expect(title(await again.next())).toBe('missed');
  });

  it('takes the id from the address as well, for a page that had to open a new stream', async () => {
    const first = await openEvents(url, signedIn);
    const { lastId } = first;
    await first[Symbol.asyncDispose]();
    inbox.add({ title: 'missed' });
    const answer = await fetch(`${url}/api/events?lastEventId=${lastId}`, signedIn);
    const chunk = await answer.body?.getReader().read();
    expect(new TextDecoder().decode(chunk?.value)).toContain('missed');
  });

  it.each(['of-another-start-3', 'nonsense', 'x-1'])('answers reset to the unknown id %s', async (lastId) => {
    inbox.add();
    await using stream = await openEvents(url, { ...signedIn, lastId });
    expect(await stream.next()).toMatchObject({ event: 'reset' });
    inbox.add({ title: 'after' });
    expect(title(await stream.next())).toBe('after');
  });

  it('refuses whoever is not signed in', async () => {
    const { status } = await openEvents(url);
    expect(status).toBe(401);
    const wrong = await openEvents(url, { headers: { Authorization: 'Bearer tk_00000000000000000000000000000' } });
    expect(wrong.status).toBe(401);
  });

  it('refuses service accounts, which no person looks through', async () => {
    const account = { name: 'robot', kind: 'service', role: 'user', password: 'long enough' };
    const made = await fetch(`${url}/api/accounts`, post(account));
    expect(made.status).toBe(200);
    const { status } = await openEvents(url, {
      headers: { Authorization: `Basic ${Buffer.from('robot:long enough').toString('base64')}` },
    });
    expect(status).toBe(403);
  });

  it('is read with GET only', async () => {
    const { status, headers } = await fetch(`${url}/api/events`, post({}));
    expect([status, headers.get('allow')]).toEqual([405, 'GET']);
  });

  it('ends with the session', async () => {
    const headers = await sessionOf('ada', 'correct horse battery');
    await using stream = await openEvents(url, { headers });
    await using other = await openEvents(url, signedIn);
    await fetch(`${url}/api/session`, { method: 'DELETE', headers });
    expect(await stream.next()).toBeUndefined();
    inbox.add({ title: 'still there' });
    // It hears of the account that signed in and out as well.
    const heard: unknown[] = [];
    while (!heard.includes('still there')) {
      const event = await other.next();
      expect(event).toBeDefined();
      heard.push(title(event));
    }
  });

  it('ends when the account is switched off', async () => {
    await fetch(`${url}/api/accounts`, post({ name: 'bob', password: 'long enough' }));
    const headers = await sessionOf('bob', 'long enough');
    await using stream = await openEvents(url, { headers });
    await fetch(`${url}/api/accounts/bob`, { ...post({ enabled: false }), method: 'PATCH' });
    expect(await besidesAccess(stream)).toBeUndefined();
  });

  it('tells that access changed and not whose, since every person hears it', async () => {
    await using stream = await openEvents(url, signedIn);
    await fetch(`${url}/api/accounts`, post({ name: 'bob', password: 'long enough' }));
    expect(await stream.next()).toMatchObject({ event: 'control.access', data: {} });
  });

  it('goes on when someone else’s account changes', async () => {
    await fetch(`${url}/api/accounts`, post({ name: 'bob', password: 'long enough' }));
    await using stream = await openEvents(url, signedIn);
    await fetch(`${url}/api/accounts/bob`, { ...post({ enabled: false }), method: 'PATCH' });
    inbox.add({ title: 'on' });
    expect(title(await besidesAccess(stream))).toBe('on');
  });
});

/** The next event that is not the news of a sign-in or a changed account. */
async function besidesAccess(stream: EventStream): Promise<StreamEvent | undefined> {
  for (;;) {
    const event = await stream.next();
    if (event?.event !== accessChanged.name) return event;
  }
}

describe('a page that does not read', () => {
  it('is cut off before it fills the memory, and the others go on', async () => {
    const { port } = new URL(url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: ${adminAuthorization}\r\n\r\n`);
    await once(socket, 'data');
    socket.pause();
    const closed = once(socket, 'close');
    await using other = await openEvents(url, signedIn);
    const body = 'x'.repeat(500_000);
    // More than the bound and what the system itself buffers between two ends of a loopback connection.
    for (let count = 0; count < 60; count += 1) {
      inbox.add({ body });
      await other.next();
    }
    const metrics = await (await fetch(`${url}/metrics/control`, signedIn)).text();
    expect(metrics).toMatch(/^control_live_slow_streams_total(\{\})? 1$/m);
    socket.on('error', () => undefined).resume();
    await closed;
  });
});

describe('an idle stream', () => {
  it('says every 15 s that it is still there', async () => {
    const clock: FakeClock = createFakeClock(Date.now());
    await using quiet = await openTestHost({ services: [inbox.descriptor, control], clock });
    await using stream = await openEvents(quiet.url('control'), signedIn);
    clock.advance(15_000);
    inbox.add();
    await stream.next();
    expect(stream.comments).toContain('still here');
  });
});

function post(body: unknown): RequestInit & { headers: Record<string, string> } {
  return {
    method: 'POST',
    headers: { Authorization: adminAuthorization, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  };
}

async function sessionOf(name: string, password: string): Promise<Readonly<Record<string, string>>> {
  const answer = await fetch(`${url}/api/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name, password }),
  });
  expect(answer.status).toBe(200);
  return { 'Homeport-Session': ((await answer.json()) as { session: string }).session };
}
