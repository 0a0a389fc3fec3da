import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { restoreBackup } from '../../../main/host/backup/restore.ts';
import type { BackupFile } from '../../../services/contracts/control/backups.ts';
import { api } from '../../support/api.ts';
import { openGitFixture } from './git-fixture.ts';

it('restores a backup that was created during pushes completely and consistently with the tables', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-git-backup-'));
  try {
    let name: string;
    {
      await using fixture = await openGitFixture({ environment: { HOMEPORT_BACKUP_FOLDER: join(folder, 'backups') } });
      mkdirSync(join(folder, 'backups'), { recursive: true });
      await fixture.create('busy');
      await fixture.create('still', { auto_init: true });
      const cwd = await fixture.work('busy');
      const remote = `${fixture.signedUrl}/ada/busy.git`;
      let over = false;
      let pushes = 0;
      const pushing = (async () => {
        while (!over) {
          await fixture.git(['commit', '-q', '--allow-empty', '-m', `commit ${pushes}`], { cwd });
          await fixture.git(['push', '-q', remote, 'main', `main:branch-${pushes}`], { cwd });
          pushes += 1;
        }
      })();
      while (pushes < 2) await new Promise(setImmediate);
      ({ name } = await api<BackupFile>(fixture.host.url('control'), '/api/backups', { method: 'POST' }));
      over = true;
      await pushing;
    }
    const dataDir = join(folder, 'restored');
    mkdirSync(dataDir);
    await restoreBackup(dataDir, join(folder, 'backups', name), { force: false });
    await using fixture = await openGitFixture({ dataDir });
    const root = join(dataDir, 'git', 'repositories');
    const repositories = readdirSync(root).flatMap((part) =>
      readdirSync(join(root, part)).map((entry) => join(root, part, entry)),
    );
    expect(repositories.length).toBe(2);
    for (const cwd of repositories)
      expect((await fixture.git(['fsck', '--strict', '--connectivity-only'], { cwd })).code).toBe(0);
    const branches = (await fixture.git(['ls-remote', '--heads', `${fixture.url}/ada/busy.git`])).stdout
      .trim()
      .split('\n');
    expect(branches.length).toBeGreaterThan(2);
    expect(await (await fixture.api('GET', '/repos/ada/busy')).json()).toMatchObject({
      empty: false,
      branch_count: branches.length,
      default_branch: 'main',
    });
    await fixture.git(['clone', '-q', `${fixture.signedUrl}/ada/still.git`, 'still']);
    await fixture.git(['commit', '-q', '--allow-empty', '-m', 'after'], { cwd: join(fixture.folder, 'still') });
    await fixture.git(['push', '-q', 'origin', 'main'], { cwd: join(fixture.folder, 'still') });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
