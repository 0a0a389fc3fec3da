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

/** What comes about soon, also on a machine that has much else to do. */
const eventually: typeof expect.poll = (get, options) => expect.poll(get, { timeout: 20_000, ...options });

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const start = Date.UTC(2026, 0, 1);
const daily = { message: 'Water the plants', rule: '0 8 * * *', zone: 'UTC' };

/** Moves the time on without all that would have happened every few seconds meanwhile. */
function pass(clock: FakeClock, ms: number): void {
  clock.set(clock.now() + ms - 1000);
  clock.advance(1000);
}

function caller(rig: Rig) {
  return (method: string, path: string, body?: unknown, as = admin): Promise<any> =>
    api(rig.host.url('control'), `/api/push/schedules${path}`, {
      method,
      headers: { Authorization: as },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
}

async function texts(rig: Rig, topic: string): Promise<string[]> {
  return (await rig.poll(`/${topic}/json?poll=1`)).map(({ message }) => message as string);
}

describe('a schedule', () => {
  let clock: FakeClock;
  let rig: Rig;
  let call: ReturnType<typeof caller>;
  const ada = 'Basic ' + Buffer.from('ada:harbour light').toString('base64');
  const grant = (grants: readonly unknown[]): Promise<any> =>
    api(rig.host.url('control'), '/api/accounts/ada', {
      method: 'PATCH',
      headers: { Authorization: admin },
      body: JSON.stringify({ grants }),
    });
  beforeAll(async () => {
    clock = createFakeClock(start);
    rig = await openRig({ clock });
    call = caller(rig);
    await api(rig.host.url('control'), '/api/accounts', {
      method: 'POST',
      headers: { Authorization: admin },
      body: JSON.stringify({ name: 'ada', password: 'harbour light' }),
    });
    await grant([{ service: 'push', resource: 'ada-*', permission: 'read-write' }]);
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  const fault = (...given: Parameters<typeof call>): Promise<string> =>
    call(...given).then(String, (error: Error) => error.message);
  const find = async (id: string): Promise<PushSchedule> => {
    const { schedules } = await call('GET', '');
    return schedules.find((each: PushSchedule) => each.id === id);
  };

  it('publishes at each of its times, to streams and the inbox, with all that it was given', async () => {
    const made = await call('POST', '', {
      ...daily,
      ...{ topic: 'plants', title: 'Plants', priority: 4, tags: ['seedling'], click: 'https://plants.example/' },
    });
    expect(made).toMatchObject({
      words: 'Every day at 08:00',
      next: start + 8 * hour,
      last: null,
      account: 'admin',
      missed: 'once',
    });
    using stream = await rig.listen('/plants/json');
    pass(clock, 8 * hour - 1000);
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
    expect(await find(made.id)).toMatchObject({ next: start + day + 8 * hour, last: start + 8 * hour, trouble: '' });
    pass(clock, day);
    await eventually(() => stream.messages).toHaveLength(3);
    const inboxed = async (): Promise<readonly any[]> =>
      (await api<any>(rig.host.url('control'), '/api/inbox', { headers: { Authorization: admin } })).items;
    await eventually(async () => (await inboxed()).filter(({ topic }) => topic === 'plants').length).toBe(3);
    await call('DELETE', `/${made.id}`);
    pass(clock, day);
    await rig.publish('/plants', 'end');
    expect(stream.messages.filter(({ title }) => title === 'Plants')).toHaveLength(2);
  });

  it('can be changed, switched off and on, and run besides its times', async () => {
    const { id } = await call('POST', '', { ...daily, topic: 'changed', rule: '@hourly' });
    await call('POST', `/${id}/run`);
    expect(await texts(rig, 'changed')).toEqual(['Water the plants']);
    const off = await call('PUT', `/${id}/enabled`, { enabled: false });
    expect(off).toMatchObject({ enabled: false, next: null });
    pass(clock, 3 * hour);
    expect(await texts(rig, 'changed')).toHaveLength(1);
    const on = await call('PUT', `/${id}/enabled`, { enabled: true });
    expect(on.next).toBeGreaterThan(clock.now());
    const form = { ...daily, topic: 'changed', message: 'Other', rule: '*/10 * * * *' };
    expect(await call('PUT', `/${id}`, form)).toMatchObject({ words: 'Every 10 minutes', message: 'Other' });
    pass(clock, 10 * minute);
    await eventually(() => texts(rig, 'changed')).toEqual(['Water the plants', 'Other']);
    await call('DELETE', `/${id}`);
  });

  it('keeps between its start and its end, and is over then', async () => {
    const now = clock.now();
    const { id, next } = await call('POST', '', {
      ...daily,
      topic: 'span',
      rule: '0 * * * *',
      starts: now + 5 * hour,
      ends: now + 7 * hour,
    });
    expect(next).toBeGreaterThanOrEqual(now + 5 * hour);
    for (let turn = 0; turn < 10; turn += 1) {
      pass(clock, hour);
      await eventually(async () => (await find(id)).next ?? Infinity).toBeGreaterThan(clock.now());
    }
    expect(await texts(rig, 'span')).toHaveLength(2);
    expect(await find(id)).toMatchObject({ enabled: true, next: null });
    expect(await fault('POST', '', { ...daily, topic: 'span', ends: now })).toContain('never comes due');
  });

  it('publishes nothing while its account may not, says so, and goes on when it may again', async () => {
    const { id } = await call('POST', '', { ...daily, topic: 'ada-x', rule: '@hourly' }, ada);
    await grant([]);
    pass(clock, hour);
    await eventually(async () => (await find(id)).trouble).toBe('ada may not publish to ada-x.');
    expect(await texts(rig, 'ada-x')).toEqual([]);
    await grant([{ service: 'push', resource: 'ada-*', permission: 'read-write' }]);
    pass(clock, hour);
    await eventually(() => texts(rig, 'ada-x')).toHaveLength(1);
    expect((await find(id)).trouble).toBe('');
    await call('DELETE', `/${id}`);
  });

  it('is seen and touched by its own person and administrators alone', async () => {
    const hers = await call('POST', '', { ...daily, topic: 'ada-own' }, ada);
    const his = await call('POST', '', { ...daily, topic: 'his' });
    expect((await call('GET', '', undefined, ada)).schedules.map(({ id }: PushSchedule) => id)).toEqual([hers.id]);
    const form = { ...daily, topic: 'ada-own' };
    expect(await fault('PUT', `/${his.id}`, form, ada)).toContain('404');
    expect(await fault('DELETE', `/${his.id}`, undefined, ada)).toContain('404');
    expect(await fault('POST', `/${his.id}/run`, undefined, ada)).toContain('404');
    expect(await fault('PUT', `/${his.id}/enabled`, { enabled: false }, ada)).toContain('404');
    expect(await fault('PUT', `/${hers.id}`, { ...form, topic: 'his' }, ada)).toContain('403');
    expect(await fault('POST', '', { ...daily, topic: 'his' }, ada)).toContain('403');
    expect(await call('PUT', `/${hers.id}`, form)).toMatchObject({ account: 'ada' });
    const page = await call('GET', '?limit=1');
    expect(page).toMatchObject({ schedules: [{ id: his.id }] });
    expect((await call('GET', `?limit=1&before=${page.next}`)).schedules).toMatchObject([{ id: hers.id }]);
    await call('DELETE', `/${his.id}`);
    await api(rig.host.url('control'), '/api/accounts/ada', { method: 'DELETE', headers: { Authorization: admin } });
    await eventually(async () => find(hers.id)).toBeUndefined();
  });

  it.each([
    [{ rule: '* * * * * *' }, '"rule"'],
    [{ rule: '0 0 30 2 *' }, '"rule"'],
    [{ zone: 'Mars/Olympus' }, '"zone"'],
    [{ topic: 'login' }, 'reserved'],
    [{ topic: 'no spaces' }, '422'],
    [{ message: '  ' }, 'Write a message.'],
    [{ message: 'é'.repeat(2048) }, 'too long'],
    [{ click: 'javascript:alert(1)' }, '422'],
  ])('is refused with %j', async (wrong, words) => {
    expect(await fault('POST', '', { ...daily, topic: 't', ...wrong })).toContain(words);
  });

  it('shows a rule in words with its next three runs', async () => {
    clock.set(Date.parse('2026-10-24T12:00Z'));
    expect(await call('GET', `/preview?rule=${encodeURIComponent('30 2 * * *')}&zone=Europe/Berlin`)).toEqual({
      words: 'Every day at 02:30',
      next: ['2026-10-25T00:30Z', '2026-10-26T01:30Z', '2026-10-27T01:30Z'].map((text) => Date.parse(text)),
    });
  });
});

describe('what came due while nothing ran', () => {
  const inFolder = async (use: (dataDir: string, clock: FakeClock) => Promise<void>): Promise<void> => {
    const dataDir = mkdtempSync(join(tmpdir(), 'push-schedules-'));
    try {
      await use(dataDir, createFakeClock(start));
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  };

  it('is made up for once, or left out where the schedule says so', () =>
    inFolder(async (dataDir, clock) => {
      {
        await using rig = await openRig({ dataDir, clock });
        await caller(rig)('POST', '', { ...daily, topic: 'once' });
        await caller(rig)('POST', '', { ...daily, topic: 'skip', missed: 'skip' });
      }
      pass(clock, 5 * day);
      {
        await using rig = await openRig({ dataDir, clock });
        await eventually(() => texts(rig, 'once')).toHaveLength(1);
        const { schedules } = await caller(rig)('GET', '');
        expect(schedules).toMatchObject([
          { topic: 'skip', trouble: 'Left out: it came due while nothing ran.', next: start + 5 * day + 8 * hour },
          { topic: 'once', trouble: '', next: start + 5 * day + 8 * hour },
        ]);
        expect(await texts(rig, 'skip')).toEqual([]);
      }
      await using rig = await openRig({ dataDir, clock });
      pass(clock, 8 * hour);
      await eventually(() => texts(rig, 'skip')).toHaveLength(1);
      expect(await texts(rig, 'once')).toHaveLength(2);
    }));

  it('counts as on time within a minute, whatever was missed before', () =>
    inFolder(async (dataDir, clock) => {
      {
        await using rig = await openRig({ dataDir, clock });
        await caller(rig)('POST', '', { ...daily, topic: 'skip', missed: 'skip' });
      }
      clock.advance(3 * day + 8 * hour + 30_000);
      await using rig = await openRig({ dataDir, clock });
      await eventually(() => texts(rig, 'skip')).toHaveLength(1);
    }));

  it('does not come again when the clock is set back, nor wait until the clock was', () =>
    inFolder(async (dataDir, clock) => {
      await using rig = await openRig({ dataDir, clock });
      await caller(rig)('POST', '', { ...daily, topic: 'back', rule: '@hourly' });
      for (let turn = 1; turn <= 4; turn += 1) {
        pass(clock, hour);
        await eventually(() => texts(rig, 'back')).toHaveLength(turn);
      }
      clock.set(start + hour + minute);
      clock.advance(minute);
      const next = async (): Promise<number> => (await caller(rig)('GET', '')).schedules[0].next;
      await eventually(next).toBe(start + 2 * hour);
      for (let turn = 2; turn <= 4; turn += 1) {
        pass(clock, start + turn * hour - clock.now());
        await eventually(next).toBe(start + (turn + 1) * hour);
      }
      expect(await texts(rig, 'back')).toHaveLength(4);
      pass(clock, hour);
      await eventually(() => texts(rig, 'back')).toHaveLength(5);
    }));

  it('comes once when the clock jumps ahead', () =>
    inFolder(async (dataDir, clock) => {
      await using rig = await openRig({ dataDir, clock });
      await caller(rig)('POST', '', { ...daily, topic: 'ahead', rule: '*/5 * * * *' });
      clock.set(start + 2 * day + minute);
      clock.advance(1000);
      await eventually(() => texts(rig, 'ahead')).toHaveLength(1);
      pass(clock, 4 * minute);
      await eventually(() => texts(rig, 'ahead')).toHaveLength(2);
    }));
});

it('publishes each due time once, however often it is killed meanwhile', async () => {
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
      // Once a year, so that none comes due by itself.
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
