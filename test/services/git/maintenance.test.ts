import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { api } from '../../support/api.ts';
import { createFakeClock } from '../../support/clock.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';

const clock = createFakeClock(Date.now());
const folder = mkdtempSync(join(tmpdir(), 'homeport-git-upkeep-'));
const backups = join(folder, 'backups');
let fixture: GitFixture;
beforeAll(async () => {
  mkdirSync(backups);
  fixture = await openGitFixture({ clock, environment: { HOMEPORT_BACKUP_FOLDER: backups } });
});
afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Returns the folder of the first repository. */
const getRepositoryFolder = (dataDir: string): string => {
  const root = join(dataDir, 'git', 'repositories');
  const [part = ''] = readdirSync(root);
  return join(root, part, readdirSync(join(root, part))[0] ?? '');
};
const locks = ['packed-refs.lock', 'objects/pack/multi-pack-index.lock', 'objects/info/commit-graph.lock'];

it('repacks an idle repository with a bitmap without losing objects and removes stale files', async () => {
  await fixture.create('busy');
  const cwd = await fixture.work('busy');
  const remote = `${fixture.signedUrl}/ada/busy.git`;
  const repositoryFolder = getRepositoryFolder(fixture.host.dataDir);
  const packs = () => readdirSync(join(repositoryFolder, 'objects', 'pack')).filter((entry) => entry.endsWith('.pack'));
  const hasIndex = () =>
    readdirSync(join(repositoryFolder, 'objects', 'info')).some((name) => /^commit-graphs?$/.test(name));
  const count = async () => (await fixture.git(['count-objects', '-v'], { cwd: repositoryFolder })).stdout;

  // Each of these pushes creates a pack.
  const write = Array.from({ length: 120 }, (_, index) => `echo $1-${index} > f${index}`).join(' && ');
  for (let push = 0; push < 3; push += 1) {
    await fixture.run('sh', ['-c', `${write} && git add . && git commit -qm "push $1"`, 'sh', String(push)], { cwd });
    await fixture.git(['push', '-q', remote, 'main'], { cwd });
  }
  const lost = (await fixture.git(['rev-parse', 'HEAD'], { cwd })).stdout.trim();
  await fixture.git(['commit', '-q', '--amend', '-m', 'another'], { cwd });
  await fixture.git(['push', '-q', '-f', remote, 'main'], { cwd });
  for (let push = 0; push < 3; push += 1) {
    await fixture.run('sh', ['-c', `${write} && git add . && git commit -qm "push $1"`, 'sh', `more ${push}`], { cwd });
    await fixture.git(['push', '-q', remote, 'main'], { cwd });
  }
  expect(packs().length).toBeGreaterThanOrEqual(6);
  const staleFolder = join(repositoryFolder, 'objects', 'tmp_objdir-incoming-cut');
  const recent = join(repositoryFolder, 'objects', 'tmp_objdir-incoming-now');
  for (const path of [staleFolder, recent]) mkdirSync(path);
  // Each of these locks prevents the maintenance commands of git.
  const lockPaths = locks.map((lock) => join(repositoryFolder, lock));
  for (const path of lockPaths) writeFileSync(path, '');
  for (const path of [staleFolder, ...lockPaths]) utimesSync(path, new Date(0), new Date(0));

  clock.advance(29_000);
  expect(packs().length).toBeGreaterThanOrEqual(6);
  clock.advance(2000);
  // A backup pauses maintenance, which runs after it.
  await api(fixture.host.url('control'), '/api/backups', { method: 'POST' });
  // The push event is processed asynchronously; maintenance starts half a minute after it.
  // Maintenance may be aborted by the backup after its last step. The repository is then maintained without another log
  // record.
  const isDone = (): boolean => {
    clock.advance(1000);
    expect(fixture.host.log.filter((text) => text.includes('maintenance failed'))).toEqual([]);
    return packs().length === 1 && hasIndex();
  };
  await expect.poll(isDone).toBe(true);
  expect(packs()).toHaveLength(1);
  expect(readdirSync(backups)).toHaveLength(1);
  expect(await count()).toContain('count: 0\n');
  expect(readdirSync(join(repositoryFolder, 'objects', 'pack')).some((entry) => entry.endsWith('.bitmap'))).toBe(true);
  expect([staleFolder, recent, ...lockPaths].filter((path) => existsSync(path))).toEqual([recent]);
  expect((await fixture.git(['fsck', '--strict'], { cwd: repositoryFolder })).code).toBe(0);
  // Commits that a forced push removed remain readable by ID.
  await fixture.git(['init', '-q', 'again']);
  await fixture.git(['fetch', '-q', remote, lost], { cwd: join(fixture.folder, 'again') });
  await fixture.git(['clone', '-q', remote, 'whole']);
  expect(
    (await fixture.git(['log', '--oneline'], { cwd: join(fixture.folder, 'whole') })).stdout.trim().split('\n'),
  ).toHaveLength(7);
  await fixture.git(['commit', '-q', '--allow-empty', '-m', 'after'], { cwd });
  // Simulates an interruption between the pack and the index of paths.
  for (const name of ['commit-graph', 'commit-graphs'])
    rmSync(join(repositoryFolder, 'objects', 'info', name), { recursive: true, force: true });
  await fixture.git(['push', '-q', remote, 'main'], { cwd });
  const hasIndexLater = (): boolean => {
    clock.advance(1000);
    return hasIndex();
  };
  await expect.poll(hasIndexLater).toBe(true);
});

it('removes all locks of a killed host at the start', async () => {
  const dataDir = join(folder, 'killed');
  mkdirSync(dataDir);
  {
    await using before = await openGitFixture({ dataDir });
    await before.create('cut', { auto_init: true });
    await before.api('POST', '/repos/ada/cut/branches', { new_branch_name: 'old' });
  }
  for (const lock of locks) writeFileSync(join(getRepositoryFolder(dataDir), lock), '');
  await using after = await openGitFixture({ dataDir });
  expect(locks.filter((lock) => existsSync(join(getRepositoryFolder(dataDir), lock)))).toEqual([]);
  // A remaining lock would prevent git from deleting a branch.
  expect((await after.api('DELETE', '/repos/ada/cut/branches/old')).status).toBe(204);
});
