import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { tree } from './trees.ts';
import { lacksRclone, openSyncRoom, until, type SyncRoom } from './sync-fixture.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
/** A Monday. */
const start = Date.UTC(2026, 5, 1, 12);

let clock: FakeClock;
let room: SyncRoom;
beforeEach(async () => {
  clock = createFakeClock(start);
  room = await openSyncRoom({ clock, environment: { RCLONE_PATH: '/nowhere/rclone' } });
});
afterEach(() => room[Symbol.asyncDispose]());

const save = async (fields: object = {}, open = room): Promise<number> => {
  room.write({ 'from/a': '1' });
  const ends = { source: `${room.folder}/from`, destination: `${room.folder}/to` };
  return (await open.api('POST', '/api/sync/tasks', { name: 'nightly', mode: 'sync', ...ends, ...fields })).id;
};
/** All runs so far, the oldest first, once none of them runs any longer; time goes on while there are fewer. */
const runs = async (count: number, open = room): Promise<any[]> => {
  const { items } = await until(
    async () => {
      const found = await open.api('GET', '/api/sync/jobs');
      if (found.items.length < count) clock.advance(15_000);
      return found;
    },
    (found) => found.items.length >= count && found.items.every(({ endedAt }: any) => endedAt !== null),
  );
  return items.toReversed();
};
const nextOf = async (task: number, open = room): Promise<number | null> =>
  (await open.api('GET', `/api/sync/tasks/${String(task)}`)).nextAt;
/** What the calendar does next is done once this is answered. */
const look = async (): Promise<void> => {
  clock.advance(15_000);
  await room.api('GET', '/api/sync');
};

it('runs once what was due while the computer was asleep', async () => {
  const task = await save({ cron: '0 3 * * *' });
  expect(await nextOf(task)).toBe(Date.UTC(2026, 5, 2, 3));
  await look();
  // Three nights with the lid closed.
  clock.set(start + 3 * day);
  await look();
  expect(await runs(1)).toMatchObject([{ state: 'done', taskId: task }]);
  expect(await nextOf(task)).toBe(Date.UTC(2026, 5, 5, 3));
  clock.advance(10 * minute);
  expect(await runs(1)).toHaveLength(1);
  clock.set(Date.UTC(2026, 5, 5, 3, 0, 1));
  await look();
  expect(await runs(2)).toHaveLength(2);
});

it('runs once what was due while Homeport was not running', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'homeport-sync-time-'));
  try {
    const environment = { RCLONE_PATH: '/nowhere/rclone' };
    let task = 0;
    {
      await using first = await openSyncRoom({ clock: createFakeClock(start), environment, dataDir });
      task = await save({ cron: '*/10 * * * *' }, first);
    }
    await using later = await openSyncRoom({ clock: createFakeClock(start + day), environment, dataDir });
    expect(await runs(1, later)).toMatchObject([{ state: 'done', startedAt: start + day }]);
    expect(await nextOf(task, later)).toBe(start + day + 10 * minute);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

it('does not delay syncs after the clock is set back', async () => {
  const task = await save({ cron: '0 * * * *' });
  clock.set(start + 400 * day);
  await look();
  await runs(1);
  expect(await nextOf(task)).toBeGreaterThan(start + 400 * day);
  clock.set(start + minute);
  await look();
  expect(
    await until(
      () => nextOf(task),
      (at) => at === start + hour,
    ),
  ).toBe(start + hour);
  clock.set(start + hour);
  const [, second] = await runs(2);
  expect(second).toMatchObject({ state: 'done' });
  expect(second.startedAt - start - hour).toBeLessThan(10 * minute);
  expect(second.startedAt - start - hour).toBeGreaterThanOrEqual(0);
  expect(second.endedAt).toBeGreaterThanOrEqual(second.startedAt);
});

it('retries a failed sync with increasing delays, and then waits for its schedule', async () => {
  const task = await save({ cron: '0 0 * * *', retries: 3 });
  rmSync(join(room.folder, 'from'), { recursive: true });
  mkdirSync(join(room.folder, 'to'));
  writeFileSync(join(room.folder, 'to/kept'), 'x');
  await room.api('POST', `/api/sync/tasks/${String(task)}/run`, {});
  for (const [tries, pause] of [
    [1, 1],
    [2, 5],
    [3, 15],
  ] as const) {
    const all = await runs(tries);
    const { endedAt } = all.at(-1);
    const next = await until(
      () => nextOf(task),
      (at) => at !== null && at >= endedAt + pause * minute && at < endedAt + (pause + 1) * minute,
    );
    expect((next ?? 0) - endedAt - pause * minute).toBeLessThan(minute);
    clock.set((next ?? 0) - 15_001);
    await look();
    expect(await runs(tries)).toHaveLength(tries);
  }
  const all = await runs(4);
  expect(all.map(({ state, detail }) => `${state}: ${detail}`)).toEqual(Array(4).fill('failed: directory not found'));
  await until(
    () => nextOf(task),
    (at) => at === Date.UTC(2026, 5, 2),
  );
  expect(tree(join(room.folder, 'to'))).toEqual({ kept: 'x' });
  // Where it works again, it starts to count anew.
  room.write({ 'from/a': '1', 'from/kept': 'x' });
  clock.set(Date.UTC(2026, 5, 2));
  await look();
  expect((await runs(5)).at(-1)).toMatchObject({ state: 'done' });
});

it('skips scheduled times during a pause', async () => {
  const task = await save({ cron: '0 * * * *' });
  await room.api('POST', `/api/sync/tasks/${String(task)}/pause`);
  clock.set(start + 5 * hour);
  for (let at = 0; at < 5; at++) await look();
  expect((await room.api('GET', '/api/sync/jobs')).items).toEqual([]);
  await room.api('POST', `/api/sync/tasks/${String(task)}/resume`);
  expect(await nextOf(task)).toBe(start + 6 * hour);
  clock.set(start + 6 * hour);
  expect(await runs(1)).toHaveLength(1);
});

it('keeps replaced files for the configured time, even after the history is deleted', async () => {
  await room.api('PATCH', '/api/settings/sync', { keepDays: 5, keepReplacedDays: 30 });
  room.write({ 'to/a': 'old' });
  const task = await save({ keepReplaced: true });
  await room.api('POST', `/api/sync/tasks/${String(task)}/run`, {});
  const [first] = await runs(1);
  expect(first).toMatchObject({ state: 'done', canUndo: true });
  // A later run of which nothing is kept, and more than the newest previews.
  await room.api('PUT', `/api/sync/tasks/${String(task)}`, {
    name: 'x',
    mode: 'sync',
    source: `${room.folder}/from`,
    destination: `${room.folder}/to`,
  });
  for (let at = 0; at < 12; at++) {
    await room.api('POST', `/api/sync/tasks/${String(task)}/run`, {});
    await runs(at + 2);
  }
  const kept = join(room.folder, '.to.replaced', String(first.id));
  clock.set(start + 6 * day);
  clock.advance(hour);
  const { items } = await until(
    () => room.api('GET', '/api/sync/jobs'),
    (list) => list.items.length === 1,
  );
  expect(items).toMatchObject([{ id: first.id, canUndo: true }]);
  expect(tree(kept)).toEqual({ a: 'old' });
  clock.set(start + 31 * day);
  clock.advance(hour);
  await until(
    async () => existsSync(kept),
    (isSo) => !isSo,
  );
  await until(
    async () => (clock.advance(hour), (await room.api('GET', '/api/sync/jobs')).items),
    (list) => list.length === 0,
  );
  expect(tree(join(room.folder, 'to'))).toEqual({ a: '1' });
});

it('continues the cleanup when one folder cannot be deleted', async () => {
  await room.api('PATCH', '/api/settings/sync', { keepDays: 5, keepReplacedDays: 30 });
  // More than are looked at in one go.
  const stuck = await save({ keepReplaced: true });
  for (let at = 0; at < 21; at++) {
    room.write({ 'to/a': `old ${String(at)}` });
    await room.api('POST', `/api/sync/tasks/${String(stuck)}/run`, {});
    await runs(at + 1);
  }
  rmSync(join(room.folder, '.to.replaced'), { recursive: true });
  writeFileSync(join(room.folder, '.to.replaced'), 'no folder');
  room.write({ 'other/a': 'old' });
  const task = await save({ keepReplaced: true, destination: `${room.folder}/other` });
  await room.api('POST', `/api/sync/tasks/${String(task)}/run`, {});
  const last = (await runs(22)).at(-1);
  const kept = join(room.folder, '.other.replaced', String(last.id));
  expect(tree(kept)).toEqual({ a: 'old' });
  clock.set(start + 31 * day);
  clock.advance(hour);
  await until(
    async () => existsSync(kept),
    (isSo) => !isSo,
  );
  // The others wait for the next time.
  const { items } = await room.api('GET', '/api/sync/jobs');
  expect(items.filter(({ canUndo }: any) => canUndo)).toHaveLength(21);
});

it('deletes replaced files after the configured time', async () => {
  await room.api('PATCH', '/api/settings/sync', { keepDays: 5, keepReplacedDays: 30 });
  room.write({ 'to/a': 'older' });
  const task = await save({ keepReplaced: true });
  await room.api('POST', `/api/sync/tasks/${String(task)}/run`, {});
  const [first] = await runs(1);
  clock.set(start + 29 * day);
  clock.advance(hour);
  await room.api('POST', `/api/sync/jobs/${String(first.id)}/undo`);
  await runs(2);
  expect(tree(join(room.folder, 'to'))).toEqual({ a: 'older' });
});

it.skipIf(lacksRclone)('applies a bandwidth timetable to rclone', async () => {
  const timetable = '00:00,1M 12:00,1M';
  await using other = await openSyncRoom({ environment: { SYNC_BANDWIDTH: timetable } });
  expect((await other.call('core/bwlimit')).body).toMatchObject({ rate: '1Mi', bytesPerSecond: 1024 * 1024 });
  // Of two rates the one of this hour, whatever the time is.
  const hourOf = (later: number): string => String((new Date().getHours() + later + 24) % 24).padStart(2, '0');
  const slots = [`${hourOf(-2)}:00,3M`, `${hourOf(3)}:00,off`].toSorted();
  await using third = await openSyncRoom({ environment: { SYNC_BANDWIDTH: slots.join(' ') } });
  expect((await third.call('core/bwlimit')).body.rate).toBe('3Mi');
  await using fourth = await openSyncRoom();
  await expect(fourth.api('PATCH', '/api/settings/sync', { bandwidth: 'slowly' })).rejects.toThrow('timetable');
});
