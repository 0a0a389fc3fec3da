import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { adminAuthorization } from '../../support/host.ts';
import { startHostProcess } from '../../support/host-process.ts';
import { admin, openRig, type Rig } from './rig.ts';

let clock: FakeClock;
let rig: Rig;
beforeAll(async () => {
  clock = createFakeClock();
  rig = await openRig({ clock });
});
afterAll(() => rig[Symbol.asyncDispose]());

const second = 1000;

describe('a message with a delay', () => {
  it('is answered at once, and out in its second, under the same id, for streams, polls and the inbox', async () => {
    using stream = await rig.listen('/tea/json');
    const message = await rig.publish('/tea', 'ready', { In: '5 min' });
    expect(message.time).toBe(clock.now() / 1000 + 300);
    expect(message.expires).toBe(message.time + 12 * 3600);
    clock.advance(299 * second);
    await rig.publish('/tea', 'still steeping');
    await expect.poll(() => stream.messages.length).toBe(1);
    expect(await rig.poll('/tea/json?poll=1')).toHaveLength(1);
    clock.advance(second);
    await expect.poll(() => stream.messages.slice(1)).toEqual([message]);
    expect((await rig.poll('/tea/json?poll=1')).slice(1)).toEqual([message]);
    expect(await rig.poll('/tea/json?poll=1&scheduled=1')).toHaveLength(2);
  });

  it('is found by a reader that comes back with the id of what came after it was accepted', async () => {
    await rig.publish('/back', 'later', { In: '1m' });
    const { id } = await rig.publish('/back', 'now');
    clock.advance(60 * second);
    await expect.poll(async () => rig.poll(`/back/json?poll=1&since=${id}`)).toMatchObject([{ message: 'later' }]);
  });

  it('is shown before its time to who asks for it, filters included', async () => {
    const message = await rig.publish('/peek', 'x', {
      At: String(clock.now() / 1000 + 100),
      Title: 'T',
      Priority: '5',
    });
    expect(await rig.poll('/peek/json?poll=1')).toEqual([]);
    expect(await rig.poll('/peek/json?poll=1&scheduled=1')).toEqual([message]);
    expect(await rig.poll('/peek/json?poll=1&sched=1&priority=1')).toEqual([]);
    expect(await rig.poll(`/peek/json?poll=1&scheduled=1&since=${message.id}`)).toEqual([message]);
    using stream = await rig.listen('/peek/json?scheduled=1');
    await expect.poll(() => stream.messages).toEqual([message]);
  });

  it('is taken back by a delete under its sequence or its id', async () => {
    await rig.publish('/switch/alive', 'no sign of life', { In: '1h' });
    const bare = await rig.publish('/switch', 'bare', { In: '1h' });
    expect(await rig.poll('/switch/json?poll=1&scheduled=1')).toHaveLength(2);
    for (const sequence of ['alive', bare.id]) {
      expect((await rig.ask('DELETE', `/switch/${sequence}`, { authorization: admin })).status).toBe(200);
    }
    clock.advance(3700 * second);
    await rig.publish('/switch', 'end');
    const events = (await rig.poll('/switch/json?poll=1')).map(({ event, message }) => message ?? event);
    expect(events).toEqual(['message_delete', 'message_delete', 'end']);
  });

  it('is replaced by another under its sequence, delayed or not, but not by one in another topic', async () => {
    await rig.publish('/r1/s', 'first', { In: '1m' });
    await rig.publish('/r2/s', 'elsewhere', { In: '1m' });
    await rig.publish('/r1/s', 'second', { In: '2m' });
    clock.advance(90 * second);
    await expect.poll(() => rig.poll('/r2/json?poll=1')).toHaveLength(1);
    expect(await rig.poll('/r1/json?poll=1')).toEqual([]);
    await rig.publish('/r1/s', 'third');
    clock.advance(60 * second);
    await rig.publish('/r1', 'end');
    expect((await rig.poll('/r1/json?poll=1')).map(({ message }) => message)).toEqual(['third', 'end']);
  });

  it('replaces another that came in the same moment', async () => {
    await Promise.all(['a', 'b', 'c'].map((text) => rig.publish('/same/s', text, { In: '1m' })));
    expect(await rig.poll('/same/json?poll=1&scheduled=1')).toHaveLength(1);
  });

  it('waits for one that is due earlier no longer than that', async () => {
    using stream = await rig.listen('/order/json');
    await rig.publish('/order', 'late', { In: '40s' });
    await rig.publish('/order', 'early', { In: '20s' });
    clock.advance(20 * second);
    await expect.poll(() => stream.messages.map(({ message }) => message)).toEqual(['early']);
    clock.advance(20 * second);
    await expect.poll(() => stream.messages.map(({ message }) => message)).toEqual(['early', 'late']);
  });

  it.each([
    ['Delay', '5s', 40005],
    ['X-In', '4 days', 40006],
    ['At', 'whenever', 40004],
  ])('%s: %s is refused with %i', async (name, value, code) => {
    const { text } = await rig.ask('POST', '/tea', { authorization: admin, [name]: value }, 'x');
    expect(JSON.parse(text)).toMatchObject({ code });
  });

  it('is scheduled by JSON and by query as well', async () => {
    const { text } = await rig.ask('POST', '/', { authorization: admin }, '{"topic":"j","message":"m","delay":"1h"}');
    expect(JSON.parse(text).time).toBe(clock.now() / 1000 + 3600);
    expect((await rig.publish('/j?in=2h')).time).toBe(clock.now() / 1000 + 7200);
  });
});

it('delivers what fell due while nothing ran, once, and keeps it for those who come back', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'push-due-'));
  const turned = createFakeClock();
  try {
    {
      await using first = await openRig({ dataDir, clock: turned });
      await first.publish('/due', 'slept through', { In: '1h' });
      await first.publish('/due', 'to come', { In: '48h' });
    }
    turned.advance(26 * 3600 * second);
    {
      await using second_ = await openRig({ dataDir, clock: turned });
      await expect.poll(() => second_.poll('/due/json?poll=1')).toMatchObject([{ message: 'slept through' }]);
    }
    await using third = await openRig({ dataDir, clock: turned });
    expect(await third.poll('/due/json?poll=1')).toHaveLength(1);
    expect(await third.poll('/due/json?poll=1&scheduled=1')).toHaveLength(2);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

it('keeps a scheduled message that was answered for through kill -9, and delivers it once', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'push-kill-scheduled-'));
  const headers = { authorization: adminAuthorization };
  const poll = async (url: string, query: string): Promise<string[]> => {
    const reply = await fetch(`${url}/late/json?poll=1${query}`, { headers });
    const lines = (await reply.text()).split('\n').filter((line) => line !== '');
    return lines.map((line) => (JSON.parse(line) as { id: string }).id);
  };
  try {
    const answered: string[] = [];
    {
      await using host = await startHostProcess(dataDir);
      const publishing = Promise.allSettled(
        Array.from({ length: 40 }, async (_, index) => {
          const reply = await fetch(`${host.url('push')}/late`, {
            method: 'POST',
            headers: { ...headers, In: index < 20 ? '10s' : '1h' },
            body: String(index),
          });
          answered.push(((await reply.json()) as { id: string }).id);
        }),
      );
      await expect.poll(() => answered.length, { timeout: 20_000 }).toBeGreaterThan(30);
      await host.kill();
      await publishing;
    }
    await using host = await startHostProcess(dataDir);
    expect(await poll(host.url('push'), '&scheduled=1')).toEqual(expect.arrayContaining(answered));
    await expect.poll(() => poll(host.url('push'), ''), { timeout: 20_000, interval: 250 }).toHaveLength(20);
    const all = await poll(host.url('push'), '&scheduled=1');
    expect(new Set(all).size).toBe(all.length);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}, 90_000);
