import { readFileSync, rmSync } from 'node:fs';
import { io, type Socket } from 'socket.io-client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { adminAuthorization } from '../../support/host.ts';
import { dataFolderWith, openRecordedRig, type Record, type Rig } from './rig.ts';

/** Events that MeTube sent to a client: one argument each, a JSON text. */
const recorded = JSON.parse(readFileSync(new URL('golden-live/socketio-events.json', import.meta.url), 'utf8')) as {
  readonly response: { readonly events: readonly { event: string; args: readonly { json_string_of: any }[] }[] };
};

function recordedFirst(event: string): any {
  return recorded.response.events.find((entry) => entry.event === event)?.args[0]?.json_string_of;
}

type ReceivedEvent = readonly [event: string, content: any];

/** Socket.IO client that stores all received events. */
class Follower implements Disposable {
  readonly events: ReceivedEvent[] = [];
  readonly socket: Socket;

  constructor(url: string, options: Parameters<typeof io>[1] = {}) {
    this.socket = io(url, { reconnection: false, forceNew: true, ...options });
    this.socket.onAny((event: string, ...args: unknown[]) => {
      const [text] = args;
      if (args.length !== 1 || typeof text !== 'string') throw new Error(`${event} has not one text`);
      this.events.push([event, JSON.parse(text)]);
    });
  }

  static async open(url: string, options: Parameters<typeof io>[1] = {}): Promise<Follower> {
    const follower = new Follower(url, options);
    await follower.until((events) => events.some(([event]) => event === 'custom_dirs'));
    return follower;
  }

  async until(isExpected: (events: readonly ReceivedEvent[]) => boolean): Promise<void> {
    await vi.waitFor(() => expect(isExpected(this.events)).toBe(true), { timeout: 60_000, interval: 20 });
  }

  /** Returns the events of one download in order. */
  of(url: string): readonly ReceivedEvent[] {
    return this.events.filter(([, content]) => content === url || content?.url === url);
  }

  [Symbol.dispose](): void {
    this.socket.disconnect();
  }
}

let rig: Rig;
beforeAll(async () => (rig = await openRecordedRig()));
afterAll(async () => await rig[Symbol.asyncDispose]());

describe.each([['websocket'], ['polling']])('a live client over %s', (transport) => {
  const follow = (): Promise<Follower> => Follower.open(rig.client.base, { transports: [transport] });

  it("receives the lists, settings and folders first, in MeTube's format", async () => {
    using follower = await follow();
    expect(follower.events.map(([event]) => event)).toEqual([
      'all',
      'subscriptions_all',
      'configuration',
      'custom_dirs',
    ]);
    expect(follower.events[2]?.[1]).toEqual(recordedFirst('configuration'));
    expect(follower.events[3]?.[1]).toMatchObject({ download_dir: expect.arrayContaining(['']) });
  });

  it('receives events of a download from its addition to its end, and of its removal', async () => {
    using follower = await follow();
    const url = rig.site.slow(400, 'single.mp4', transport);
    await rig.client.add(url);
    await follower.until(() => follower.of(url).some(([event]) => event === 'completed'));
    const events = follower.of(url);
    expect(events.map(([event]) => event).filter((event) => event === 'added' || event === 'completed')).toEqual([
      'added',
      'completed',
    ]);
    expect(events[0]?.[0]).toBe('added');
    const states = new Set(events.map(([, record]) => (record as Record).status));
    expect([...states]).toEqual(expect.arrayContaining(['preparing', 'downloading', 'finished']));
    const last = events.at(-1)?.[1] as Record;
    expect(Object.keys(last)).toEqual(expect.arrayContaining(Object.keys(recordedFirst('completed'))));
    expect(last).toMatchObject({ status: 'finished', percent: 100, title: 'single' });

    await rig.client.post('/delete', { where: 'done', ids: [url] });
    await follower.until(() => follower.of(url).at(-1)?.[0] === 'cleared');
    expect(follower.of(url).at(-1)).toEqual(['cleared', url]);
  });

  it('receives events of cancelled and failed downloads and of every entry of a playlist', async () => {
    using follower = await follow();
    const slow = rig.site.slow(50, 'big.mp4', `cancel-${transport}`);
    await rig.client.add(slow);
    await rig.client.post('/delete', { where: 'queue', ids: [slow] });
    await follower.until(() => follower.of(slow).at(-1)?.[0] === 'canceled');

    const missing = `${rig.site.address}/s/404?${transport}`;
    await rig.client.post('/add', { url: missing, quality: 'best' });
    await follower.until(() => follower.of(missing).at(-1)?.[0] === 'completed');
    expect(follower.of(missing).at(-1)?.[1]).toMatchObject({ status: 'error', error: expect.stringContaining('404') });

    const before = follower.events.length;
    const feed = `${rig.site.address}/feed/3.rss?${transport}`;
    await rig.client.post('/add', { url: feed, quality: 'best', auto_start: false });
    const added = (): readonly ReceivedEvent[] => follower.events.slice(before).filter(([event]) => event === 'added');
    await follower.until(() => added().length >= 4);
    expect(follower.of(feed).at(-1)).toEqual(['canceled', feed]);
    const { pending } = await rig.client.history();
    await rig.client.post('/delete', { where: 'queue', ids: pending.map(({ uid }) => uid) });
  });

  it('receives the existing downloads when it connects later', async () => {
    const url = rig.site.slow(50, 'big.mp4', `there-${transport}`);
    await rig.client.add(url);
    using follower = await follow();
    const [queue] = follower.events[0]?.[1] as readonly (readonly [string, Record])[][];
    expect(queue?.find(([key]) => key === url)?.[1]).toMatchObject({ url });
    await rig.client.post('/delete', { where: 'queue', ids: [url] });
    await follower.until(() => follower.of(url).at(-1)?.[0] === 'canceled');
    expect(follower.of(url).map(([event]) => event)).not.toContain('added');
  });
});

describe('admitted clients', () => {
  const refusal = async (follower: Follower): Promise<string> =>
    await new Promise((resolve) => follower.socket.once('connect_error', (error) => resolve(error.message)));

  it.each([['websocket'], ['polling']])('refuses a page of another origin over %s', async (transport) => {
    using follower = new Follower(rig.client.base, {
      transports: [transport],
      extraHeaders: { Origin: 'https://strange.example' },
    });
    expect(await refusal(follower)).not.toBe('');
    expect(follower.events).toEqual([]);
  });

  it('lets pages of allowed origins read the polling transport, and refuses others', async () => {
    const path = `${rig.client.base}/socket.io/?EIO=4&transport=polling`;
    const readAllowed = async (method: string, origin: string): Promise<unknown> => {
      const reply = await fetch(path, { method, headers: { Origin: origin } });
      return [reply.status, reply.headers.get('access-control-allow-origin')];
    };
    const extension = 'chrome-extension://abcdef';
    expect(await readAllowed('GET', extension)).toEqual([200, extension]);
    expect(await readAllowed('OPTIONS', extension)).toEqual([200, extension]);
    expect(await readAllowed('POST', 'https://strange.example')).toEqual([403, null]);
    expect((await fetch(`${rig.client.base}/socket.iox`)).status).toBe(404);
  });

  it('accepts a browser extension', async () => {
    using follower = await Follower.open(rig.client.base, { extraHeaders: { Origin: 'chrome-extension://abcdef' } });
    expect(follower.events).not.toEqual([]);
  });

  it('requires a sign-in when it is enabled', async () => {
    const dataDir = dataFolderWith({ requireSignIn: true });
    try {
      await using strict = await openRecordedRig({ dataDir });
      using stranger = new Follower(strict.client.base, { transports: ['websocket'] });
      expect(await refusal(stranger)).not.toBe('');
      using member = await Follower.open(strict.client.base, { extraHeaders: { Authorization: adminAuthorization } });
      expect(member.events[0]).toEqual(['all', [[], []]]);
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  it("disconnects a client after a message that MeTube's clients never send", async () => {
    using follower = await Follower.open(rig.client.base, { transports: ['websocket'] });
    const ended = new Promise((resolve) => follower.socket.once('disconnect', resolve));
    follower.socket.emit('x', 'y'.repeat(100_000));
    await ended;
    expect((await fetch(`${rig.client.base}/version`)).status).toBe(200);
    expect((await fetch(`${rig.client.base}/socket.io/?EIO=4&transport=nothing`)).status).toBe(400);
  });
});
