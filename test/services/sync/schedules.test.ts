import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { tree } from './trees.ts';
import { lacksRclone, openSyncFixture, until, type SyncFixture } from './sync-fixture.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
/** Start of the tests, a Monday. */
const start = Date.UTC(2026, 5, 1, 12);

let clock: FakeClock;
let fixture: SyncFixture;
beforeEach(async () => {
  clock = createFakeClock(start);
  fixture = await openSyncFixture({ clock, environment: { RCLONE_PATH: '/nowhere/rclone' } });
});
afterEach(() => fixture[Symbol.asyncDispose]());

const save = async (fields: object = {}, open = fixture): Promise<number> => {
  fixture.write({ 'from/a': '1' });
  const ends = { source: `${fixture.folder}/from`, destination: `${fixture.folder}/to` };
  return (await open.api('POST', '/api/sync/tasks', { name: 'nightly', mode: 'sync', ...ends, ...fields })).id;
};
/**
 * Returns all runs, oldest first, after all of them have ended. Advances the clock while there are fewer than `count`.
 */
const runs = async (count: number, open = fixture): Promise<any[]> => {
  const { items } = await until(
    async () => {
      const jobs = await open.api('GET', '/api/sync/jobs');
      if (jobs.items.length < count) clock.advance(15_000);
      return jobs;
    },
    (list) => list.items.length >= count && list.items.every(({ endedAt }: any) => endedAt !== null),
  );
  return items.toReversed();
};
const getNextRun = async (task: number, open = fixture): Promise<number | null> =>
  (await open.api('GET', `/api/sync/tasks/${String(task)}`)).nextAt;
/** Resolves after the scheduler has processed the current time. */
const look = async (): Promise<void> => {
  clock.advance(15_000);
  await fixture.api('GET', '/api/sync');
};

it('runs a schedule once that was due while the computer was asleep', async () => {
  const task = await save({ cron: '0 3 * * *' });
  expect(await getNextRun(task)).toBe(Date.UTC(2026, 5, 2, 3));
  await look();
  // The computer sleeps for three nights.
  clock.set(start + 3 * day);
  await look();
  expect(await runs(1)).toMatchObject([{ state: 'done', taskId: task }]);
  expect(await getNextRun(task)).toBe(Date.UTC(2026, 5, 5, 3));
  clock.advance(10 * minute);
  expect(await runs(1)).toHaveLength(1);
  clock.set(Date.UTC(2026, 5, 5, 3, 0, 1));
  await look();
  expect(await runs(2)).toHaveLength(2);
});

it('runs a schedule once that was due while Homeport was not running', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'homeport-sync-time-'));
  try {
    const environment = { RCLONE_PATH: '/nowhere/rclone' };
    let task = 0;
    {
      await using first = await openSyncFixture({ clock: createFakeClock(start), environment, dataDir });
      task = await save({ cron: '*/10 * * * *' }, first);
    }
    await using laterFixture = await openSyncFixture({ clock: createFakeClock(start + day), environment, dataDir });
    expect(await runs(1, laterFixture)).toMatchObject([{ state: 'done', startedAt: start + day }]);
    expect(await getNextRun(task, laterFixture)).toBe(start + day + 10 * minute);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

it('does not delay syncs after the clock is set back', async () => {
  const task = await save({ cron: '0 * * * *' });
  clock.set(start + 400 * day);
  await look();
  await runs(1);
  expect(await getNextRun(task)).toBeGreaterThan(start + 400 * day);
  clock.set(start + minute);
  await look();
  expect(
    await until(
      () => getNextRun(task),
      (nextAt) => nextAt === start + hour,
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
  rmSync(join(fixture.folder, 'from'), { recursive: true });
  mkdirSync(join(fixture.folder, 'to'));
  writeFileSync(join(fixture.folder, 'to/kept'), 'x');
  await fixture.api('POST', `/api/sync/tasks/${String(task)}/run`, {});
  for (const [tries, pause] of [
    [1, 1],
    [2, 5],
    [3, 15],
  ] as const) {
    const all = await runs(tries);
    const { endedAt } = all.at(-1);
    const next = await until(
      () => getNextRun(task),
      (nextAt) => nextAt !== null && nextAt >= endedAt + pause * minute && nextAt < endedAt + (pause + 1) * minute,
    );
    expect((next ?? 0) - endedAt - pause * minute).toBeLessThan(minute);
    clock.set((next ?? 0) - 15_001);
    await look();
    expect(await runs(tries)).toHaveLength(tries);
  }
  const all = await runs(4);
  expect(all.map(({ state, detail }) => `${state}: ${detail}`)).toEqual(Array(4).fill('failed: directory not found'));
  await until(
    () => getNextRun(task),
    (nextAt) => nextAt === Date.UTC(2026, 5, 2),
  );
  expect(tree(join(fixture.folder, 'to'))).toEqual({ kept: 'x' });
  // The pause starts again after a success.
  fixture.write({ 'from/a': '1', 'from/kept': 'x' });
  clock.set(Date.UTC(2026, 5, 2));
  await look();
  expect((await runs(5)).at(-1)).toMatchObject({ state: 'done' });
});

it('skips scheduled times during a pause', async () => {
  const task = await save({ cron: '0 * * * *' });
  await fixture.api('POST', `/api/sync/tasks/${String(task)}/pause`);
  clock.set(start + 5 * hour);
  for (let index = 0; index < 5; index++) await look();
  expect((await fixture.api('GET', '/api/sync/jobs')).items).toEqual([]);
  await fixture.api('POST', `/api/sync/tasks/${String(task)}/resume`);
  expect(await getNextRun(task)).toBe(start + 6 * hour);
  clock.set(start + 6 * hour);
  expect(await runs(1)).toHaveLength(1);
});

it('keeps replaced files for the configured time, even after the history is deleted', async () => {
  await fixture.api('PATCH', '/api/settings/sync', { keepDays: 5, keepReplacedDays: 30 });
  fixture.write({ 'to/a': 'old' });
  const task = await save({ keepReplaced: true });
  await fixture.api('POST', `/api/sync/tasks/${String(task)}/run`, {});
  const [first] = await runs(1);
  expect(first).toMatchObject({ state: 'done', canUndo: true });
  // A later run without stored previews, and more runs than previews are kept.
  await fixture.api('PUT', `/api/sync/tasks/${String(task)}`, {
    name: 'x',
    mode: 'sync',
    source: `${fixture.folder}/from`,
    destination: `${fixture.folder}/to`,
  });
  for (let index = 0; index < 12; index++) {
    await fixture.api('POST', `/api/sync/tasks/${String(task)}/run`, {});
    await runs(index + 2);
  }
  const replacedFolder = join(fixture.folder, '.to.replaced', String(first.id));
  clock.set(start + 6 * day);
  clock.advance(hour);
  const { items } = await until(
    () => fixture.api('GET', '/api/sync/jobs'),
    (list) => list.items.length === 1,
  );
  expect(items).toMatchObject([{ id: first.id, canUndo: true }]);
  expect(tree(replacedFolder)).toEqual({ a: 'old' });
  clock.set(start + 31 * day);
  clock.advance(hour);
  await until(
    async () => existsSync(replacedFolder),
    (isSo) => !isSo,
  );
  await until(
    async () => (clock.advance(hour), (await fixture.api('GET', '/api/sync/jobs')).items),
    (list) => list.length === 0,
  );
  expect(tree(join(fixture.folder, 'to'))).toEqual({ a: '1' });
});

it('continues the cleanup when one folder cannot be deleted', async () => {
  await fixture.api('PATCH', '/api/settings/sync', { keepDays: 5, keepReplacedDays: 30 });
  // There are more than one batch contains.
  const stuck = await save({ keepReplaced: true });
  for (let index = 0; index < 21; index++) {
    fixture.write({ 'to/a': `old ${String(index)}` });
    await fixture.api('POST', `/api/sync/tasks/${String(stuck)}/run`, {});
    await runs(index + 1);
  }
  rmSync(join(fixture.folder, '.to.replaced'), { recursive: true });
  writeFileSync(join(fixture.folder, '.to.replaced'), 'no folder');
  fixture.write({ 'other/a': 'old' });
  const task = await save({ keepReplaced: true, destination: `${fixture.folder}/other` });
  await fixture.api('POST', `/api/sync/tasks/${String(task)}/run`, {});
  const last = (await runs(22)).at(-1);
  const replacedFolder = join(fixture.folder, '.other.replaced', String(last.id));
  expect(tree(replacedFolder)).toEqual({ a: 'old' });
  clock.set(start + 31 * day);
  clock.advance(hour);
  await until(
    async () => existsSync(replacedFolder),
    (isSo) => !isSo,
  );
  // The others remain for the next batch.
  const { items } = await fixture.api('GET', '/api/sync/jobs');
  expect(items.filter(({ canUndo }: any) => canUndo)).toHaveLength(21);
});

it('deletes replaced files after the configured time', async () => {
  await fixture.api('PATCH', '/api/settings/sync', { keepDays: 5, keepReplacedDays: 30 });
  fixture.write({ 'to/a': 'older' });
  const task = await save({ keepReplaced: true });
  await fixture.api('POST', `/api/sync/tasks/${String(task)}/run`, {});
  const [first] = await runs(1);
  clock.set(start + 29 * day);
  clock.advance(hour);
  await fixture.api('POST', `/api/sync/jobs/${String(first.id)}/undo`);
  await runs(2);
  expect(tree(join(fixture.folder, 'to'))).toEqual({ a: 'older' });
});

it.skipIf(lacksRclone)('applies a bandwidth timetable to rclone', async () => {
  const timetable = '00:00,1M 12:00,1M';
  await using other = await openSyncFixture({ environment: { SYNC_BANDWIDTH: timetable } });
  expect((await other.call('core/bwlimit')).body).toMatchObject({ rate: '1Mi', bytesPerSecond: 1024 * 1024 });
  // The rate of the current hour applies.
  const formatHour = (hoursAhead: number): string =>
    String((new Date().getHours() + hoursAhead + 24) % 24).padStart(2, '0');
  const slots = [`${formatHour(-2)}:00,3M`, `${formatHour(3)}:00,off`].toSorted();
  await using third = await openSyncFixture({ environment: { SYNC_BANDWIDTH: slots.join(' ') } });
  expect((await third.call('core/bwlimit')).body.rate).toBe('3Mi');
  await using fourth = await openSyncFixture();
  await expect(fourth.api('PATCH', '/api/settings/sync', { bandwidth: 'slowly' })).rejects.toThrow('schedule');
});
