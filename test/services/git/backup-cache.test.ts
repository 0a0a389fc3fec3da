import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { gitMovingApi } from '../../../services/contracts/git/moving-api.ts';
import { createFakeClock } from '../../support/clock.ts';
import { adminAuthorization } from '../../support/host.ts';
import { openGitFixture } from './git-fixture.ts';

it('creates one backup for concurrent requests of an unchanged repository and removes it after the download', async () => {
  const clock = createFakeClock(Date.now());
  await using fixture = await openGitFixture({ clock });
  const portableFolder = join(fixture.host.dataDir, 'git', 'portable');
  const listFiles = (): readonly string[] => (existsSync(portableFolder) ? readdirSync(portableFolder) : []);
  const load = async (name: string): Promise<string> => {
    const reply = await fixture.api('GET', `/repos/ada/${name}/backup`);
    expect(reply.status).toBe(200);
    return Buffer.from(await reply.arrayBuffer()).toString('latin1');
  };
  const loadOwn = async (name: string): Promise<string> => {
    const path = gitMovingApi.save.path.replace(':owner', 'ada').replace(':name', name);
    const reply = await fetch(`${fixture.host.url('control')}${path}`, {
      headers: { authorization: adminAuthorization },
    });
    expect(reply.status).toBe(200);
    return Buffer.from(await reply.arrayBuffer()).toString('latin1');
  };
  await fixture.create('lamp', { auto_init: true });
  const [first, ...others] = await Promise.all([load('lamp'), load('lamp'), loadOwn('lamp'), load('lamp')]);
  expect(listFiles().length).toBe(1);
  // The record contains the time of the backup.
  clock.advance(1000);
  for (const other of [...others, await load('lamp'), await loadOwn('lamp')]) expect(other === first).toBe(true);
  expect((await fixture.api('HEAD', '/repos/ada/lamp/backup')).status).toBe(200);
  const [folder] = listFiles();

  // The next backup contains all acknowledged changes of the tables and of git.
  await fixture.api('POST', '/repos/ada/lamp/issues', { title: 'It flickers' });
  expect(await load('lamp')).toContain('It flickers');
  await fixture.api('POST', '/repos/ada/lamp/branches', { new_branch_name: 'later' });
  expect(await load('lamp')).toContain('refs/heads/later');
  await expect.poll(listFiles).toEqual([expect.not.stringMatching(`^${folder}$`)]);
  clock.advance(60_000);
  await expect.poll(listFiles).toEqual([]);

  for (let number = 0; number < 10; number += 1) {
    await fixture.create(`r${number}`);
    await load(`r${number}`);
  }
  await expect.poll(() => listFiles().length).toBe(8);
  clock.advance(60_000);
  await expect.poll(listFiles).toEqual([]);
});
