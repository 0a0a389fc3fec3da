import * as gitProblems from '#messages/git-problems';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { adminAuthorization } from '../../support/host.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';

/** Base64 of incompressible bytes. */
const large = randomBytes(3 << 20).toString('base64');

let fixture: GitFixture;
beforeAll(async () => {
  fixture = await openGitFixture();
  await fixture.create('lamp');
  const cwd = await fixture.work('lamp', { 'README.md': '# Lamp\n', 'large.txt': large });
  await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/lamp.git`, 'main'], { cwd });
});
afterAll(() => fixture[Symbol.asyncDispose]());

/** Mounts a disk of 1 MiB at the folder while the callback runs. Returns false if the account may not mount. */
async function onSmallDisk(path: string, happens: () => Promise<void>): Promise<boolean> {
  mkdirSync(path, { recursive: true });
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', path]).status !== 0) return false;
  try {
    await happens();
    expect(readdirSync(path)).toEqual([]);
  } finally {
    spawnSync('umount', ['-l', path]);
  }
  return true;
}

const portable = (): string => join(fixture.host.dataDir, 'git', 'portable');
const headers = { authorization: adminAuthorization };
const full = gitProblems.diskFull();

it('reports a full disk when a backup or a source archive is created', async ({ skip }) => {
  const response = await fixture.api('POST', '/repos/ada/lamp/releases', { tag_name: 'v1', name: 'One' });
  const { id } = (await response.json()) as { id: number };
  const source = `${fixture.host.url('control')}/api/git/repositories/ada/lamp/releases/${String(id)}/source/tar`;
  const didRun = await onSmallDisk(portable(), async () => {
    const refused = await fetch(source, { headers });
    expect([refused.status, await refused.text()]).toEqual([507, expect.stringContaining(full)]);
    const backup = await fixture.api('GET', '/repos/ada/lamp/backup');
    expect([backup.status, await backup.text()]).toEqual([507, expect.stringContaining(full)]);
  });
  if (!didRun) skip('This account may not mount a small disk.');
  expect((await fetch(source, { headers })).status).toBe(200);
});

it('reports a full disk instead of a damaged backup during a restore', async ({ skip }) => {
  const file = new Uint8Array(await (await fixture.api('GET', '/repos/ada/lamp/backup')).arrayBuffer());
  const restore = (): Promise<Response> =>
    fetch(`${fixture.url}/api/v1/repos/restore?name=again`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/x-tar' },
      body: file,
    });
  const didRun = await onSmallDisk(portable(), async () => {
    const refused = await restore();
    expect([refused.status, await refused.text()]).toEqual([507, expect.stringContaining(full)]);
  });
  if (!didRun) skip('This account may not mount a small disk.');
  expect((await restore()).status).toBe(201);
});
