import * as gitProblems from '#messages/git-problems';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { api } from '../../support/api.ts';
import { adminAuthorization } from '../../support/host.ts';
import { openGitFixture } from './git-fixture.ts';

it('reports a missing git and works after it was installed', async () => {
  await using fixture = await openGitFixture();
  const use = async (gitPath: string): Promise<void> => {
    const reply = await fetch(`${fixture.host.url('control')}/api/settings/git`, {
      method: 'PATCH',
      headers: { authorization: adminAuthorization, 'content-type': 'application/json' },
      body: JSON.stringify({ gitPath }),
    });
    expect(reply.status).toBe(200);
  };
  const program = (name: string, version: string): string => {
    const path = join(fixture.folder, name);
    writeFileSync(path, `#!/bin/sh\n[ "$1" = version ] && exec echo "git version ${version}"\nexec git "$@"\n`);
    chmodSync(path, 0o755);
    return path;
  };
  const health = async (): Promise<readonly unknown[]> => {
    const { services } = await api<{ services: Record<string, string>[] }>(
      fixture.host.url('control'),
      '/api/services',
    );
    const gitService = services.find(({ id }) => id === 'git');
    return [gitService?.['state'], gitService?.['reason'] ?? gitService?.['detail']];
  };

  await use(program('old-git', '2.37.9'));
  await expect.poll(health).toEqual(['degraded', gitProblems.gitTooOld({ version: '2.37.9', oldest: '2.38' })]);
  await use(join(fixture.folder, 'no-git'));
  await expect.poll(health).toEqual(['degraded', gitProblems.gitNotRunnable({ file: join(fixture.folder, 'no-git') })]);
  // Formats of version texts in distributions.
  for (const version of ['2.38.0', '2.50.1.windows.1', '3.0.0 (Apple Git-160)']) {
    await use(program(`git-${version.slice(0, 3)}`, version));
    await expect.poll(async () => (await health())[0]).toBe('up');
    const created = await fetch(`${fixture.host.url('control')}/api/git/repositories`, {
      method: 'POST',
      headers: { authorization: adminAuthorization, 'content-type': 'application/json' },
      body: JSON.stringify({
        name: `with-${version.slice(0, 1)}-${version.slice(2, 4)}`,
        description: '',
        private: false,
      }),
    });
    expect([version, created.status, await created.text()]).toEqual([version, 200, expect.stringContaining('with-')]);
  }
});
