import * as m from '#messages/git-problems';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { restoreBackup } from '../../../main/host/backup/restore.ts';
import type { BackupFile } from '../../../services/contracts/control/backups.ts';
import { control } from '../../../services/control/index.ts';
import { git } from '../../../services/git/index.ts';
import { api } from '../../support/api.ts';
import { adminAuthorization, openTestHost } from '../../support/host.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';

const waiting = { timeout: 20_000, interval: 50 };
/** Name of a repository without a row. */
const unknownName = `${'ab'.repeat(10)}.git`;
const marker = 'homeport-repositories.json';
let root: string;
let backups: string;
/** Configured folder of the repositories. */
let folder: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'homeport-repositories-folder-'));
  backups = join(root, 'backups');
  folder = join(root, 'repositories');
  mkdirSync(backups);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const open = (data: string, environment: Record<string, string> = { GIT_REPOSITORIES_FOLDER: folder }) => {
  mkdirSync(join(root, data), { recursive: true });
  return openGitFixture({
    dataDir: join(root, data),
    environment: { HOMEPORT_BACKUP_FOLDER: backups, ...environment },
  });
};

/** Opens a host whose service cannot start. Returns the reason. */
async function readFailure(data: string, path: string): Promise<string | undefined> {
  await using host = await openTestHost({
    services: [git, control],
    dataDir: join(root, data),
    environment: { GIT_REPOSITORIES_FOLDER: path },
  });
  return host.host.failures()['git'];
}

const saveBackup = async (host: GitFixture): Promise<string> =>
  join(backups, (await api<BackupFile>(host.host.url('control'), '/api/backups', { method: 'POST' })).name);

const tryBackup = (host: GitFixture): Promise<Response> =>
  fetch(`${host.host.url('control')}/api/backups`, {
    method: 'POST',
    headers: { authorization: adminAuthorization },
  });

/** Adds files that do not belong to the service. Returns their paths. */
function addForeignFiles(): readonly string[] {
  const paths = [
    join(folder, 'go', 'src.git', 'main.go'),
    join(folder, 'go', unknownName, 'HEAD'),
    join(folder, 'go', `${unknownName}.removed`, 'HEAD'),
    join(folder, 'Documents', 'letter.txt'),
    join(folder, 'ab', 'notes.txt'),
    join(folder, 'xy'),
  ];
  for (const path of paths) {
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, 'foreign');
  }
  return paths;
}

describe('a configured folder without a marker', () => {
  it.each([
    ['other files', () => addForeignFiles()],
    [
      'repositories of another installation',
      () => {
        mkdirSync(join(folder, 'ab', unknownName), { recursive: true });
        writeFileSync(join(folder, 'ab', unknownName, 'HEAD'), 'ref: refs/heads/main\n');
        return [join(folder, 'ab', unknownName, 'HEAD')];
      },
    ],
  ])('is refused if it contains %s, which remain', async (_, prepare) => {
    const paths = prepare();
    {
      await using host = await open('data');
      const reply = await host.api('POST', '/user/repos', { name: 'first' });
      expect(reply.status).toBe(503);
      expect(await reply.json()).toMatchObject({ message: m.repositoriesNotDedicated() });
      expect(existsSync(join(folder, marker))).toBe(false);
      // An empty marker adopts only a folder without anything else.
      writeFileSync(join(folder, marker), '');
    }
    await using host = await open('data');
    expect((await host.api('POST', '/user/repos', { name: 'first' })).status).toBe(503);
    for (const path of paths) expect(existsSync(path), path).toBe(true);
  });

  it('is used if it contains only what file systems create', async () => {
    mkdirSync(join(folder, 'lost+found'), { recursive: true });
    mkdirSync(join(folder, '.snapshot'));
    await using host = await open('data');
    await host.create('first', { auto_init: true });
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(['.snapshot', 'lost+found', marker]));
  });
});

describe('a folder with a marker', () => {
  it('is refused if the tables contain neither its identifier nor its repositories', async () => {
    {
      await using host = await open('data');
      await host.create('first', { auto_init: true });
    }
    const key = join(root, 'data', 'vault.key');
    mkdirSync(join(root, 'new'));
    renameSync(key, join(root, 'new', 'vault.key'));
    const parts = readdirSync(folder);
    await using host = await open('new');
    const reply = await host.api('POST', '/user/repos', { name: 'second' });
    expect(reply.status).toBe(503);
    expect(await reply.json()).toMatchObject({ message: m.repositoriesNotDedicated() });
    expect(readdirSync(folder)).toEqual(parts);
  });

  it('keeps files of others that are added later, and loses only repositories without a row', async () => {
    {
      await using host = await open('data');
      await host.create('first', { auto_init: true });
    }
    const paths = addForeignFiles();
    const unknown = join(folder, 'ab', unknownName);
    for (const path of [unknown, `${unknown}.removed`]) mkdirSync(path);
    await using host = await open('data');
    await host.git(['clone', '-q', `${host.signedUrl}/ada/first.git`, 'first']);
    expect(existsSync(unknown)).toBe(false);
    expect(existsSync(`${unknown}.removed`)).toBe(false);
    const file = await saveBackup(host);
    await host[Symbol.asyncDispose]();
    await restoreBackup(join(root, 'data'), file, { force: true });
    await using restored = await open('data');
    await restored.git(['clone', '-q', `${restored.signedUrl}/ada/first.git`, 'first']);
    for (const path of paths) expect(existsSync(path), path).toBe(true);
  });
});

describe('a backup', () => {
  it('is neither saved nor restored without repositories while their file system is not mounted', async () => {
    const away = `${folder}.away`;
    let file: string;
    {
      await using host = await open('data');
      await host.create('first', { auto_init: true });
      file = await saveBackup(host);
      renameSync(folder, away);
      mkdirSync(folder);
      const reply = await tryBackup(host);
      expect(reply.status).toBe(503);
      expect(await reply.json()).toMatchObject({ error: { code: 'git.repositories_unavailable' } });
      rmSync(folder, { recursive: true });
      renameSync(away, folder);
      await vi.waitFor(async () => expect((await tryBackup(host)).ok).toBe(true), waiting);
      renameSync(folder, away);
      mkdirSync(folder);
    }
    await restoreBackup(join(root, 'data'), file, { force: true });
    expect(await readFailure('data', folder)).toBe(m.repositoriesNotShared());
    expect(readdirSync(folder)).toEqual([]);
    rmSync(folder, { recursive: true });
    renameSync(away, folder);
    await using host = await open('data');
    await host.git(['clone', '-q', `${host.signedUrl}/ada/first.git`, 'first']);
  });

  it('is restored to a new folder, but not to one with other files', async () => {
    let file: string;
    {
      await using host = await open('data', {});
      await host.create('first', { auto_init: true });
      file = await saveBackup(host);
    }
    for (const data of ['new', 'other']) mkdirSync(join(root, data));
    await restoreBackup(join(root, 'new'), file, { force: false });
    await restoreBackup(join(root, 'other'), file, { force: false });
    {
      await using host = await open('new');
      await host.git(['clone', '-q', `${host.signedUrl}/ada/first.git`, 'first']);
    }
    const taken = join(root, 'taken');
    mkdirSync(join(taken, 'go', 'src'), { recursive: true });
    expect(await readFailure('other', taken)).toBe(m.repositoriesNotDedicated());
    expect(readdirSync(taken)).toEqual(['go']);
  });
});
