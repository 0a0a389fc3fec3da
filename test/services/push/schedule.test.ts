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

const secondMs = 1000;

describe('delayed message', () => {
  it('is acknowledged immediately and published in its second under the same id, to streams, polls and the inbox', async () => {
    using stream = await rig.listen('/tea/json');
    const message = await rig.publish('/tea', 'ready', { In: '5 min' });
    expect(message.time).toBe(clock.now() / 1000 + 300);
    expect(message.expires).toBe(message.time + 12 * 3600);
    clock.advance(299 * secondMs);
    await rig.publish('/tea', 'still steeping');
    await expect.poll(() => stream.messages.length).toBe(1);
    expect(await rig.poll('/tea/json?poll=1')).toHaveLength(1);
    clock.advance(secondMs);
    await expect.poll(() => stream.messages.slice(1)).toEqual([message]);
    expect((await rig.poll('/tea/json?poll=1')).slice(1)).toEqual([message]);
    expect(await rig.poll('/tea/json?poll=1&scheduled=1')).toHaveLength(2);
  });

  it('is found by a client that resumes from a message after its acceptance', async () => {
    await rig.publish('/back', 'later', { In: '1m' });
    const { id } = await rig.publish('/back', 'now');
    clock.advance(60 * secondMs);
    await expect.poll(async () => rig.poll(`/back/json?poll=1&since=${id}`)).toMatchObject([{ message: 'later' }]);
  });

  it('is returned before its time on request, with filters', async () => {
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

  it('is cancelled by a delete with its sequence or id', async () => {
    await rig.publish('/switch/alive', 'no sign of life', { In: '1h' });
    const cancelled = await rig.publish('/switch', 'bare', { In: '1h' });
    expect(await rig.poll('/switch/json?poll=1&scheduled=1')).toHaveLength(2);
    for (const sequence of ['alive', cancelled.id]) {
      expect((await rig.ask('DELETE', `/switch/${sequence}`, { authorization: admin })).status).toBe(200);
    }
    clock.advance(3700 * secondMs);
    await rig.publish('/switch', 'end');
    const events = (await rig.poll('/switch/json?poll=1')).map(({ event, message }) => message ?? event);
    expect(events).toEqual(['message_delete', 'message_delete', 'end']);
  });

  it('is replaced by a message with its sequence, delayed or not, but not in another topic', async () => {
    await rig.publish('/r1/s', 'first', { In: '1m' });
    await rig.publish('/r2/s', 'elsewhere', { In: '1m' });
    await rig.publish('/r1/s', 'second', { In: '2m' });
    clock.advance(90 * secondMs);
    await expect.poll(() => rig.poll('/r2/json?poll=1')).toHaveLength(1);
    expect(await rig.poll('/r1/json?poll=1')).toEqual([]);
    await rig.publish('/r1/s', 'third');
    clock.advance(60 * secondMs);
    await rig.publish('/r1', 'end');
    expect((await rig.poll('/r1/json?poll=1')).map(({ message }) => message)).toEqual(['third', 'end']);
  });

  it('replaces another one of the same moment', async () => {
    await Promise.all(['a', 'b', 'c'].map((text) => rig.publish('/same/s', text, { In: '1m' })));
    expect(await rig.poll('/same/json?poll=1&scheduled=1')).toHaveLength(1);
  });

  it('does not delay an earlier one', async () => {
    using stream = await rig.listen('/order/json');
    await rig.publish('/order', 'late', { In: '40s' });
    await rig.publish('/order', 'early', { In: '20s' });
    clock.advance(20 * secondMs);
    await expect.poll(() => stream.messages.map(({ message }) => message)).toEqual(['early']);
    clock.advance(20 * secondMs);
    await expect.poll(() => stream.messages.map(({ message }) => message)).toEqual(['early', 'late']);
  });

  it.each([
    ['Delay', '5s', 40005],
    ['X-In', '4 days', 40006],
    ['At', 'whenever', 40004],
  ])('refuses %s: %s with %i', async (name, value, code) => {
    const { text } = await rig.ask('POST', '/tea', { authorization: admin, [name]: value }, 'x');
    expect(JSON.parse(text)).toMatchObject({ code });
  });

  it('is scheduled by JSON and by query', async () => {
    const { text } = await rig.ask('POST', '/', { authorization: admin }, '{"topic":"j","message":"m","delay":"1h"}');
    expect(JSON.parse(text).time).toBe(clock.now() / 1000 + 3600);
    expect((await rig.publish('/j?in=2h')).time).toBe(clock.now() / 1000 + 7200);
  });
});

it('is published once after a downtime and kept for returning clients', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'push-due-'));
  const turned = createFakeClock();
  try {
    {
      await using first = await openRig({ dataDir, clock: turned });
      await first.publish('/due', 'slept through', { In: '1h' });
      await first.publish('/due', 'to come', { In: '48h' });
    }
    turned.advance(26 * 3600 * secondMs);
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

it('is kept across kill -9 and published once', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'push-kill-scheduled-'));
  const headers = { authorization: adminAuthorization };
  const poll = async (url: string, query: string): Promise<string[]> => {
    const reply = await fetch(`${url}/late/json?poll=1${query}`, { headers });
    const lines = (await reply.text()).split('\n').filter((line) => line !== '');
    return lines.map((line) => (JSON.parse(line) as { id: string }).id);
  };
  try {
    const acknowledged: string[] = [];
    {
      await using host = await startHostProcess(dataDir);
      const publishing = Promise.allSettled(
        Array.from({ length: 40 }, async (_, index) => {
          const reply = await fetch(`${host.url('push')}/late`, {
            method: 'POST',
            headers: { ...headers, In: index < 20 ? '10s' : '1h' },
            body: String(index),
          });
          acknowledged.push(((await reply.json()) as { id: string }).id);
        }),
      );
      await expect.poll(() => acknowledged.length, { timeout: 20_000 }).toBeGreaterThan(30);
      await host.kill();
      await publishing;
    }
    await using host = await startHostProcess(dataDir);
    expect(await poll(host.url('push'), '&scheduled=1')).toEqual(expect.arrayContaining(acknowledged));
    await expect.poll(() => poll(host.url('push'), ''), { timeout: 20_000, interval: 250 }).toHaveLength(20);
    const scheduled = await poll(host.url('push'), '&scheduled=1');
    expect(new Set(scheduled).size).toBe(scheduled.length);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}, 90_000);
