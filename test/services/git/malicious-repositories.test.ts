import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openGitFixture, type GitFixture } from './git-fixture.ts';

let fixture: GitFixture;
let cwd = '';
let remote = '';
let head = '';
beforeAll(async () => {
  fixture = await openGitFixture();
  await fixture.create('demo');
  cwd = await fixture.work('demo');
  remote = `${fixture.signedUrl}/ada/demo.git`;
  await fixture.git(['push', '-q', remote, 'main'], { cwd });
  head = await resolveId('HEAD');
});
afterAll(() => fixture[Symbol.asyncDispose]());

const resolveId = async (name: string): Promise<string> =>
  (await fixture.git(['rev-parse', name], { cwd })).stdout.trim();
/** Creates a commit with these tree entries, which git would never create. */
const createCommit = async (tree: string): Promise<string> => {
  const { stdout } = await fixture.git(['mktree'], { cwd, input: tree });
  return (await fixture.git(['commit-tree', '-m', 'trick', stdout.trim()], { cwd })).stdout.trim();
};
const json = async (path: string): Promise<any> => (await fixture.api('GET', path)).json();

describe('file names that leave the work tree', () => {
  const tricks = [
    '.git',
    '.GIT',
    '..',
    '.',
    'git~1',
    'GIT~1',
    '.git ',
    '.git...',
    '.g\u200cit',
    '.git::$INDEX_ALLOCATION',
    'a\\..\\.git\\config',
  ];

  it('are rejected in pushes', async () => {
    const blob = await resolveId('HEAD:README.md');
    for (const [index, name] of tricks.entries()) {
      const commit = await createCommit(`100644 blob ${blob}\t${name}\n`);
      const push = await fixture.git(['push', remote, `${commit}:refs/heads/trick-${index}`], { cwd, mayFail: true });
      expect([name, push.code]).not.toEqual([name, 0]);
    }
    const links = await createCommit(`120000 blob ${blob}\t.gitmodules\n`);
    expect((await fixture.git(['push', remote, `${links}:refs/heads/trick`], { cwd, mayFail: true })).code).not.toBe(0);
    expect((await json('/repos/ada/demo/branches')).map(({ name }: any) => name)).toEqual(['main']);
  });

  it('are rejected by the API', async () => {
    for (const name of [...tricks, '.git/config', 'x/../y', '.GIT/hooks/update']) {
      const created = await fixture.api('POST', `/repos/ada/demo/contents/${encodeURIComponent(name)}`, {
        content: 'eA==',
      });
      // The client normalizes some of them to another address before it sends the request.
      expect([name, created.status]).toEqual([name, name === '..' ? 404 : 422]);
    }
    expect((await json('/repos/ada/demo/branches/main')).commit.id).toBe(head);
  });

  it('does not reject harmless unusual names', async () => {
    for (const name of ['...', '.gitignore', '.github', 'git', 'a b', 'ä:ö']) {
      const created = await fixture.api('POST', `/repos/ada/demo/contents/${encodeURIComponent(name)}`, {
        content: 'eA==',
        branch: 'main',
        new_branch: `odd-${Buffer.from(name).toString('hex')}`,
      });
      expect([name, created.status]).toEqual([name, 201]);
    }
  });
});

describe('replacement references', () => {
  it('does not replace the requested commit', async () => {
    await fixture.git(['commit', '-q', '--allow-empty', '-m', 'the other one'], { cwd });
    const other = await resolveId('HEAD');
    await fixture.git(['push', '-q', remote, `HEAD:refs/heads/${head}`, `HEAD:refs/replace/${head}`], { cwd });
    expect(await json(`/repos/ada/demo/git/commits/${head}`)).toMatchObject({
      sha: head,
      commit: { message: 'first commit\n\nbody\n' },
    });
    expect((await json('/repos/ada/demo/commits?sha=main'))[0]).toMatchObject({
      sha: head,
      commit: { message: 'first commit\n\nbody\n' },
    });
    expect((await json(`/repos/ada/demo/branches/${head}`)).commit.id).toBe(other);
  });

  it('rejects pushes to references of pull requests', async () => {
    const push = await fixture.git(['push', remote, 'HEAD:refs/pull/1/head'], { cwd, mayFail: true });
    expect(push.code).not.toBe(0);
    expect(push.stderr).toContain('deny');
  });
});

describe('hooks', () => {
  it('does not run hooks of the repository folder, and pushes cannot add hooks', async () => {
    const root = join(fixture.host.dataDir, 'git', 'repositories');
    const [folder = ''] = readdirSync(root).flatMap((part) =>
      readdirSync(join(root, part)).map((name) => join(root, part, name)),
    );
    const trap = join(fixture.folder, 'hook-ran');
    mkdirSync(join(folder, 'hooks'), { recursive: true });
    for (const name of [
      'pre-receive',
      'update',
      'post-receive',
      'post-update',
      'reference-transaction',
      'proc-receive',
    ]) {
      writeFileSync(join(folder, 'hooks', name), `#!/bin/sh\ntouch '${trap}'\n`);
      chmodSync(join(folder, 'hooks', name), 0o755);
    }
    await fixture.git(['commit', '-q', '--allow-empty', '-m', 'past the hooks'], { cwd });
    await fixture.git(['push', '-q', remote, 'HEAD:refs/heads/hooked'], { cwd });
    const files = await createCommit(`100755 blob ${await resolveId('HEAD:README.md')}\tupdate\n`);
    await fixture.git(['push', '-q', remote, `${files}:refs/heads/hooks`], { cwd });
    expect(existsSync(trap)).toBe(false);
  });
});

describe('a migration', () => {
  it('does not follow redirects', async () => {
    const requests: string[] = [];
    const target = createServer((request, response) => {
      requests.push(request.url ?? '');
      response.writeHead(404).end();
    }).listen(0, '127.0.0.1');
    await once(target, 'listening');
    const address = `http://127.0.0.1:${(target.address() as AddressInfo).port}`;
    const origin = createServer((request, response) => {
      response.writeHead(302, { location: `${address}${request.url ?? ''}` }).end();
    }).listen(0, '127.0.0.1');
    await once(origin, 'listening');
    const clone_addr = `http://127.0.0.1:${(origin.address() as AddressInfo).port}/x.git`;
    const reply = await fixture.api('POST', '/repos/migrate', { clone_addr, repo_name: 'sent-on' });
    for (const server of [origin, target]) server.close();
    expect([reply.status, requests]).toEqual([422, []]);
    expect((await fixture.api('GET', '/repos/ada/sent-on')).status).toBe(404);
  });
});
