import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { admin, adminAuthorization } from '../../support/host.ts';
import { startHostProcess, type HostProcess } from '../../support/host-process.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';

const zeros = '0'.repeat(40);
const line = (text: string): string => (Buffer.byteLength(text) + 4).toString(16).padStart(4, '0') + text;

function getRepositoryFolder(dataDir: string): string {
  const root = join(dataDir, 'git', 'repositories');
  const [path = ''] = readdirSync(root).flatMap((part) =>
    readdirSync(join(root, part)).map((name) => join(root, part, name)),
  );
  return path;
}

describe('a failing push', () => {
  it('is rejected without changes for a damaged pack, invalid names or a malformed request', async () => {
    await using fixture = await openGitFixture();
    await fixture.create('demo');
    const cwd = await fixture.work('demo');
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/demo.git`, 'main'], { cwd });
    const head = (await fixture.git(['rev-parse', 'HEAD'], { cwd })).stdout.trim();
    const push = async (command: string, rest: string | Uint8Array) => {
      const body = Buffer.concat([
        Buffer.from(line(`${command}\0 report-status`) + '0000'),
        Buffer.from(rest as string),
      ]);
      const reply = await fetch(`${fixture.url}/ada/demo.git/git-receive-pack`, {
        method: 'POST',
        headers: { authorization: adminAuthorization, 'content-type': 'application/x-git-receive-pack-request' },
        body,
      });
      return { status: reply.status, text: await reply.text() };
    };
    const broken = await push(`${head} ${'1'.repeat(40)} refs/heads/main`, 'PACK\0\0\0\u0002\0\0\0\u0001garbage');
    expect(broken.text).toContain('ng refs/heads/main');
    const cut = await push(`${head} ${'1'.repeat(40)} refs/heads/main`, 'PACK');
    expect(cut.text).not.toContain('ok refs/heads/main');
    for (const ref of [
      'refs/heads/../../../hooks/x',
      'refs/heads/a..b',
      '--all',
      'HEAD',
      'refs/heads/x.lock',
      'refs/heads/a b',
    ]) {
      expect([ref, (await push(`${zeros} ${head} ${ref}`, '')).status]).toEqual([ref, 400]);
    }
    const { stdout } = await fixture.git(['ls-remote', `${fixture.signedUrl}/ada/demo.git`]);
    expect(stdout).toBe(`${head}\tHEAD\n${head}\trefs/heads/main\n`);
    expect((await fixture.git(['fsck', '--strict'], { cwd: getRepositoryFolder(fixture.host.dataDir) })).code).toBe(0);
  });

  it('is recorded completely if the host ends after git changed the references', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'homeport-git-data-'));
    try {
      let id: number;
      let head: string;
      {
        await using fixture = await openGitFixture({ dataDir });
        ({ id } = await fixture.create('demo'));
        const cwd = await fixture.work('demo');
        await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/demo.git`, 'main'], { cwd });
        head = (await fixture.git(['rev-parse', 'HEAD'], { cwd })).stdout.trim();
        // Simulates a push in which git moved one of two references before it was killed with the host.
        for (const name of ['cut', 'odd'])
          await fixture.git(['update-ref', `refs/heads/${name}`, head], { cwd: getRepositoryFolder(dataDir) });
      }
      const database = new Database(join(dataDir, 'git', 'db.sqlite'));
      const commands = ['cut', 'never'].map((name) => ({ ref: `refs/heads/${name}`, before: zeros, after: head }));
      const insert = database.prepare(
        'insert into pushes (id, repository_id, account, commands, begun_at) values (?, ?, ?, ?, ?)',
      );
      // The push of a client that named a commit which never existed cannot be recovered and must not block others.
      const bogus = [{ ref: 'refs/heads/odd', before: '1'.repeat(40), after: head }];
      insert.run('p0', id, 'ada', JSON.stringify(bogus), 1);
      insert.run('p1', id, 'ada', JSON.stringify(commands), 1);
      database.close();
      await using fixture = await openGitFixture({ dataDir });
      expect(await (await fixture.api('GET', '/repos/ada/demo')).json()).toMatchObject({ branch_count: 3 });
      expect(fixture.host.log.some((text) => text.includes('push recovered') && text.includes('made=1'))).toBe(true);
      expect(fixture.host.log.filter((text) => text.includes('was dropped'))).toHaveLength(1);
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  it('leaves a consistent repository with all acknowledged commits if the host is killed', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'homeport-git-data-'));
    // Only clients run in this fixture; another host is killed.
    await using fixture: GitFixture = await openGitFixture();
    let host: HostProcess | undefined;
    try {
      const environment = Object.fromEntries(
        ['DOWNLOADS', 'NOTIFY', 'PUSH', 'MAIL', 'INBOX'].map((id) => [`HOMEPORT_ENABLED_${id}`, 'false']),
      );
      host = await startHostProcess(dataDir, { environment });
      const remote = (): string =>
        `${host?.url('git').replace('://', `://${admin.name}:${encodeURIComponent(admin.password)}@`) ?? ''}/ada/demo.git`;
      await fetch(`${host.url('git')}/api/v1/user/repos`, {
        method: 'POST',
        headers: { authorization: adminAuthorization },
        body: '{"name":"demo"}',
      });
      const cwd = await fixture.work('demo');
      await fixture.git(['push', '-q', remote(), 'main'], { cwd });
      await host.kill();
      host = await startHostProcess(dataDir, { environment });
      const folder = getRepositoryFolder(dataDir);
      expect((await fixture.git(['ls-remote', remote()])).stdout).toContain('refs/heads/main');

      await fixture.run('sh', ['-c', 'head -c 20000000 /dev/urandom > big && git add big && git commit -qm big'], {
        cwd,
      });
      const pushing = spawn('git', ['push', remote(), 'main'], {
        cwd,
        stdio: 'ignore',
        env: { ...process.env, HOME: fixture.folder },
      });
      const isArriving = (): boolean =>
        readdirSync(join(folder, 'objects')).some((name) => name.startsWith('tmp_objdir'));
      while (!isArriving() && pushing.exitCode === null) await new Promise(setImmediate);
      await host.kill();
      if (pushing.exitCode === null) await once(pushing, 'exit');
      host = await startHostProcess(dataDir, { environment });
      expect((await fixture.git(['fsck', '--strict'], { cwd: folder })).code).toBe(0);
      await fixture.git(['push', '-q', remote(), 'main'], { cwd });
      const remoteRefs = (await fixture.git(['ls-remote', remote(), 'refs/heads/main'])).stdout.slice(0, 40);
      expect(remoteRefs).toBe((await fixture.git(['rev-parse', 'HEAD'], { cwd })).stdout.trim());
      expect(existsSync(join(folder, 'refs', 'heads', 'main.lock'))).toBe(false);
    } finally {
      await host?.stop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});
