import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminAuthorization } from '../../support/host.ts';
import { openGitRoom, type GitRoom } from './git-fixture.ts';

let room: GitRoom;
beforeAll(async () => {
  room = await openGitRoom();
});
afterAll(() => room[Symbol.asyncDispose]());

describe('git over HTTP', () => {
  it('pushes to a new repository, clones it and shows the push in the API immediately', async () => {
    await room.create('demo');
    const cwd = await room.work('demo');
    const pushed = await room.git(['push', `${room.signedUrl}/ada/demo.git`, 'main'], { cwd });
    expect(pushed.stderr).toContain('main -> main');
    const repository = await (await room.api('GET', '/repos/ada/demo')).json();
    expect(repository).toMatchObject({ empty: false, default_branch: 'main', branch_count: 1 });
    await room.git(['clone', '-q', `${room.url}/ada/demo.git`, 'copy']);
    expect(readFileSync(join(room.folder, 'copy', 'README.md'), 'utf8')).toBe('# demo\n');
    // Clone without the suffix `.git` and with protocol version 0.
    await room.git(['-c', 'protocol.version=0', 'clone', '-q', `${room.url}/ADA/Demo`, 'copy0']);
  });

  it('makes the first pushed branch the default branch', async () => {
    await room.create('trunk');
    const cwd = await room.work('trunk-work');
    await room.git(['push', '-q', `${room.signedUrl}/ada/trunk.git`, 'main:trunk'], { cwd });
    expect(await (await room.api('GET', '/repos/ada/trunk')).json()).toMatchObject({ default_branch: 'trunk' });
    await room.git(['clone', '-q', `${room.url}/ada/trunk.git`, 'trunk-copy']);
    expect((await room.git(['branch', '--show-current'], { cwd: join(room.folder, 'trunk-copy') })).stdout).toBe(
      'trunk\n',
    );
  });

  it('accepts chunked, forced and atomic pushes, tags, options and deletions', async () => {
    await room.create('wide');
    const cwd = await room.work('wide', { 'big.bin': randomBytes(3 * 1024 * 1024).toString('base64') });
    const remote = `${room.signedUrl}/ada/wide.git`;
    await room.git(['-c', 'http.postBuffer=65536', 'push', '-q', remote, 'main'], { cwd });
    await room.git(['tag', '-a', 'v1', '-m', 'one'], { cwd });
    await room.git(['branch', 'zweig/ümläut'], { cwd });
    await room.git(['push', '-q', '--atomic', '-o', 'repo.private=true', remote, 'v1', 'zweig/ümläut'], { cwd });
    expect(await (await room.api('GET', '/repos/ada/wide')).json()).toMatchObject({ private: true, branch_count: 2 });
    await room.git(['commit', '-q', '--amend', '-m', 'other'], { cwd });
    const refused = await room.git(['push', remote, 'main'], { cwd, mayFail: true });
    expect(refused.code).not.toBe(0);
    await room.git(['push', '-q', '-f', remote, 'main'], { cwd });
    await room.git(['push', '-q', remote, ':zweig/ümläut', ':v1'], { cwd });
    const { stdout } = await room.git(['ls-remote', remote], { cwd });
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.split('\t')[1]),
    ).toEqual(['HEAD', 'refs/heads/main']);
  });

  it('serves shallow and partial clones, bare ids and long negotiations', async () => {
    await room.create('long');
    const cwd = await room.work('long');
    for (let offset = 0; offset < 40; offset += 1)
      await room.git(['commit', '-q', '--allow-empty', '-m', `c${offset}`], { cwd });
    const remote = `${room.signedUrl}/ada/long.git`;
    await room.git(['push', '-q', remote, 'main'], { cwd });
    await room.git(['clone', '-q', '--depth', '1', remote, 'shallow']);
    const shallow = join(room.folder, 'shallow');
    expect((await room.git(['rev-list', '--count', 'HEAD'], { cwd: shallow })).stdout).toBe('1\n');
    await room.git(['fetch', '-q', '--unshallow'], { cwd: shallow });
    expect((await room.git(['rev-list', '--count', 'HEAD'], { cwd: shallow })).stdout).toBe('41\n');
    await room.git(['clone', '-q', '--filter=blob:none', '--no-checkout', remote, 'partial']);
    const [first = ''] = (await room.git(['rev-list', '--max-parents=0', 'HEAD'], { cwd })).stdout.split('\n');
    await room.git(['init', '-q', 'bare-id']);
    await room.git(['fetch', '-q', remote, first], { cwd: join(room.folder, 'bare-id') });
    // Many `have` lines make the client compress its request.
    for (let offset = 0; offset < 40; offset += 1)
      await room.git(['commit', '-q', '--allow-empty', '-m', `d${offset}`], { cwd });
    writeFileSync(join(shallow, 'x'), 'x');
    await room.git(['add', '.'], { cwd: shallow });
    await room.git(['commit', '-qm', 'aside'], { cwd: shallow });
    await room.git(['push', '-q', remote, 'main'], { cwd });
    await room.git(['fetch', '-q', 'origin'], { cwd: shallow });
  });

  it('hides private repositories from other accounts', async () => {
    await room.create('secret', { private: true });
    const cwd = await room.work('secret');
    await room.git(['push', '-q', `${room.signedUrl}/ada/secret.git`, 'main'], { cwd });
    const bob = await room.account('bob');
    for (const name of ['secret', 'nothing-here']) {
      const ask = (authorization: string) =>
        fetch(`${room.url}/ada/${name}.git/info/refs?service=git-upload-pack`, {
          headers: authorization === '' ? {} : { authorization },
        });
      const anonymous = await ask('');
      expect([anonymous.status, anonymous.headers.get('www-authenticate')]).toEqual([401, 'Basic realm="Gitea"']);
      expect((await ask(bob)).status).toBe(404);
      expect((await room.api('GET', `/repos/ada/${name}`, undefined, bob)).status).toBe(404);
      expect((await room.api('GET', `/repos/ada/${name}`, undefined, '')).status).toBe(404);
    }
    const result = await (await room.api('GET', '/repos/search?q=secret', undefined, bob)).json();
    expect(result).toEqual({ ok: true, data: [] });
    // Public repositories are readable, but not writable.
    const push = await fetch(`${room.url}/ada/demo.git/info/refs?service=git-receive-pack`, {
      headers: { authorization: bob },
    });
    expect(push.status).toBe(403);
    const carol = await room.account('carol', [{ service: 'git', resource: 'ada/secret', permission: 'read' }]);
    expect((await room.api('GET', '/repos/ada/secret', undefined, carol)).status).toBe(200);
  });

  it('accepts tokens in every form and enforces their scopes', async () => {
    const response = await room.api('POST', '/users/ada/tokens', { name: 'reader', scopes: ['read:repository'] });
    const { sha1 } = (await response.json()) as { sha1: string };
    expect(sha1).toMatch(/^[0-9a-f]{40}$/);
    for (const user of [`ada:${sha1}`, `${sha1}:x-oauth-basic`, `oauth2:${sha1}`]) {
      await room.git(['ls-remote', `${room.url.replace('://', `://${user}@`)}/ada/secret.git`]);
    }
    for (const authorization of [`token ${sha1}`, `Bearer ${sha1}`]) {
      expect((await room.api('GET', '/repos/ada/secret', undefined, authorization)).status).toBe(200);
      expect((await room.api('POST', '/user/repos', { name: 'no' }, authorization)).status).toBe(403);
    }
    const cwd = await room.work('token-push');
    const refused = await room.git(['push', `${room.url.replace('://', `://ada:${sha1}@`)}/ada/demo.git`, 'main:x'], {
      cwd,
      mayFail: true,
    });
    expect(refused.stderr).toContain('403');
    expect((await room.api('DELETE', '/users/ada/tokens/reader')).status).toBe(204);
    expect((await room.api('GET', '/repos/ada/secret', undefined, `token ${sha1}`)).status).toBe(401);
  });

  it('rejects requests that are not git and names outside of the repository folder', async () => {
    const ask = (path: string, init: RequestInit = {}) =>
      fetch(room.url + path, { ...init, headers: { authorization: adminAuthorization, ...init.headers } });
    expect(
      (
        await ask('/ada/demo.git/git-upload-pack', {
          method: 'POST',
          body: '0000',
          headers: { 'content-type': 'text/plain' },
        })
      ).status,
    ).toBe(400);
    expect(
      (
        await ask('/ada/demo.git/git-receive-pack', {
          method: 'POST',
          body: 'junk',
          headers: { 'content-type': 'application/x-git-receive-pack-request' },
        })
      ).status,
    ).toBe(400);
    for (const path of [
      '/ada/..%2f..%2fx.git/info/refs?service=git-upload-pack',
      '/%2e%2e/x.git/info/refs?service=git-upload-pack',
    ]) {
      expect((await ask(path)).status).toBe(404);
    }
  });
});
