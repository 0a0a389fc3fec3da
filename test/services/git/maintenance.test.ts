import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { api } from '../../support/api.ts';
import { createFakeClock } from '../../support/clock.ts';
import { openGitRoom, type GitRoom } from './git-fixture.ts';

const clock = createFakeClock(Date.now());
const folder = mkdtempSync(join(tmpdir(), 'homeport-git-upkeep-'));
const backups = join(folder, 'backups');
let room: GitRoom;
beforeAll(async () => {
  mkdirSync(backups);
  room = await openGitRoom({ clock, environment: { HOMEPORT_BACKUP_FOLDER: backups } });
});
afterAll(async () => {
  await room[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Where the first repository lies. */
const placeOf = (dataDir: string): string => {
  const root = join(dataDir, 'git', 'repositories');
  const [part = ''] = readdirSync(root);
  return join(root, part, readdirSync(join(root, part))[0] ?? '');
};
const locks = ['packed-refs.lock', 'objects/pack/multi-pack-index.lock', 'objects/info/commit-graph.lock'];

it('a repository is put in order when it is quiet: one pack with a bitmap, nothing lost, and what a kill left is gone', async () => {
  await room.create('busy');
  const cwd = await room.work('busy');
  const remote = `${room.signedUrl}/ada/busy.git`;
  const place = placeOf(room.host.dataDir);
  const packs = () => readdirSync(join(place, 'objects', 'pack')).filter((each) => each.endsWith('.pack'));
  const hasIndex = () => readdirSync(join(place, 'objects', 'info')).some((name) => /^commit-graphs?$/.test(name));
  const count = async () => (await room.git(['count-objects', '-v'], { cwd: place })).stdout;

  // Each of these pushes is kept as a pack.
  const write = Array.from({ length: 120 }, (_, at) => `echo $1-${at} > f${at}`).join(' && ');
  for (let push = 0; push < 3; push += 1) {
    await room.run('sh', ['-c', `${write} && git add . && git commit -qm "push $1"`, 'sh', String(push)], { cwd });
    await room.git(['push', '-q', remote, 'main'], { cwd });
  }
  const lost = (await room.git(['rev-parse', 'HEAD'], { cwd })).stdout.trim();
  await room.git(['commit', '-q', '--amend', '-m', 'another'], { cwd });
  await room.git(['push', '-q', '-f', remote, 'main'], { cwd });
  for (let push = 0; push < 3; push += 1) {
    await room.run('sh', ['-c', `${write} && git add . && git commit -qm "push $1"`, 'sh', `more ${push}`], { cwd });
    await room.git(['push', '-q', remote, 'main'], { cwd });
  }
  expect(packs().length).toBeGreaterThanOrEqual(6);
  const left = join(place, 'objects', 'tmp_objdir-incoming-cut');
  const recent = join(place, 'objects', 'tmp_objdir-incoming-now');
  for (const path of [left, recent]) mkdirSync(path);
  // With one of these git puts nothing in order.
  const held = locks.map((lock) => join(place, lock));
  for (const path of held) writeFileSync(path, '');
  for (const path of [left, ...held]) utimesSync(path, new Date(0), new Date(0));

  clock.advance(29_000);
  expect(packs().length).toBeGreaterThanOrEqual(6);
  clock.advance(2000);
  // A backup comes in between, for which all stays where it is; it is done after that.
  await api(room.host.url('control'), '/api/backups', { method: 'POST' });
  // When the last push is heard of is up to the loop; it is quiet half a minute after that.
  // It may be given up for the backup just when its last step was done: it is in order then, and nothing more is said.
  const isDone = (): boolean => {
    clock.advance(1000);
    expect(room.host.log.filter((text) => text.includes('could not be put in order'))).toEqual([]);
    return packs().length === 1 && hasIndex();
  };
  await expect.poll(isDone).toBe(true);
  expect(packs()).toHaveLength(1);
  expect(readdirSync(backups)).toHaveLength(1);
  expect(await count()).toContain('count: 0\n');
  expect(readdirSync(join(place, 'objects', 'pack')).some((each) => each.endsWith('.bitmap'))).toBe(true);
  expect([existsSync(left), existsSync(recent)]).toEqual([false, true]);
  expect(held.filter((path) => existsSync(path))).toEqual([]);
  expect((await room.git(['fsck', '--strict'], { cwd: place })).code).toBe(0);
  // What a forced push took away is still there for who knows its name.
  await room.git(['init', '-q', 'again']);
  await room.git(['fetch', '-q', remote, lost], { cwd: join(room.folder, 'again') });
  await room.git(['clone', '-q', remote, 'whole']);
  expect(
    (await room.git(['log', '--oneline'], { cwd: join(room.folder, 'whole') })).stdout.trim().split('\n'),
  ).toHaveLength(7);
  await room.git(['commit', '-q', '--allow-empty', '-m', 'after'], { cwd });
  // As where it was given up, or the host ended, between the pack and the index of paths.
  for (const name of ['commit-graph', 'commit-graphs'])
    rmSync(join(place, 'objects', 'info', name), { recursive: true, force: true });
  await room.git(['push', '-q', remote, 'main'], { cwd });
  const hasIndexLater = (): boolean => {
    clock.advance(1000);
    return hasIndex();
  };
  await expect.poll(hasIndexLater).toBe(true);
});

it('a start removes the locks that git left when the host was killed, however new', async () => {
  const dataDir = join(folder, 'killed');
  mkdirSync(dataDir);
  {
    await using before = await openGitRoom({ dataDir });
    await before.create('cut', { auto_init: true });
    await before.api('POST', '/repos/ada/cut/branches', { new_branch_name: 'old' });
  }
  for (const lock of locks) writeFileSync(join(placeOf(dataDir), lock), '');
  await using after = await openGitRoom({ dataDir });
  expect(locks.filter((lock) => existsSync(join(placeOf(dataDir), lock)))).toEqual([]);
  // Git would not take a branch away otherwise.
  expect((await after.api('DELETE', '/repos/ada/cut/branches/old')).status).toBe(204);
});
