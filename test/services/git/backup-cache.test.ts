import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { gitMovingApi } from '../../../services/contracts/git/moving-api.ts';
import { createFakeClock } from '../../support/clock.ts';
import { adminAuthorization } from '../../support/host.ts';
import { openGitRoom } from './git-fixture.ts';

it('a backup is made once for all who ask while nothing changed, and goes when it was sent', async () => {
  const clock = createFakeClock(Date.now());
  await using room = await openGitRoom({ clock });
  const place = join(room.host.dataDir, 'git', 'portable');
  const kept = (): readonly string[] => (existsSync(place) ? readdirSync(place) : []);
  const load = async (name: string): Promise<string> => {
    const reply = await room.api('GET', `/repos/ada/${name}/backup`);
    expect(reply.status).toBe(200);
    return Buffer.from(await reply.arrayBuffer()).toString('latin1');
  };
  const loadOwn = async (name: string): Promise<string> => {
    const path = gitMovingApi.save.path.replace(':owner', 'ada').replace(':name', name);
    const reply = await fetch(`${room.host.url('control')}${path}`, { headers: { authorization: adminAuthorization } });
    expect(reply.status).toBe(200);
    return Buffer.from(await reply.arrayBuffer()).toString('latin1');
  };
  await room.create('lamp', { auto_init: true });
  const [first, ...others] = await Promise.all([load('lamp'), load('lamp'), loadOwn('lamp'), load('lamp')]);
  expect(kept().length).toBe(1);
  // The time at which it was saved stands in it.
  clock.advance(1000);
  for (const other of [...others, await load('lamp'), await loadOwn('lamp')]) expect(other === first).toBe(true);
  expect((await room.api('HEAD', '/repos/ada/lamp/backup')).status).toBe(200);
  const [folder] = kept();

  // Whatever is acknowledged is in the next one: what the tables hold, and what Git does.
  await room.api('POST', '/repos/ada/lamp/issues', { title: 'It flickers' });
  expect(await load('lamp')).toContain('It flickers');
  await room.api('POST', '/repos/ada/lamp/branches', { new_branch_name: 'later' });
  expect(await load('lamp')).toContain('refs/heads/later');
  await expect.poll(kept).toEqual([expect.not.stringMatching(`^${folder}$`)]);
  clock.advance(60_000);
  await expect.poll(kept).toEqual([]);

  for (let number = 0; number < 10; number += 1) {
    await room.create(`r${number}`);
    await load(`r${number}`);
  }
  await expect.poll(() => kept().length).toBe(8);
  clock.advance(60_000);
  await expect.poll(kept).toEqual([]);
});
