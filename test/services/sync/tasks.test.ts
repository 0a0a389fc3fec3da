import * as causes from '#messages/sync-causes';
import * as problems from '#messages/sync-problems';
import * as texts from '#messages/sync-texts';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { notificationOffered, type NotificationOffer } from '../../../services/contracts/notify/notification.ts';
import { defineManifest, defineService } from '../../../services/contracts/service.ts';
import { adminAuthorization } from '../../support/host.ts';
import { startHostProcess } from '../../support/host-process.ts';
import { tree } from './trees.ts';
import { lacksRclone, openSyncFixture, rclonePath, until, type SyncFixture } from './sync-fixture.ts';

const offers: NotificationOffer[] = [];
const notify = defineService({
  ...defineManifest({
    id: 'notify',
    title: 'Notify',
    summary: 'Hears of notices.',
    settings: z.object({}),
    environment: {},
    migrations: [],
  }),
  create: ({ handovers }) => ({
    start: async () => void handovers.receive(notificationOffered, async (offer) => void offers.push(offer)),
    health: async () => ({ state: 'up', detail: '' }),
    [Symbol.asyncDispose]: async () => undefined,
  }),
});
const engines = [
  ['rclone', lacksRclone],
  ['no rclone', false],
] as const;

describe.each(engines)('a sync task with %s', (engine, isLeftOut) => {
  describe.skipIf(isLeftOut)('when the engine is available', () => {
    let fixture: SyncFixture;
    let taskCount = 0;

    beforeAll(async () => {
      const missing = engine === 'rclone' ? {} : { RCLONE_PATH: '/nowhere/rclone' };
      fixture = await openSyncFixture({ services: [notify], environment: missing });
    });
    afterAll(() => fixture[Symbol.asyncDispose]());

    /** Creates a saved sync between two new folders. */
    const saved = async (
      files: Readonly<Record<string, string>>,
      existing: Readonly<Record<string, string>>,
      fields: object = {},
    ) => {
      taskCount += 1;
      const [source, destination] = [
        `${fixture.folder}/${String(taskCount)}/from`,
        `${fixture.folder}/${String(taskCount)}/to`,
      ];
      mkdirSync(source, { recursive: true });
      mkdirSync(destination, { recursive: true });
      for (const [end, content] of [
        [source, files],
        [destination, existing],
      ] as const) {
        fixture.write(
          Object.fromEntries(
            Object.entries(content).map(([name, text]) => [join(end.slice(fixture.folder.length), name), text]),
          ),
        );
      }
      const task = await fixture.api('POST', '/api/sync/tasks', {
        name: `task ${String(taskCount)}`,
        mode: 'sync',
        source,
        destination,
        retries: 0,
        ...fields,
      });
      return { id: task.id as number, source, destination };
    };
    const ended = async (id: number) =>
      (
        await until(
          () => fixture.api('GET', `/api/sync/jobs/${String(id)}`),
          ({ job }) => job.endedAt !== null,
        )
      ).job;
    const run = async (task: number, body: object = {}) =>
      ended((await fixture.api('POST', `/api/sync/tasks/${String(task)}/run`, body)).id);
    const preview = async (task: number) =>
      (await ended((await fixture.api('POST', `/api/sync/tasks/${String(task)}/preview`)).id)).planId as number;

    it('is reported as failed on Home until a run succeeds', async () => {
      const health = async () => {
        const { services } = await fixture.api('GET', '/api/services');
        return services.find(({ id }: { id: string }) => id === 'sync');
      };
      const task = await saved({ a: '1' }, {}, { name: 'Photos', notify: 'never' });
      renameSync(task.source, `${task.source} away`);
      expect((await run(task.id)).state).toBe('failed');
      await until(health, ({ detail }) => /^Photos failed: .*not found/i.test(detail));
      expect((await health()).remedy).toEqual({ label: 'View failures', to: `/sync/syncs/${String(task.id)}` });
      renameSync(`${task.source} away`, task.source);
      expect((await run(task.id)).state).toBe('done');
      await until(health, ({ remedy }) => remedy === undefined);
    });

    it('makes the destination equal to the source, and stores the run', async () => {
      const task = await saved(
        { a: '1', 'b/c': '2', 'b/d': '3' },
        { a: 'old', gone: 'x', 'empty/gone': 'y', 'b/d': '3' },
      );
      const job = await run(task.id);
      expect(job).toMatchObject({ state: 'done', error: '', taskId: task.id });
      expect(tree(task.destination)).toEqual({ a: '1', 'b/c': '2', 'b/d': '3' });
      expect(existsSync(join(task.destination, 'empty'))).toBe(false);
      expect(job.totals).toMatchObject({ deletes: 2, errors: 0 });
      expect(statSync(join(task.destination, 'a')).mtimeMs).toBeCloseTo(statSync(join(task.source, 'a')).mtimeMs, -1);
      const secondRun = await run(task.id);
      expect(secondRun.totals).toMatchObject({ transfers: 0, bytes: 0, deletes: 0 });
      const { items } = await fixture.api('GET', `/api/sync/jobs?task=${String(task.id)}`);
      expect(items.map(({ id }: { id: number }) => id)).toEqual([secondRun.id, job.id]);
    });

    it('is found in the history by result and by file', async () => {
      const task = await saved({ 'letters/To_Ann.txt': '1' }, {}, { notify: 'never' });
      const completedRun = await run(task.id);
      renameSync(task.source, `${task.source} away`);
      const failedRun = await run(task.id);
      const listJobIds = async (query: string): Promise<number[]> => {
        const { items } = await fixture.api('GET', `/api/sync/jobs?task=${String(task.id)}&${query}`);
        return items.map(({ id }: { id: number }) => id);
      };
      expect(await listJobIds('show=all')).toEqual([failedRun.id, completedRun.id]);
      expect(await listJobIds('show=worked')).toEqual([completedRun.id]);
      expect(await listJobIds('show=problems')).toEqual([failedRun.id]);
      expect(await listJobIds('q=to_ann')).toEqual([completedRun.id]);
      expect(await listJobIds('q=to-ann')).toEqual([]);
      expect(await listJobIds('q=to_ann&show=problems')).toEqual([]);
    });

    it('waits for approval before it deletes much, and then deletes only previewed files', async () => {
      const manyFiles = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`old/${String(index)}`, 'x']));
      const task = await saved({ keep: '1', added: '2' }, { ...manyFiles, keep: '1' });
      const heldJob = await run(task.id);
      expect(heldJob).toMatchObject({
        state: 'held',
        error: expect.stringMatching(/97% of the destination/) as string,
      });
      expect(Object.keys(tree(task.destination))).toHaveLength(31);
      await until(
        async () => offers,
        (list) =>
          list.some(({ notice }) => notice.title === texts.notificationHeld({ name: `task ${String(taskCount)}` })),
      );
      const files = await fixture.api('GET', `/api/sync/plans/${String(heldJob.planId)}/files?what=delete&limit=5`);
      expect(files).toMatchObject({ total: 30 });
      expect(files.items).toHaveLength(5);
      // Adds a new file, changes one, and restores one in the meantime.
      writeFileSync(join(task.destination, 'unseen'), 'new');
      writeFileSync(join(task.destination, 'old/1'), 'changed since');
      mkdirSync(join(task.source, 'old'));
      writeFileSync(join(task.source, 'old/2'), 'x');
      const done = await run(task.id, { plan: heldJob.planId });
      expect(done.state).toBe('done');
      expect(tree(task.destination)).toEqual({
        keep: '1',
        added: '2',
        unseen: 'new',
        'old/1': 'changed since',
        'old/2': 'x',
      });
    });

    it('never empties a destination because the source is empty or missing', async () => {
      const task = await saved({}, { a: '1' }, { maxDeletes: 1000, maxDeletePercent: 100 });
      expect(await run(task.id)).toMatchObject({
        state: 'held',
        error: expect.stringMatching(/source is empty/) as string,
      });
      rmSync(task.source, { recursive: true });
      expect(await run(task.id)).toMatchObject({
        state: 'failed',
        error: causes.folderMissing({ folder: task.source }),
        detail: 'directory not found',
      });
      expect(tree(task.destination)).toEqual({ a: '1' });
    });

    it('previews its changes, and a preview is bound to its settings', async () => {
      const task = await saved({ a: '12', b: '3' }, { b: 'other', c: '4' });
      const plan = await preview(task.id);
      expect(await fixture.api('GET', `/api/sync/plans/${String(plan)}`)).toMatchObject({
        creates: { files: 1, bytes: 2 },
        updates: { files: 1, bytes: 1 },
        deletes: { files: 1, bytes: 1 },
        brakes: [],
      });
      expect(tree(task.destination)).toEqual({ b: 'other', c: '4' });
      const other = await saved({}, {});
      await expect(run(other.id, { plan })).rejects.toThrow(problems.previewOfOtherTask());
      await fixture.api('PUT', `/api/sync/tasks/${String(task.id)}`, {
        name: 'x',
        mode: 'sync',
        source: task.source,
        destination: `${task.destination}2`,
      });
      await expect(run(task.id, { plan })).rejects.toThrow(problems.previewOutdated());
    });

    it('restores replaced files unless they were changed since', async () => {
      const before = { same: '0', changes: 'old', gone: 'x', 'deep/gone': 'y' };
      const task = await saved({ same: '0', changes: 'newer', added: '1' }, before, {
        keepReplaced: true,
        maxDeletePercent: 100,
      });
      utimesSync(join(task.source, 'same'), 1, 1);
      utimesSync(join(task.destination, 'same'), 1, 1);
      const job = await run(task.id);
      expect(job).toMatchObject({ state: 'done', canUndo: true });
      expect(tree(task.destination)).toEqual({ same: '0', changes: 'newer', added: '1' });
      writeFileSync(join(task.destination, 'changes'), 'by hand');
      const refused = await ended((await fixture.api('POST', `/api/sync/jobs/${String(job.id)}/undo`)).id);
      expect(refused).toMatchObject({
        state: 'failed',
        error: causes.changedSince({ path: 'changes' }),
      });
      expect(tree(task.destination)['changes']).toBe('by hand');
      writeFileSync(join(task.destination, 'changes'), 'newer');
      const { mtime } = statSync(join(task.source, 'changes'));
      utimesSync(join(task.destination, 'changes'), mtime, mtime);
      const undone = await ended((await fixture.api('POST', `/api/sync/jobs/${String(job.id)}/undo`)).id);
      expect(undone).toMatchObject({ kind: 'undo', state: 'done', error: '' });
      expect(tree(task.destination)).toEqual(before);
      await expect(fixture.api('POST', `/api/sync/jobs/${String(job.id)}/undo`)).rejects.toThrow(problems.noUndo());
    });

    it('excludes files on both sides', async () => {
      const files = [
        'a.txt',
        'a.tmp',
        'b/c.tmp',
        'b/cache/x',
        'cache/y',
        'keep/cache',
        'x1',
        'x9',
        'deep/build/o/p',
        'build',
        'photo.jpg',
        'photo.JPG',
        'q?.md',
        'qq.md',
        'one.log',
        'two.log',
        '2026-01.csv',
        'sub/top',
        'top',
      ];
      const source = Object.fromEntries(files.map((name) => [name, 'new']));
      const exclude = [
        '*.tmp',
        'cache/',
        'x[1-3]',
        'deep/**',
        '*.{jpg,png}',
        'q\\?.md',
        '/o*.log',
        '{{\\d{4}-\\d\\d}}.csv',
        '/top',
      ];
      const existing = { 'b/cache/old': 'stays', 'old.tmp': 'stays', top: 'stays', gone: 'goes', 'deep/er/x': 'stays' };
      const task = await saved(source, existing, { exclude, maxDeletePercent: 100 });
      expect(await run(task.id)).toMatchObject({ state: 'done' });
      const [came, stays] = [
        ['a.txt', 'build', 'keep/cache', 'photo.JPG', 'qq.md', 'sub/top', 'two.log', 'x9'],
        ['b/cache/old', 'deep/er/x', 'old.tmp', 'top'],
      ];
      expect(tree(task.destination)).toEqual({
        ...Object.fromEntries(came.map((name) => [name, 'new'])),
        ...Object.fromEntries(stays.map((name) => [name, 'stays'])),
      });
      await expect(saved({}, {}, { exclude: ['a[b'] })).rejects.toThrow('has no matching ]');
    });

    it('continues an interrupted undo', async () => {
      const before = { one: 'old', two: 'old', gone: 'x', 'deep/gone': 'y' };
      const task = await saved({ one: 'newer', two: 'newer', added: '1', more: '2' }, before, {
        keepReplaced: true,
        maxDeletePercent: 100,
      });
      const job = await run(task.id);
      expect(job).toMatchObject({ state: 'done', canUndo: true });
      // Contains the files of the interrupted first attempt.
      const replacedFolder = `${task.destination.replace(/to$/, '.to.replaced')}/${String(job.id)}`;
      expect(tree(replacedFolder)).toEqual(before);
      rmSync(join(task.destination, 'added'));
      renameSync(join(replacedFolder, 'one'), join(task.destination, 'one'));
      mkdirSync(join(task.destination, 'deep'), { recursive: true });
      renameSync(join(replacedFolder, 'deep/gone'), join(task.destination, 'deep/gone'));
      const undone = await ended((await fixture.api('POST', `/api/sync/jobs/${String(job.id)}/undo`)).id);
      expect(undone).toMatchObject({ state: 'done', error: '' });
      expect(tree(task.destination)).toEqual(before);
      expect(tree(replacedFolder)).toEqual({});
    });

    it('touches neither links at the destination nor their targets', async () => {
      for (const [source, link] of [
        [{ 'a/x': 'new', b: '1' }, 'a'],
        [{ a: 'new', b: '1' }, 'a'],
        [{ 'deep/er/a/x': 'new' }, 'deep/er'],
      ] as const) {
        const task = await saved(source, { old: 'x' }, { maxDeletePercent: 100 });
        const outside = join(task.destination, '../outside');
        mkdirSync(outside);
        writeFileSync(join(outside, 'x'), 'somebody else’s');
        mkdirSync(dirname(join(task.destination, link)), { recursive: true });
        symlinkSync(source.a === undefined ? outside : join(outside, 'x'), join(task.destination, link));
        const job = await run(task.id);
        expect(job).toMatchObject({ state: 'failed', error: expect.stringContaining(`${link} is a link`) as string });
        expect(tree(outside)).toEqual({ x: 'somebody else’s' });
        expect(lstatSync(join(task.destination, link)).isSymbolicLink()).toBe(true);
        expect(existsSync(join(task.destination, 'old'))).toBe(true);
      }
      // A folder that does not block others is not changed.
      const task = await saved({ b: '1' }, { old: 'x' }, { maxDeletePercent: 100 });
      symlinkSync('/etc', join(task.destination, 'etc'));
      expect(await run(task.id)).toMatchObject({ state: 'done', totals: { deletes: 1 } });
      expect(lstatSync(join(task.destination, 'etc')).isSymbolicLink()).toBe(true);
    });

    it('keeps replaced files next to the real folder, and only if that is allowed', async () => {
      taskCount += 1;
      const home = `${fixture.folder}/${String(taskCount)}`;
      fixture.write({ [`${String(taskCount)}/mine/real/to/a`]: 'old', [`${String(taskCount)}/mine/from/a`]: 'newer' });
      symlinkSync(join(home, 'mine/real/to'), join(home, 'mine/way'));
      const ada = await fixture.account(`ada-${engine.replace(' ', '-')}`, [
        { resource: `${home}/mine/from/*`, permission: 'read' },
        { resource: `${home}/mine/real/*`, permission: 'read-write' },
      ]);
      const fields = {
        name: 'x',
        mode: 'sync',
        source: `${home}/mine/from`,
        destination: `${home}/mine/way`,
        keepReplaced: true,
        retries: 0,
      };
      const task = await fixture.api('POST', '/api/sync/tasks', fields, ada);
      const job = await run(task.id);
      expect(job).toMatchObject({ state: 'done', canUndo: true });
      expect(tree(join(home, 'mine/real'))).toEqual({ 'to/a': 'newer', [`.to.replaced/${String(job.id)}/a`]: 'old' });
      const undone = await ended((await fixture.api('POST', `/api/sync/jobs/${String(job.id)}/undo`)).id);
      expect(undone).toMatchObject({ state: 'done', error: '' });
      expect(tree(join(home, 'mine/real/to'))).toEqual({ a: 'old' });
      const eve = await fixture.account(`eva-${engine.replace(' ', '-')}`, [
        { resource: `${home}/mine/from/*`, permission: 'read' },
        { resource: `${home}/mine/real/to/*`, permission: 'read-write' },
        { resource: `${home}/mine/.way.replaced/*`, permission: 'read-write' },
      ]);
      await expect(fixture.api('POST', '/api/sync/tasks', fields, eve)).rejects.toThrow('.to.replaced');
      const slow = { ...fields, exclude: ['{{(a+)+$}}'] };
      await expect(fixture.api('POST', '/api/sync/tasks', slow, ada)).rejects.toThrow(
        'only administrators can use regular expressions',
      );
    });

    it('creates a missing destination without counting an error', async () => {
      taskCount += 1;
      const home = `${fixture.folder}/${String(taskCount)}`;
      fixture.write({ [`${String(taskCount)}/from/songs/a`]: '1' });
      const fields = { name: 'x', mode: 'copy', source: `${home}/from`, destination: `${home}/none/to` };
      const job = await run((await fixture.api('POST', '/api/sync/tasks', fields)).id);
      expect(job).toMatchObject({ state: 'done', totals: { transfers: 1, errors: 0 } });
      expect(tree(`${home}/none`)).toEqual({ 'to/songs/a': '1' });
    });

    it('reports a final failure with its files', async () => {
      const task = await saved({ 'x/y': '1', z: '2' }, { z: 'old' }, { notify: 'problems' });
      // A file exists at the path of a folder.
      writeFileSync(join(task.destination, 'x'), 'in the way');
      const job = await run(task.id);
      expect(job.state).toBe('failed');
      const { errors } = await fixture.api('GET', `/api/sync/jobs/${String(job.id)}`);
      expect(errors).toContainEqual(
        expect.objectContaining({ name: 'x/y', error: expect.stringMatching(/./) as string }),
      );
      const { items } = await fixture.api('GET', `/api/sync/jobs?task=${String(task.id)}`);
      const { name, error } = errors[0];
      expect(items).toEqual([expect.objectContaining({ error: job.error, failedFile: { name, error } })]);
      expect(tree(task.destination)).toMatchObject({ x: 'in the way', z: '2' });
      await until(
        async () => offers,
        (list) =>
          list.some(({ notice }) => notice.title === `task ${String(taskCount)}: failed` && notice.type === 'failure'),
      );
    });

    it('follows its schedule, except while it is paused', async () => {
      const task = await saved({ a: '1' }, {}, { cron: '0 3 * * *', zone: 'Europe/Berlin' });
      const path = `/api/sync/tasks/${String(task.id)}`;
      const { nextAt } = await fixture.api('GET', path);
      const berlin = new Intl.DateTimeFormat('en', { timeZone: 'Europe/Berlin', hour: 'numeric', hourCycle: 'h23' });
      expect(berlin.format(nextAt)).toBe('03');
      await fixture.api('POST', `${path}/pause`);
      expect(await fixture.api('GET', path)).toMatchObject({ paused: true });
      await fixture.api('POST', `${path}/resume`);
      expect(await fixture.api('GET', path)).toMatchObject({ paused: false, nextAt });
      await expect(saved({}, {}, { cron: 'at noon' })).rejects.toThrow('five fields');
      await expect(saved({}, {}, { cron: '0 3 * * *', zone: 'Mars/Base' })).rejects.toThrow('time zone');
    });

    it("is visible to its owner only, and stays within the owner's grants", async () => {
      const task = await saved({ a: '1' }, {});
      const eve = await fixture.account(`eve${String(taskCount)}`, [
        { resource: `${fixture.folder}/eve/*`, permission: 'read-write' },
      ]);
      for (const path of [`tasks/${String(task.id)}`, `files?at=${fixture.folder}`]) {
        await expect(fixture.api('GET', `/api/sync/${path}`, undefined, eve)).rejects.toThrow(/40[34]/);
      }
      expect((await fixture.api('GET', '/api/sync', undefined, eve)).tasks).toEqual([]);
      const fields = { name: 'x', source: task.source, destination: `${fixture.folder}/eve/x` };
      await expect(fixture.api('POST', '/api/sync/tasks', fields, eve)).rejects.toThrow('no access');
      await expect(
        fixture.api('POST', '/api/sync/tasks', { ...fields, source: `:local:${task.source}` }, eve),
      ).rejects.toThrow();
    });
  });
});

it.skipIf(lacksRclone)('continues after a power failure without running twice, and stores what happened', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'homeport-sync-kill-'));
  const folder = mkdtempSync(join(tmpdir(), 'homeport-sync-files-'));
  const environment = { RCLONE_PATH: rclonePath ?? '', SYNC_BANDWIDTH: '2M' };
  try {
    mkdirSync(join(folder, 'from'));
    mkdirSync(join(folder, 'to'));
    for (let index = 0; index < 12; index++)
      writeFileSync(join(folder, 'from', String(index)), Buffer.alloc(1024 * 1024, index));
    writeFileSync(join(folder, 'to/gone'), 'x');
    const createCaller = (url: string) => async (method: string, path: string, body?: object) => {
      const headers = { authorization: adminAuthorization, 'content-type': 'application/json' };
      const reply = await fetch(`${url}${path}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return await reply.json();
    };
    let id = 0;
    {
      await using host = await startHostProcess(dataDir, { environment });
      const sendRequest = createCaller(host.url('control'));
      const task = await sendRequest('POST', '/api/sync/tasks', {
        name: 'nightly',
        mode: 'sync',
        source: join(folder, 'from'),
        destination: join(folder, 'to'),
      });
      id = (await sendRequest('POST', `/api/sync/tasks/${String(task.id)}/run`, {})).id;
      await until(
        async () => sendRequest('GET', `/api/sync/jobs/${String(id)}`),
        ({ job }) => job.totals.bytes > 1024 * 1024,
      );
      await host.kill();
      expect(existsSync(join(folder, 'to/gone'))).toBe(true);
    }
    await using host = await startHostProcess(dataDir, { environment: { ...environment, SYNC_BANDWIDTH: '' } });
    const ask = createCaller(host.url('control'));
    expect((await ask('GET', `/api/sync/jobs/${String(id)}`)).job).toMatchObject({
      state: 'interrupted',
      error: causes.interrupted(),
    });
    const { items } = await until(
      async () => ask('GET', '/api/sync/jobs'),
      (list) => list.items[0].state === 'done',
      60_000,
    );
    expect(items).toHaveLength(2);
    expect(readdirSync(join(folder, 'to')).toSorted()).toEqual(readdirSync(join(folder, 'from')).toSorted());
    await host.stop();
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
    rmSync(folder, { recursive: true, force: true });
  }
});
