import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventsMissed } from '../../../services/contracts/bus.ts';
import { accessChanged } from '../../../services/contracts/control/access.ts';
import { getLocale } from '../../../messages/language.ts';
import { serviceStatusChanged } from '../../../services/contracts/control/service-status.ts';
import { control } from '../../../services/control/index.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../../support/host.ts';
import { MemoryInbox } from '../../renderer/memory-services.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { openEvents, type EventStream, type StreamEvent } from './event-stream.ts';

const adminOptions = { headers: { Authorization: adminAuthorization } };
let inbox: MemoryInbox;
let host: TestHost;
let url: string;

beforeEach(async () => {
  inbox = new MemoryInbox();
  host = await openTestHost({ services: [inbox.descriptor, control] });
  url = host.url('control');
});
afterEach(() => host[Symbol.asyncDispose]());

function getTitle(event: StreamEvent | undefined): unknown {
  return (event?.data as { title?: string } | undefined)?.title;
}

describe('GET /api/events', () => {
  it('streams events with increasing ids', async () => {
    await using stream = await openEvents(url, adminOptions);
    expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    inbox.add({ title: 'one' });
    inbox.add({ title: 'two\nlines' });
    const [first, second] = [await stream.next(), await stream.next()];
    expect(first).toMatchObject({ event: 'inbox.added', data: { title: 'one', read: false } });
    expect(second).toMatchObject({ event: 'inbox.added', data: { title: 'two\nlines' } });
    expect(first?.id).not.toBe(second?.id);
  });

  it('replays missed events once to a reconnecting page', async () => {
    const first = await openEvents(url, adminOptions);
    inbox.add({ title: 'seen' });
    expect(getTitle(await first.next())).toBe('seen');
    const { lastId } = first;
    await first[Symbol.asyncDispose]();
    inbox.add({ title: 'missed' });
    await using resumed = await openEvents(url, { ...adminOptions, lastId });
    inbox.add({ title: 'new' });
    expect(getTitle(await resumed.next())).toBe('missed');
    expect(getTitle(await resumed.next())).toBe('new');
  });

  it('resumes a page that has not received an event yet', async () => {
    const first = await openEvents(url, adminOptions);
    const { lastId } = first;
    await first[Symbol.asyncDispose]();
    inbox.add({ title: 'missed' });
    await using resumed = await openEvents(url, { ...adminOptions, lastId });
    expect(getTitle(await resumed.next())).toBe('missed');
  });

  it('accepts the last event id in the query', async () => {
    const first = await openEvents(url, adminOptions);
    const { lastId } = first;
    await first[Symbol.asyncDispose]();
    inbox.add({ title: 'missed' });
    const response = await fetch(`${url}/api/events?lastEventId=${lastId}`, adminOptions);
    const chunk = await response.body?.getReader().read();
    expect(new TextDecoder().decode(chunk?.value)).toContain('missed');
  });

  it.each(['of-another-start-3', 'nonsense', 'x-1'])('responds with reset to the unknown id %s', async (lastId) => {
    inbox.add();
    await using stream = await openEvents(url, { ...adminOptions, lastId });
    expect(await stream.next()).toMatchObject({ event: 'reset' });
    inbox.add({ title: 'after' });
    expect(getTitle(await stream.next())).toBe('after');
  });

  it('lets pages reload their data after events of other hosts were lost', async () => {
    await using stream = await openEvents(url, adminOptions);
    const { lastId } = stream;
    host.host.bus.publish(eventsMissed, { connected: true });
    expect(await stream.next()).toMatchObject({ event: 'reset' });
    // Without a connection, pages reload every 30 seconds.
    host.host.bus.publish(eventsMissed, { connected: false });
    inbox.add({ title: 'after' });
    expect(getTitle(await stream.next())).toBe('after');
    await using resumed = await openEvents(url, { ...adminOptions, lastId });
    expect(await resumed.next()).toMatchObject({ event: 'reset' });
  });

  it('sends the state of a service in the language of each page, also when it is replayed', async () => {
    const read = async (language: string, lastId?: string): Promise<EventStream> =>
      await openEvents(url, {
        headers: { ...adminOptions.headers, 'Accept-Language': language },
        ...(lastId === undefined ? {} : { lastId }),
      });
    const isInbox = ({ event, data }: StreamEvent): boolean =>
      event === 'control.service' && (data as { id?: unknown }).id === 'inbox';
    const next = async (stream: EventStream): Promise<unknown> => {
      for (;;) {
        const received = await stream.next();
        if (received === undefined) return undefined;
        if (isInbox(received)) return received.data;
      }
    };
    await using british = await read('en-GB');
    await using irish = await read('en-IE');
    const { lastId } = irish;
    const [state] = await host.host.control.services();
    host.host.bus.publish(serviceStatusChanged, {
      ...state!,
      detail: getLocale,
      reason: () => `reason ${getLocale()}`,
      begin: { label: getLocale, to: '/' },
      running: [{ title: getLocale, to: '/', percent: null }],
    });
    expect(await next(british)).toMatchObject({ detail: 'en-GB', reason: 'reason en-GB', begin: { label: 'en-GB' } });
    expect(await next(irish)).toMatchObject({
      ...{ detail: 'en-IE', reason: 'reason en-IE', running: [{ title: 'en-IE' }] },
    });
    await using resumed = await read('en-AU', lastId);
    expect(await next(resumed)).toMatchObject({ detail: 'en-AU' });
  });

  it('requires a sign-in', async () => {
    const { status } = await openEvents(url);
    expect(status).toBe(401);
    const wrong = await openEvents(url, { headers: { Authorization: 'Bearer tk_00000000000000000000000000000' } });
    expect(wrong.status).toBe(401);
  });

  it('rejects service accounts', async () => {
    const account = { name: 'robot', kind: 'service', role: 'user', password: 'long enough' };
    const response = await fetch(`${url}/api/accounts`, jsonPost(account));
    expect(response.status).toBe(200);
    const { status } = await openEvents(url, {
      headers: { Authorization: `Basic ${Buffer.from('robot:long enough').toString('base64')}` },
    });
    expect(status).toBe(403);
  });

  it('allows GET only', async () => {
    const { status, headers } = await fetch(`${url}/api/events`, jsonPost({}));
    expect([status, headers.get('allow')]).toEqual([405, 'GET']);
  });

  it('ends with the session', async () => {
    const headers = await signIn('ada', 'correct horse battery');
    await using stream = await openEvents(url, { headers });
    await using other = await openEvents(url, adminOptions);
    await fetch(`${url}/api/session`, { method: 'DELETE', headers });
    expect(await stream.next()).toBeUndefined();
    inbox.add({ title: 'still there' });
    // The stream also receives events about the account that signed in and out.
    const received: unknown[] = [];
    while (!received.includes('still there')) {
      const event = await other.next();
      expect(event).toBeDefined();
      received.push(getTitle(event));
    }
  });

  it('ends when the account is disabled', async () => {
    await fetch(`${url}/api/accounts`, jsonPost({ name: 'bob', password: 'long enough' }));
    const headers = await signIn('bob', 'long enough');
    await using stream = await openEvents(url, { headers });
    await fetch(`${url}/api/accounts/bob`, { ...jsonPost({ enabled: false }), method: 'PATCH' });
    expect(await nextOtherEvent(stream)).toBeUndefined();
  });

  it('announces changed access without naming the account', async () => {
    await using stream = await openEvents(url, adminOptions);
    await fetch(`${url}/api/accounts`, jsonPost({ name: 'bob', password: 'long enough' }));
    expect(await stream.next()).toMatchObject({ event: 'control.access', data: {} });
  });

  it('does not announce the language that a person selected, which changes no access', async () => {
    await using stream = await openEvents(url, adminOptions);
    const change = { ...jsonPost({ language: 'de' }), method: 'PUT' };
    expect((await fetch(`${url}/api/account/language`, change)).status).toBe(200);
    inbox.add({ title: 'next' });
    expect(getTitle(await stream.next())).toBe('next');
  });

  it('continues when another account changes', async () => {
    await fetch(`${url}/api/accounts`, jsonPost({ name: 'bob', password: 'long enough' }));
    await using stream = await openEvents(url, adminOptions);
    await fetch(`${url}/api/accounts/bob`, { ...jsonPost({ enabled: false }), method: 'PATCH' });
    inbox.add({ title: 'on' });
    expect(getTitle(await nextOtherEvent(stream))).toBe('on');
  });
});

/** Returns the next event that is not about changed access. */
async function nextOtherEvent(stream: EventStream): Promise<StreamEvent | undefined> {
  for (;;) {
    const event = await stream.next();
    if (event?.event !== accessChanged.name) return event;
  }
}

describe('slow client', () => {
  it('is disconnected before its backlog fills the memory, without affecting others', async () => {
    const { port } = new URL(url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: ${adminAuthorization}\r\n\r\n`);
    await once(socket, 'data');
    socket.pause();
    const closed = once(socket, 'close');
    await using other = await openEvents(url, adminOptions);
    const body = 'x'.repeat(500_000);
    // More than the limit and the buffers of a loopback connection.
    for (let count = 0; count < 60; count += 1) {
      inbox.add({ body });
      await other.next();
    }
    const metrics = await (await fetch(`${url}/metrics/control`, adminOptions)).text();
    expect(metrics).toMatch(/^control_live_slow_streams_total(\{\})? 1$/m);
    socket.on('error', () => undefined).resume();
    await closed;
  });
});

describe('idle stream', () => {
  it('sends a keepalive every 15 s', async () => {
    const clock: FakeClock = createFakeClock(Date.now());
    await using idleHost = await openTestHost({ services: [inbox.descriptor, control], clock });
    await using stream = await openEvents(idleHost.url('control'), adminOptions);
    clock.advance(15_000);
    inbox.add();
    await stream.next();
    expect(stream.comments).toContain('still here');
  });
});

function jsonPost(body: unknown): RequestInit & { headers: Record<string, string> } {
  return {
    method: 'POST',
    headers: { Authorization: adminAuthorization, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  };
}

async function signIn(name: string, password: string): Promise<Readonly<Record<string, string>>> {
  const response = await fetch(`${url}/api/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name, password }),
  });
  expect(response.status).toBe(200);
  return { 'Homeport-Session': ((await response.json()) as { session: string }).session };
}
