import * as problems from '#messages/push-problems';
import * as texts from '#messages/push-texts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PushSchedule } from '../../../services/contracts/push/schedules.ts';
import { api } from '../../support/api.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { adminAuthorization } from '../../support/host.ts';
import { startHostProcess } from '../../support/host-process.ts';
import { admin, openRig, type Rig } from './rig.ts';

/** Allows for a busy computer. */
const eventually: typeof expect.poll = (get, options) => expect.poll(get, { timeout: 20_000, ...options });

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const startTime = Date.UTC(2026, 0, 1);
const dailySchedule = { message: 'Water the plants', rule: '0 8 * * *', zone: 'UTC' };

/** Advances the clock without the timers in between. */
function advanceSilently(clock: FakeClock, ms: number): void {
  clock.set(clock.now() + ms - 1000);
  clock.advance(1000);
}

function createCaller(rig: Rig) {
  return (method: string, path: string, body?: unknown, as = admin): Promise<any> =>
    api(rig.host.url('control'), `/api/push/schedules${path}`, {
      method,
      headers: { Authorization: as },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
}

async function listTexts(rig: Rig, topic: string): Promise<string[]> {
  return (await rig.poll(`/${topic}/json?poll=1`)).map(({ message }) => message as string);
}

describe('schedule', () => {
  let clock: FakeClock;
  let rig: Rig;
  let call: ReturnType<typeof createCaller>;
  const ada = 'Basic ' + Buffer.from('ada:harbour light').toString('base64');
  const grant = (grants: readonly unknown[]): Promise<any> =>
    api(rig.host.url('control'), '/api/accounts/ada', {
      method: 'PATCH',
      headers: { Authorization: admin },
      body: JSON.stringify({ grants }),
    });
  beforeAll(async () => {
    clock = createFakeClock(startTime);
    rig = await openRig({ clock });
    call = createCaller(rig);
    await api(rig.host.url('control'), '/api/accounts', {
      method: 'POST',
      headers: { Authorization: admin },
      body: JSON.stringify({ name: 'ada', password: 'harbour light' }),
    });
    await grant([{ service: 'push', resource: 'ada-*', permission: 'read-write' }]);
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  const fault = (...args: Parameters<typeof call>): Promise<string> =>
    call(...args).then(String, (error: Error) => error.message);
  const find = async (id: string): Promise<PushSchedule> => {
    const { schedules } = await call('GET', '');
    return schedules.find((entry: PushSchedule) => entry.id === id);
  };

  it('publishes at each time to streams and the inbox with all fields', async () => {
    const created = await call('POST', '', {
      ...dailySchedule,
      ...{ topic: 'plants', title: 'Plants', priority: 4, tags: ['seedling'], click: 'https://plants.example/' },
    });
    expect(created).toMatchObject({
      words: 'Every day at 08:00',
      next: startTime + 8 * hourMs,
      last: null,
      account: 'admin',
      missed: 'once',
    });
    using stream = await rig.listen('/plants/json');
    advanceSilently(clock, 8 * hourMs - 1000);
    await rig.publish('/plants', 'not yet');
    await eventually(() => stream.messages).toHaveLength(1);
    clock.advance(1000);
    await expect
      .poll(() => stream.messages.slice(1))
      .toMatchObject([
        {
          message: 'Water the plants',
          title: 'Plants',
          priority: 4,
          tags: ['seedling'],
          ...{ click: 'https://plants.example/', time: clock.now() / 1000 },
        },
      ]);
    expect(await find(created.id)).toMatchObject({
      next: startTime + dayMs + 8 * hourMs,
      last: startTime + 8 * hourMs,
      error: '',
    });
    advanceSilently(clock, dayMs);
    await eventually(() => stream.messages).toHaveLength(3);
    const listInbox = async (): Promise<readonly any[]> =>
      (await api<any>(rig.host.url('control'), '/api/inbox', { headers: { Authorization: admin } })).items;
    await eventually(async () => (await listInbox()).filter(({ topic }) => topic === 'plants').length).toBe(3);
    await call('DELETE', `/${created.id}`);
    advanceSilently(clock, dayMs);
    await rig.publish('/plants', 'end');
    expect(stream.messages.filter(({ title }) => title === 'Plants')).toHaveLength(2);
  });

  it('can be changed, disabled, enabled and run manually', async () => {
    const { id } = await call('POST', '', { ...dailySchedule, topic: 'changed', rule: '@hourly' });
    await call('POST', `/${id}/run`);
    expect(await listTexts(rig, 'changed')).toEqual(['Water the plants']);
    const off = await call('PUT', `/${id}/enabled`, { enabled: false });
    expect(off).toMatchObject({ enabled: false, next: null });
    advanceSilently(clock, 3 * hourMs);
    expect(await listTexts(rig, 'changed')).toHaveLength(1);
    const on = await call('PUT', `/${id}/enabled`, { enabled: true });
    expect(on.next).toBeGreaterThan(clock.now());
    const form = { ...dailySchedule, topic: 'changed', message: 'Other', rule: '*/10 * * * *' };
    expect(await call('PUT', `/${id}`, form)).toMatchObject({ words: 'Every 10 minutes', message: 'Other' });
    advanceSilently(clock, 10 * minuteMs);
    await eventually(() => listTexts(rig, 'changed')).toEqual(['Water the plants', 'Other']);
    await call('DELETE', `/${id}`);
  });

  it('runs between its start and end, and is over afterwards', async () => {
    const now = clock.now();
    const { id, next } = await call('POST', '', {
      ...dailySchedule,
      topic: 'span',
      rule: '0 * * * *',
      starts: now + 5 * hourMs,
      ends: now + 7 * hourMs,
    });
    expect(next).toBeGreaterThanOrEqual(now + 5 * hourMs);
    for (let turn = 0; turn < 10; turn += 1) {
      advanceSilently(clock, hourMs);
      await eventually(async () => (await find(id)).next ?? Infinity).toBeGreaterThan(clock.now());
    }
    expect(await listTexts(rig, 'span')).toHaveLength(2);
    expect(await find(id)).toMatchObject({ enabled: true, next: null });
    expect(await fault('POST', '', { ...dailySchedule, topic: 'span', ends: now })).toContain(
      problems.scheduleNeverRuns(),
    );
  });

  it('publishes nothing without permission, reports it and continues afterwards', async () => {
    const { id } = await call('POST', '', { ...dailySchedule, topic: 'ada-x', rule: '@hourly' }, ada);
    await grant([]);
    advanceSilently(clock, hourMs);
    await eventually(async () => (await find(id)).error).toBe(texts.runDenied({ account: 'ada', topic: 'ada-x' }));
    expect(await listTexts(rig, 'ada-x')).toEqual([]);
    await grant([{ service: 'push', resource: 'ada-*', permission: 'read-write' }]);
    advanceSilently(clock, hourMs);
    await eventually(() => listTexts(rig, 'ada-x')).toHaveLength(1);
    expect((await find(id)).error).toBe('');
    await call('DELETE', `/${id}`);
  });

  it('is visible only to its account and administrators', async () => {
    const adaSchedule = await call('POST', '', { ...dailySchedule, topic: 'ada-own' }, ada);
    const otherSchedule = await call('POST', '', { ...dailySchedule, topic: 'his' });
    expect((await call('GET', '', undefined, ada)).schedules.map(({ id }: PushSchedule) => id)).toEqual([
      adaSchedule.id,
    ]);
    const form = { ...dailySchedule, topic: 'ada-own' };
    expect(await fault('PUT', `/${otherSchedule.id}`, form, ada)).toContain('404');
    expect(await fault('DELETE', `/${otherSchedule.id}`, undefined, ada)).toContain('404');
    expect(await fault('POST', `/${otherSchedule.id}/run`, undefined, ada)).toContain('404');
    expect(await fault('PUT', `/${otherSchedule.id}/enabled`, { enabled: false }, ada)).toContain('404');
    expect(await fault('PUT', `/${adaSchedule.id}`, { ...form, topic: 'his' }, ada)).toContain('403');
    expect(await fault('POST', '', { ...dailySchedule, topic: 'his' }, ada)).toContain('403');
    expect(await call('PUT', `/${adaSchedule.id}`, form)).toMatchObject({ account: 'ada' });
    const page = await call('GET', '?limit=1');
    expect(page).toMatchObject({ schedules: [{ id: otherSchedule.id }] });
    expect((await call('GET', `?limit=1&before=${page.next}`)).schedules).toMatchObject([{ id: adaSchedule.id }]);
    await call('DELETE', `/${otherSchedule.id}`);
    await api(rig.host.url('control'), '/api/accounts/ada', { method: 'DELETE', headers: { Authorization: admin } });
    await eventually(async () => find(adaSchedule.id)).toBeUndefined();
  });

  it.each([
    [{ rule: '* * * * * *' }, '"rule"'],
    [{ rule: '0 0 30 2 *' }, '"rule"'],
    [{ zone: 'Mars/Olympus' }, '"zone"'],
    [{ topic: 'login' }, 'reserved'],
    [{ topic: 'no spaces' }, '422'],
    [{ message: '  ' }, problems.messageMissing()],
    [{ message: 'é'.repeat(2048) }, 'too long'],
    [{ click: 'javascript:alert(1)' }, '422'],
  ])('is refused with %j', async (fields, message) => {
    expect(await fault('POST', '', { ...dailySchedule, topic: 't', ...fields })).toContain(message);
  });

  it('returns a description of a rule with its next three runs', async () => {
    clock.set(Date.parse('2026-10-24T12:00Z'));
    expect(await call('GET', `/preview?rule=${encodeURIComponent('30 2 * * *')}&zone=Europe/Berlin`)).toEqual({
      words: 'Every day at 02:30',
      next: ['2026-10-25T00:30Z', '2026-10-26T01:30Z', '2026-10-27T01:30Z'].map((text) => Date.parse(text)),
    });
  });
});

describe('missed runs', () => {
  const inFolder = async (use: (dataDir: string, clock: FakeClock) => Promise<void>): Promise<void> => {
    const dataDir = mkdtempSync(join(tmpdir(), 'push-schedules-'));
    try {
      await use(dataDir, createFakeClock(startTime));
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  };

  it('are published once after a downtime, or skipped if the schedule requires it', () =>
    inFolder(async (dataDir, clock) => {
      {
        await using rig = await openRig({ dataDir, clock });
        await createCaller(rig)('POST', '', { ...dailySchedule, topic: 'once' });
        await createCaller(rig)('POST', '', { ...dailySchedule, topic: 'skip', missed: 'skip' });
      }
      advanceSilently(clock, 5 * dayMs);
      {
        await using rig = await openRig({ dataDir, clock });
        await eventually(() => listTexts(rig, 'once')).toHaveLength(1);
        const { schedules } = await createCaller(rig)('GET', '');
        expect(schedules).toMatchObject([
          {
            topic: 'skip',
            error: texts.runMissed(),
            next: startTime + 5 * dayMs + 8 * hourMs,
          },
          { topic: 'once', error: '', next: startTime + 5 * dayMs + 8 * hourMs },
        ]);
        expect(await listTexts(rig, 'skip')).toEqual([]);
      }
      await using rig = await openRig({ dataDir, clock });
      advanceSilently(clock, 8 * hourMs);
      await eventually(() => listTexts(rig, 'skip')).toHaveLength(1);
      expect(await listTexts(rig, 'once')).toHaveLength(2);
    }));

  it('counts runs within a minute as on time', () =>
    inFolder(async (dataDir, clock) => {
      {
        await using rig = await openRig({ dataDir, clock });
        await createCaller(rig)('POST', '', { ...dailySchedule, topic: 'skip', missed: 'skip' });
      }
      clock.advance(3 * dayMs + 8 * hourMs + 30_000);
      await using rig = await openRig({ dataDir, clock });
      await eventually(() => listTexts(rig, 'skip')).toHaveLength(1);
    }));

  it('are not repeated after the clock is set back, and do not block later runs', () =>
    inFolder(async (dataDir, clock) => {
      await using rig = await openRig({ dataDir, clock });
      await createCaller(rig)('POST', '', { ...dailySchedule, topic: 'back', rule: '@hourly' });
      for (let turn = 1; turn <= 4; turn += 1) {
        advanceSilently(clock, hourMs);
        await eventually(() => listTexts(rig, 'back')).toHaveLength(turn);
      }
      clock.set(startTime + hourMs + minuteMs);
      clock.advance(minuteMs);
      const next = async (): Promise<number> => (await createCaller(rig)('GET', '')).schedules[0].next;
      await eventually(next).toBe(startTime + 2 * hourMs);
      for (let turn = 2; turn <= 4; turn += 1) {
        advanceSilently(clock, startTime + turn * hourMs - clock.now());
        await eventually(next).toBe(startTime + (turn + 1) * hourMs);
      }
      expect(await listTexts(rig, 'back')).toHaveLength(4);
      advanceSilently(clock, hourMs);
      await eventually(() => listTexts(rig, 'back')).toHaveLength(5);
    }));

  it('runs once when the clock jumps ahead', () =>
    inFolder(async (dataDir, clock) => {
      await using rig = await openRig({ dataDir, clock });
      await createCaller(rig)('POST', '', { ...dailySchedule, topic: 'ahead', rule: '*/5 * * * *' });
      clock.set(startTime + 2 * dayMs + minuteMs);
      clock.advance(1000);
      await eventually(() => listTexts(rig, 'ahead')).toHaveLength(1);
      advanceSilently(clock, 4 * minuteMs);
      await eventually(() => listTexts(rig, 'ahead')).toHaveLength(2);
    }));
});

it('publishes each run once across repeated kills', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'push-kill-schedules-'));
  const count = 600;
  const poll = async (url: string): Promise<string[]> => {
    const reply = await fetch(`${url}/killed/json?poll=1`, { headers: { authorization: adminAuthorization } });
    const lines = (await reply.text()).split('\n').filter((line) => line !== '');
    return lines.map((line) => (JSON.parse(line) as { message: string }).message);
  };
  try {
    {
      await using host = await startHostProcess(dataDir);
      // Once a year, so that none becomes due during the test.
      const form = { topic: 'killed', rule: '0 0 29 2 *', zone: 'UTC' };
      await Promise.all(
        Array.from({ length: count }, (_, index) =>
          api(host.url('control'), '/api/push/schedules', {
            method: 'POST',
            body: JSON.stringify({ ...form, message: `m${String(index)}` }),
          }),
        ),
      );
    }
    const database = new Sqlite(join(dataDir, 'push', 'db.sqlite'));
    database.prepare('update recurring set next = ?').run(Math.floor(Date.now() / 1000) - 5);
    database.close();
    for (let kills = 0; kills < 3; kills += 1) {
      await using host = await startHostProcess(dataDir);
      await eventually(() => poll(host.url('push')), { timeout: 20_000, interval: 5 }).not.toEqual([]);
      await host.kill();
    }
    await using host = await startHostProcess(dataDir);
    await eventually(async () => (await poll(host.url('push'))).length, { timeout: 30_000 }).toBe(count);
    expect(new Set(await poll(host.url('push'))).size).toBe(count);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}, 120_000);
