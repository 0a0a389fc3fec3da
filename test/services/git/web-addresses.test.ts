import { writeFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findAppPage, splitTree } from '../../../services/contracts/git/web-addresses.ts';
import { adminAuthorization } from '../../support/host.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';
import { makeKey } from './ssh-key.ts';

let fixture: GitFixture;
let head = '';
let key = '';
beforeAll(async () => {
  fixture = await openGitFixture();
  await fixture.create('demo', { description: 'A <b>demo</b>' });
  await fixture.create('hidden', { private: true, auto_init: true });
  const cwd = await fixture.work('demo', {
    'README.md': '# The title\n<script>alert(1)</script>\n',
    'a.b.txt': 'one\ntwo\n',
  });
  mkdirSync(join(cwd, 'dir ü'));
  writeFileSync(join(cwd, 'dir ü', 'a#b?.txt'), 'odd name\n');
  await fixture.git(['add', '.'], { cwd });
  await fixture.git(['commit', '-qm', 'second commit'], { cwd });
  await fixture.git(['tag', 'v1.0'], { cwd });
  await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/demo.git`, 'main', 'main:feature/x', 'v1.0'], { cwd });
  await fixture.git(['commit', '-q', '--allow-empty', '-m', 'third commit'], { cwd });
  await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/demo.git`, 'main:topic'], { cwd });
  head = (await fixture.git(['rev-parse', 'v1.0'], { cwd })).stdout.trim();
  const response = [
    await fixture.api('POST', '/repos/ada/demo/issues', { title: 'An issue', body: 'Its **text**' }),
    await fixture.api('POST', '/repos/ada/demo/pulls', { title: 'A pull request', head: 'topic', base: 'main' }),
    await fixture.api('POST', '/repos/ada/demo/releases', { tag_name: 'v1.0', name: 'The release' }),
  ];
  expect(response.map(({ status }) => status)).toEqual([201, 201, 201]);
  key = (await makeKey(fixture, 'id_ada')).text;
  expect((await fixture.api('POST', '/user/keys', { title: 'k', key })).status).toBe(201);
});
afterAll(() => fixture[Symbol.asyncDispose]());

const open = (path: string, headers: Record<string, string> = { accept: 'text/html' }): Promise<Response> =>
  fetch(fixture.url + path, { redirect: 'manual', headers });

describe('an address of Gitea, for visitors of a public repository', () => {
  it.each([
    ['/ada/demo', 'The title'],
    ['/ada/demo/', 'The title'],
    ['/ada/demo.git', 'The title'],
    ['/ADA/Demo', 'The title'],
    ['/ada/demo/src/branch/main', 'a.b.txt'],
    ['/ada/demo/src/branch/feature/x', 'a.b.txt'],
    ['/ada/demo/src/branch/feature%2Fx/a.b.txt', 'id="L2"'],
    ['/ada/demo/src/branch/feature/x/a.b.txt', 'id="L2"'],
    ['/ada/demo/src/tag/v1.0/a.b.txt', 'id="L2"'],
    ['/ada/demo/src/main/a.b.txt', 'id="L2"'],
    ['/ada/demo/src/branch/main/dir%20%C3%BC/a%23b%3F.txt', 'odd name'],
    ['/ada/demo/blame/branch/main/a.b.txt', 'id="L2"'],
    ['/ada/demo/commits/branch/main', 'second commit'],
    ['/ada/demo/commits/branch/feature/x/a.b.txt', 'first commit'],
    ['/ada/demo/commits', 'second commit'],
    ['/ada/demo/issues', 'An issue'],
    ['/ada/demo/issues/1', 'Its <strong>text</strong>'],
    ['/ada/demo/pulls', 'A pull request'],
    ['/ada/demo/pulls/2', 'A pull request'],
    ['/ada/demo/pulls/2/files', 'A pull request'],
    ['/ada/demo/issues/2', 'A pull request'],
    ['/ada/demo/compare/main...topic', 'third commit'],
    ['/ada/demo/releases', 'The release'],
    ['/ada/demo/releases/tag/v1.0', 'The release'],
    ['/ada/demo/releases/latest', 'The release'],
    ['/ada/demo/tags', 'v1.0'],
    ['/ada/demo/branches', 'feature/x'],
    ['/ada/demo/activity', 'The title'],
    ['/ada', 'ada/demo'],
    ['/explore/repos', 'ada/demo'],
    ['/', 'ada/demo'],
  ])('shows the page: %s', async (path, text) => {
    for (const accept of ['text/html,application/xhtml+xml', '*/*']) {
      const reply = await open(path, { accept });
      const body = await reply.text();
      expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      expect(body).toContain(text);
      expect(body).toContain('<html lang="en">');
      expect(reply.headers.get('vary')).toContain('Accept-Language');
      expect(body.replace(/<script>\nif \(navigator\.clipboard.*?<\/script>/s, '')).not.toContain('<script');
      expect(reply.headers.get('content-security-policy')).toContain("default-src 'none'");
    }
  });

  it('has the language of the browser', async () => {
    const reply = await open('/ada/demo', { accept: 'text/html', 'accept-language': 'de' });
    expect(await reply.text()).toContain('<html lang="de">');
  });

  it('shows a commit', async () => {
    const body = await (await open(`/ada/demo/commit/${head}`)).text();
    expect(body).toContain('second commit');
    expect(await (await open(`/ada/demo/commit/${head}.diff`)).text()).toContain('+odd name');
    expect(await (await open(`/ada/demo/commit/${head}.patch`)).text()).toContain('Subject: [PATCH] second commit');
    expect(await (await open(`/ada/demo/src/commit/${head}/a.b.txt`)).text()).toContain('id="L2"');
  });

  it('shows nothing private', async () => {
    expect(await (await open('/ada')).text()).not.toContain('ada/hidden');
    for (const path of ['/ada/hidden', '/ada/none', '/nobody']) {
      const reply = await open(path, { accept: '*/*' });
      expect([path, reply.status]).toEqual([path, 404]);
    }
  });

  it.each([
    '/ada/demo/wiki',
    '/ada/demo/src/branch/none',
    '/ada/demo/issues/99',
    '/ada/demo/commit/0000000',
    '/ada/demo/projects',
  ])('reports that nothing is found: %s', async (path) => {
    expect((await open(path)).status).toBe(404);
  });
});

describe('a file of the latest release', () => {
  const download = (path: string): Promise<Response> => open(`/ada/demo/releases/${path}`, { accept: '*/*' });
  const upload = async (tag: string, content: string, overrides: object = {}): Promise<void> => {
    const existing = await fixture.api('GET', `/repos/ada/demo/releases/tags/${tag}`);
    const release = existing.ok
      ? existing
      : await fixture.api('POST', '/repos/ada/demo/releases', { tag_name: tag, ...overrides });
    const { id } = (await release.json()) as { id: number };
    const path = `/repos/ada/demo/releases/${String(id)}/assets?name=tool.bin`;
    expect((await fixture.api('POST', path, content)).status).toBe(201);
  };

  it('is downloaded without its tag', async () => {
    await upload('v1.0', 'one');
    await upload('v2.0-rc', 'candidate', { target_commitish: 'main', prerelease: true });
    for (const path of ['latest/download/tool.bin', 'download/latest/tool.bin', 'download/v1.0/tool.bin']) {
      const reply = await download(path);
      expect([path, reply.status, await reply.text()]).toEqual([path, 200, expect.stringContaining('one')]);
    }
    expect((await download('latest/download/none.bin')).status).toBe(404);
    expect((await open('/ada/hidden/releases/latest/download/tool.bin', { accept: '*/*' })).status).toBe(404);
  });
});

describe('an address at the root that is not an owner', () => {
  it.each([
    ...['/favicon.ico', '/robots.txt', '/manifest.json', '/.well-known/openid-configuration', '/.env'],
    ...['/ada.rss', '/ada.atom', '/ada.png', '/sitemap.xml'],
  ])('is not found instead of leading to the app: %s', async (path) => {
    for (const accept of ['text/html', '*/*']) expect((await open(path, { accept })).status).toBe(404);
  });
});

describe('an address of Gitea in a browser that uses the app', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['/ada/demo', '/git/repositories/ada~demo'],
    ['/ada/de.mo', '/git/repositories/ada~de.mo/'],
    ['/ada/demo/issues/1', '/git/repositories/ada~demo?show=issues&number=1'],
    ['/ada/demo/pulls/2/files', '/git/repositories/ada~demo?show=pulls&number=2&view=files'],
    ['/ada/demo/issues?state=closed', '/git/repositories/ada~demo?show=issues&state=closed'],
    ['/ada/demo/commit/abcdef0', '/git/repositories/ada~demo?commit=abcdef0'],
    ['/ada/demo/src/branch/feature/x/a.b.txt', '/git/repositories/ada~demo?tree=branch/feature/x/a.b.txt'],
    ['/ada/demo/commits/branch/main', '/git/repositories/ada~demo?tree=branch/main&show=commits'],
    ['/ada/demo/blame/tag/v1.0/a.txt', '/git/repositories/ada~demo?tree=tag/v1.0/a.txt&show=blame'],
    ['/ada/demo/compare/main...topic', '/git/repositories/ada~demo?show=commits&tree=any/topic'],
    ['/ada/demo/releases/tag/v1.0', '/git/repositories/ada~demo?show=releases'],
    ['/ada/demo/settings', '/git/repositories/ada~demo?show=settings'],
    ['/ada/demo/settings/hooks', '/git/repositories/ada~demo?show=settings'],
    ['/ada/hidden/milestone/3', '/git/repositories/ada~hidden?show=issues&milestone=3'],
    ['/user/login', '/git'],
    ['/user/settings/keys', '/git/keys'],
    ['/explore/repos', '/git/repositories'],
    ['/ada', '/git/repositories?owner=ada'],
    ['/Some.Org/', '/git/repositories?owner=Some.Org'],
    ['/', '/git'],
  ];

  it.each(cases)('redirects to the page of the app: %s', async (path, page) => {
    const reply = await open(path, { accept: 'text/html', cookie: 'a=b; homeport-app=1' });
    expect(reply.status).toBe(302);
    const location = new URL(reply.headers.get('location') ?? '');
    expect(location.origin).toBe(new URL(fixture.host.url('control')).origin);
    const query = decodeURIComponent(location.search);
    expect(decodeURIComponent(location.pathname) + query).toBe(page);
  });

  it('redirects to the app for content that is not public, whether it exists or not', async () => {
    for (const path of ['/ada/hidden/issues/1', '/ada/none/issues/1']) {
      const reply = await open(path);
      expect([reply.status, reply.headers.get('location')]).toEqual([302, expect.stringContaining('number=1')]);
    }
  });

  it('redirects callers with an account to the app', async () => {
    const reply = await open('/ada/demo', { accept: 'text/html', authorization: adminAuthorization });
    expect(reply.status).toBe(302);
  });

  it('splits revision and path by the existing names', () => {
    const names = { branches: ['main', 'feature/x', 'feature', 'v1'], tags: ['v1', 'v2/rc'] };
    expect(splitTree('branch/feature/x/a/b.txt', names)).toEqual({ ref: 'feature/x', path: 'a/b.txt' });
    expect(splitTree('branch/feature/y.txt', names)).toEqual({ ref: 'feature', path: 'y.txt' });
    expect(splitTree('tag/v1/a.txt', names)).toEqual({ ref: 'refs/tags/v1', path: 'a.txt' });
    expect(splitTree('any/v2/rc', names)).toEqual({ ref: 'v2/rc', path: '' });
    expect(splitTree('commit/abcdef0/a/b', names)).toEqual({ ref: 'abcdef0', path: 'a/b' });
  });

  it('rejects an address that cannot be decoded', () => {
    expect(findAppPage('/ada/%ff', new URLSearchParams())).toBeUndefined();
  });
});

describe('an address of a file', () => {
  it.each([
    '/ada/demo/raw/branch/main/a.b.txt',
    '/ada/demo/raw/branch/feature/x/a.b.txt',
    '/ada/demo/raw/tag/v1.0/a.b.txt',
    '/ada/demo/raw/main/a.b.txt',
    '/ada/demo/media/branch/main/a.b.txt',
    '/api/v1/repos/ada/demo/raw/a.b.txt',
    '/api/v1/repos/ada/demo/raw/a.b.txt?ref=feature/x',
    '/api/v1/repos/ada/demo/raw/main/a.b.txt',
    '/api/v1/repos/ada/demo/raw/feature/x/a.b.txt',
    '/api/v1/repos/ada/demo/raw/v1.0/a.b.txt',
    '/api/v1/repos/ada/demo/media/main/a.b.txt',
    '/api/v1/repos/ada/demo/media/feature/x/a.b.txt',
  ])('answers the file: %s', async (path) => {
    const reply = await open(path, {});
    expect([reply.status, await reply.text()]).toEqual([200, 'one\ntwo\n']);
  });

  it('returns an archive', async () => {
    for (const name of ['main.zip', 'v1.0.tar.gz', 'feature/x.zip']) {
      expect([name, (await open(`/ada/demo/archive/${name}`, {})).status]).toEqual([name, 200]);
    }
  });

  it('answers the public keys of an account', async () => {
    const reply = await open('/ada.keys', {});
    expect([reply.status, await reply.text()]).toEqual([200, `${key}\n`]);
    expect((await open('/ada.gpg', {})).status).toBe(200);
    expect((await open('/nobody.keys', {})).status).toBe(404);
  });
});
