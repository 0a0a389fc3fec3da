import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminAuthorization } from '../../support/host.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';

let fixture: GitFixture;
beforeAll(async () => {
  fixture = await openGitFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

describe('git over HTTP', () => {
  it('pushes to a new repository, clones it and shows the push in the API immediately', async () => {
    await fixture.create('demo');
    const cwd = await fixture.work('demo');
    const pushed = await fixture.git(['push', `${fixture.signedUrl}/ada/demo.git`, 'main'], { cwd });
    expect(pushed.stderr).toContain('main -> main');
    const repository = await (await fixture.api('GET', '/repos/ada/demo')).json();
    expect(repository).toMatchObject({ empty: false, default_branch: 'main', branch_count: 1 });
    await fixture.git(['clone', '-q', `${fixture.url}/ada/demo.git`, 'copy']);
    expect(readFileSync(join(fixture.folder, 'copy', 'README.md'), 'utf8')).toBe('# demo\n');
    // Clone without the suffix `.git` and with protocol version 0.
    await fixture.git(['-c', 'protocol.version=0', 'clone', '-q', `${fixture.url}/ADA/Demo`, 'copy0']);
  });

  it('makes the first pushed branch the default branch', async () => {
    await fixture.create('trunk');
    const cwd = await fixture.work('trunk-work');
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/trunk.git`, 'main:trunk'], { cwd });
    expect(await (await fixture.api('GET', '/repos/ada/trunk')).json()).toMatchObject({ default_branch: 'trunk' });
    await fixture.git(['clone', '-q', `${fixture.url}/ada/trunk.git`, 'trunk-copy']);
    expect((await fixture.git(['branch', '--show-current'], { cwd: join(fixture.folder, 'trunk-copy') })).stdout).toBe(
      'trunk\n',
    );
  });

  it('accepts chunked, forced and atomic pushes, tags, options and deletions', async () => {
    await fixture.create('wide');
    const cwd = await fixture.work('wide', { 'big.bin': randomBytes(3 * 1024 * 1024).toString('base64') });
    const remote = `${fixture.signedUrl}/ada/wide.git`;
    await fixture.git(['-c', 'http.postBuffer=65536', 'push', '-q', remote, 'main'], { cwd });
    await fixture.git(['tag', '-a', 'v1', '-m', 'one'], { cwd });
    await fixture.git(['branch', 'zweig/ümläut'], { cwd });
    await fixture.git(['push', '-q', '--atomic', '-o', 'repo.private=true', remote, 'v1', 'zweig/ümläut'], { cwd });
    expect(await (await fixture.api('GET', '/repos/ada/wide')).json()).toMatchObject({
      private: true,
      branch_count: 2,
    });
    await fixture.git(['commit', '-q', '--amend', '-m', 'other'], { cwd });
    const refused = await fixture.git(['push', remote, 'main'], { cwd, mayFail: true });
    expect(refused.code).not.toBe(0);
    await fixture.git(['push', '-q', '-f', remote, 'main'], { cwd });
    await fixture.git(['push', '-q', remote, ':zweig/ümläut', ':v1'], { cwd });
    const { stdout } = await fixture.git(['ls-remote', remote], { cwd });
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.split('\t')[1]),
    ).toEqual(['HEAD', 'refs/heads/main']);
  });

  it('serves shallow and partial clones, bare ids and long negotiations', async () => {
    await fixture.create('long');
    const cwd = await fixture.work('long');
    for (let offset = 0; offset < 40; offset += 1)
      await fixture.git(['commit', '-q', '--allow-empty', '-m', `c${offset}`], { cwd });
    const remote = `${fixture.signedUrl}/ada/long.git`;
    await fixture.git(['push', '-q', remote, 'main'], { cwd });
    await fixture.git(['clone', '-q', '--depth', '1', remote, 'shallow']);
    const shallow = join(fixture.folder, 'shallow');
    expect((await fixture.git(['rev-list', '--count', 'HEAD'], { cwd: shallow })).stdout).toBe('1\n');
    await fixture.git(['fetch', '-q', '--unshallow'], { cwd: shallow });
    expect((await fixture.git(['rev-list', '--count', 'HEAD'], { cwd: shallow })).stdout).toBe('41\n');
    await fixture.git(['clone', '-q', '--filter=blob:none', '--no-checkout', remote, 'partial']);
    const [first = ''] = (await fixture.git(['rev-list', '--max-parents=0', 'HEAD'], { cwd })).stdout.split('\n');
    await fixture.git(['init', '-q', 'bare-id']);
    await fixture.git(['fetch', '-q', remote, first], { cwd: join(fixture.folder, 'bare-id') });
    // Many `have` lines make the client compress its request.
    for (let offset = 0; offset < 40; offset += 1)
      await fixture.git(['commit', '-q', '--allow-empty', '-m', `d${offset}`], { cwd });
    writeFileSync(join(shallow, 'x'), 'x');
    await fixture.git(['add', '.'], { cwd: shallow });
    await fixture.git(['commit', '-qm', 'aside'], { cwd: shallow });
    await fixture.git(['push', '-q', remote, 'main'], { cwd });
    await fixture.git(['fetch', '-q', 'origin'], { cwd: shallow });
  });

  it('hides private repositories from other accounts', async () => {
    await fixture.create('secret', { private: true });
    const cwd = await fixture.work('secret');
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/secret.git`, 'main'], { cwd });
    const bob = await fixture.account('bob');
    for (const name of ['secret', 'nothing-here']) {
      const sendRequest = (authorization: string) =>
        fetch(`${fixture.url}/ada/${name}.git/info/refs?service=git-upload-pack`, {
          headers: authorization === '' ? {} : { authorization },
        });
      const anonymous = await sendRequest('');
      expect([anonymous.status, anonymous.headers.get('www-authenticate')]).toEqual([401, 'Basic realm="Gitea"']);
      expect((await sendRequest(bob)).status).toBe(404);
      expect((await fixture.api('GET', `/repos/ada/${name}`, undefined, bob)).status).toBe(404);
      expect((await fixture.api('GET', `/repos/ada/${name}`, undefined, '')).status).toBe(404);
    }
    const result = await (await fixture.api('GET', '/repos/search?q=secret', undefined, bob)).json();
    expect(result).toEqual({ ok: true, data: [] });
    // Public repositories are readable, but not writable.
    const push = await fetch(`${fixture.url}/ada/demo.git/info/refs?service=git-receive-pack`, {
      headers: { authorization: bob },
    });
    expect(push.status).toBe(403);
    const carol = await fixture.account('carol', [{ service: 'git', resource: 'ada/secret', permission: 'read' }]);
    expect((await fixture.api('GET', '/repos/ada/secret', undefined, carol)).status).toBe(200);
  });

  it('accepts tokens in every form and enforces their scopes', async () => {
    const response = await fixture.api('POST', '/users/ada/tokens', { name: 'reader', scopes: ['read:repository'] });
    const { sha1 } = (await response.json()) as { sha1: string };
    expect(sha1).toMatch(/^[0-9a-f]{40}$/);
    for (const user of [`ada:${sha1}`, `${sha1}:x-oauth-basic`, `oauth2:${sha1}`]) {
      await fixture.git(['ls-remote', `${fixture.url.replace('://', `://${user}@`)}/ada/secret.git`]);
    }
    for (const authorization of [`token ${sha1}`, `Bearer ${sha1}`]) {
      expect((await fixture.api('GET', '/repos/ada/secret', undefined, authorization)).status).toBe(200);
      expect((await fixture.api('POST', '/user/repos', { name: 'no' }, authorization)).status).toBe(403);
    }
    const cwd = await fixture.work('token-push');
    const refused = await fixture.git(
      ['push', `${fixture.url.replace('://', `://ada:${sha1}@`)}/ada/demo.git`, 'main:x'],
      {
        cwd,
        mayFail: true,
      },
    );
    expect(refused.stderr).toContain('403');
    expect((await fixture.api('DELETE', '/users/ada/tokens/reader')).status).toBe(204);
    expect((await fixture.api('GET', '/repos/ada/secret', undefined, `token ${sha1}`)).status).toBe(401);
  });

  it('rejects requests that are not git and names outside of the repository folder', async () => {
    const sendRequest = (path: string, init: RequestInit = {}) =>
      fetch(fixture.url + path, { ...init, headers: { authorization: adminAuthorization, ...init.headers } });
    expect(
      (
        await sendRequest('/ada/demo.git/git-upload-pack', {
          method: 'POST',
          body: '0000',
          headers: { 'content-type': 'text/plain' },
        })
      ).status,
    ).toBe(400);
    expect(
      (
        await sendRequest('/ada/demo.git/git-receive-pack', {
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
      expect((await sendRequest(path)).status).toBe(404);
    }
  });
});
