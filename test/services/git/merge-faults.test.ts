import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { admin, adminAuthorization } from '../../support/host.ts';
import { startHostProcess, type HostProcess } from '../../support/host-process.ts';
import { openGitFixture } from './git-fixture.ts';

const gitHost = Object.fromEntries(
  ['DOWNLOADS', 'NOTIFY', 'PUSH', 'MAIL', 'INBOX'].map((id) => [`HOMEPORT_ENABLED_${id}`, 'false']),
);

function getRepositoryFolder(dataDir: string): string {
  const root = join(dataDir, 'git', 'repositories');
  const [path = ''] = readdirSync(root).flatMap((part) =>
    readdirSync(join(root, part)).map((name) => join(root, part, name)),
  );
  return path;
}

describe('a merge during which the host ends', () => {
  it('is recorded completely if git had moved the branch, and otherwise not at all', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'homeport-git-data-'));
    try {
      {
        await using fixture = await openGitFixture({ dataDir });
        await fixture.create('demo');
        const cwd = await fixture.work('demo');
        for (const name of ['one', 'two'])
          await fixture.run(
            'sh',
            ['-c', `git checkout -q -b ${name} main && echo ${name} > ${name} && git add . && git commit -qm ${name}`],
            { cwd },
          );
        await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/demo.git`, '--all'], { cwd });
        await fixture.api('POST', '/repos/ada/demo/issues', { title: 'Open' });
        for (const head of ['one', 'two']) {
          const response = await fixture.api('POST', '/repos/ada/demo/pulls', {
            title: head,
            head,
            base: 'main',
            body: 'fixes #1',
          });
          expect(response.status).toBe(201);
        }
      }
      const folder = getRepositoryFolder(dataDir);
      await using clients = await openGitFixture();
      const resolveId = async (ref: string) => (await clients.git(['rev-parse', ref], { cwd: folder })).stdout.trim();
      const [main, one, two] = [await resolveId('main'), await resolveId('one'), await resolveId('two')];
      // Simulates a host that was killed after git had moved main for the first merge, and before the second.
      const database = new Database(join(dataDir, 'git', 'db.sqlite'));
      const issues = database.prepare('select id, repository_id from issues where pull = 1 order by number').all() as {
        id: number;
        repository_id: number;
      }[];
      for (const [phase, [before, after]] of [
        [main, one],
        [one, two],
      ].entries()) {
        const commands = JSON.stringify([{ ref: 'refs/heads/main', before, after }]);
        database
          .prepare('insert into pushes (id, repository_id, account, commands, begun_at) values (?, ?, ?, ?, ?)')
          .run(`p${phase}`, issues[phase]?.repository_id, 'ada', commands, 1);
        database
          .prepare('insert into pull_merges values (?, ?, ?, ?)')
          .run(`p${phase}`, issues[phase]?.id, 'ada', after);
      }
      // The reference of the pull request must still be written.
      database.prepare('update pulls set ref_due = 1 where issue_id = ?').run(issues[1]?.id);
      database.close();
      await clients.git(['update-ref', 'refs/heads/main', one ?? ''], { cwd: folder });
      await clients.git(['update-ref', '-d', 'refs/pull/3/head'], { cwd: folder });

      await using fixture = await openGitFixture({ dataDir });
      const pull = async (number: number) => (await fixture.api('GET', `/repos/ada/demo/pulls/${number}`)).json();
      expect(await pull(2)).toMatchObject({
        merged: true,
        state: 'closed',
        merge_commit_sha: one,
        merged_by: { login: 'ada' },
      });
      expect(await pull(3)).toMatchObject({ merged: false, state: 'open', mergeable: true });
      expect(await (await fixture.api('GET', '/repos/ada/demo/issues/1')).json()).toMatchObject({ state: 'closed' });
      expect(await resolveId('refs/pull/3/head')).toBe(two);
      expect((await fixture.api('POST', '/repos/ada/demo/pulls/3/merge', { Do: 'merge' })).status).toBe(200);
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  it('leaves the state before or after the merge if it is killed, and succeeds when repeated', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'homeport-git-data-'));
    await using fixture = await openGitFixture();
    let host: HostProcess | undefined;
    try {
      host = await startHostProcess(dataDir, { environment: gitHost });
      const api = (method: string, path: string, body?: unknown) =>
        fetch(`${host?.url('git') ?? ''}/api/v1${path}`, {
          method,
          headers: { authorization: adminAuthorization },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
      const remote = `${host.url('git').replace('://', `://${admin.name}:${encodeURIComponent(admin.password)}@`)}/ada/demo.git`;
      expect((await api('POST', '/user/repos', { name: 'demo' })).status).toBe(201);
      const cwd = await fixture.work('demo');
      await fixture.run(
        'sh',
        [
          '-c',
          [
            'git checkout -q -b dev && echo n > n && git add . && git commit -qm dev',
            'git checkout -q main && echo m > m && git add . && git commit -qm main',
          ].join(' && '),
        ],
        { cwd },
      );
      await fixture.git(['push', '-q', remote, '--all'], { cwd });
      expect((await api('POST', '/repos/ada/demo/pulls', { title: 'Dev', head: 'dev', base: 'main' })).status).toBe(
        201,
      );
      const areas = join(dataDir, 'git', 'merges');
      const merging = api('POST', '/repos/ada/demo/pulls/1/merge', { Do: 'merge' }).then(
        ({ status }) => status,
        () => 0,
      );
      let over = false;
      void merging.then(() => (over = true));
      const isMerging = (): boolean => {
        try {
          return readdirSync(areas).length > 0;
        } catch {
          return false; // The merge has not happened yet.
        }
      };
      while (!over && !isMerging()) await new Promise(setImmediate);
      await host.kill();
      const answered = await merging;
      host = await startHostProcess(dataDir, { environment: gitHost });
      const folder = getRepositoryFolder(dataDir);
      expect((await fixture.git(['fsck', '--strict'], { cwd: folder })).code).toBe(0);
      const pull = (await (await api('GET', '/repos/ada/demo/pulls/1')).json()) as {
        merged: boolean;
        merge_commit_sha: string | null;
      };
      const main = (await fixture.git(['rev-parse', 'main'], { cwd: folder })).stdout.trim();
      const before = (await fixture.git(['rev-parse', 'main'], { cwd })).stdout.trim();
      expect(pull.merged ? pull.merge_commit_sha : before).toBe(main);
      if (answered === 200) expect(pull.merged).toBe(true);
      expect(isMerging()).toBe(false);
      expect((await api('POST', '/repos/ada/demo/pulls/1/merge', { Do: 'merge' })).status).toBe(
        pull.merged ? 405 : 200,
      );
    } finally {
      await host?.stop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});
