import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { giteaApi } from 'gitea-js';
import { notificationOffered, type NotificationOffer } from '../../../services/contracts/notify/notification.ts';
import { defineManifest, defineService } from '../../../services/contracts/service.ts';
import { z } from 'zod';
import { openGitFixture, type GitFixture } from './git-fixture.ts';

let fixture: GitFixture;
const offers: NotificationOffer[] = [];
/** Replaces the notification service. */
const listener = defineService({
  ...defineManifest({
    id: 'notify',
    title: 'Notify',
    summary: 'Hears of notices.',
    settings: z.object({}),
    environment: {},
    migrations: [],
  }),
  create: ({ handovers }) => ({
    start: async () => void handovers.receive(notificationOffered, async (offer) => void offers.push(offer)),
    health: async () => ({ state: 'up', detail: '' }),
    async [Symbol.asyncDispose]() {
      await Promise.resolve();
    },
  }),
});

beforeAll(async () => {
  fixture = await openGitFixture({ services: [listener], environment: { GIT_METRICS_TOKEN: 'scrape me' } });
});
afterAll(() => fixture[Symbol.asyncDispose]());

const json = async (method: string, path: string, body?: unknown): Promise<any> => {
  const reply = await fixture.api(method, path, body);
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
  return reply.json();
};

describe('the API of repositories', () => {
  it('works with gitea-js', async () => {
    const { sha1 } = await json('POST', '/users/ada/tokens', { name: 'js' });
    const client = giteaApi(fixture.url, { token: sha1, customFetch: fetch });
    expect((await client.version.getVersion()).data.version).toMatch(/^1\.\d+\.\d+\+homeport/);
    const { data: created } = await client.user.createCurrentUserRepo({ name: 'js', auto_init: true, private: true });
    expect(created).toMatchObject({ full_name: 'ada/js', empty: false, default_branch: 'main' });
    const { data: contents } = await client.repos.repoGetContents('ada', 'js', 'README.md');
    expect(Buffer.from(contents.content ?? '', 'base64').toString()).toBe('# js\n');
    const { data: changed } = await client.repos.repoUpdateFile('ada', 'js', 'README.md', {
      content: btoa('new\n'),
      sha: contents.sha ?? '',
      message: 'change',
    });
    expect(changed.commit?.message).toBe('change\n');
    const { data: commits } = await client.repos.repoGetAllCommits('ada', 'js');
    expect(commits.map((commit) => commit.commit?.message)).toEqual(['change\n', 'Initial commit\n']);
    expect(commits[0]?.author?.login).toBe('ada');
    const { data: branch } = await client.repos.repoCreateBranch('ada', 'js', { new_branch_name: 'feature/one' });
    expect(branch.name).toBe('feature/one');
    expect((await client.repos.repoGetBranch('ada', 'js', 'feature/one')).data.commit?.id).toBe(changed.commit?.sha);
    await client.repos.repoDeleteBranch('ada', 'js', 'feature/one');
    const { data: search } = await client.repos.repoSearch({ q: 'js' });
    expect(search.data?.map(({ name }) => name)).toEqual(['js']);
    await client.repos.repoDelete('ada', 'js');
    await expect(client.repos.repoGet('ada', 'js')).rejects.toMatchObject({ status: 404 });
  });

  it('writes several files in one commit, and serves trees, archives and diffs of them', async () => {
    await fixture.create('files');
    const content = (text: string) => Buffer.from(text).toString('base64');
    const result = await json('POST', '/repos/ada/files/contents', {
      message: 'all at once',
      files: [
        { operation: 'create', path: 'a.txt', content: content('a\n') },
        { operation: 'create', path: 'dir/ü b.txt', content: content('b\n') },
      ],
    });
    expect(result.files.map(({ path }: { path: string }) => path)).toEqual(['a.txt', 'dir/ü b.txt']);
    const sha = result.commit.sha as string;
    const tree = await json('GET', `/repos/ada/files/git/trees/${sha}?recursive=1`);
    expect(tree.tree.map(({ path }: { path: string }) => path)).toEqual(['a.txt', 'dir', 'dir/ü b.txt']);
    const raw = await fetch(`${fixture.url}/ada/files/raw/branch/main/dir/${encodeURIComponent('ü b.txt')}`);
    expect([raw.headers.get('content-type'), await raw.text()]).toEqual(['text/plain; charset=utf-8', 'b\n']);
    const archive = await fixture.api('GET', '/repos/ada/files/archive/main.tar.gz');
    expect(archive.headers.get('content-disposition')).toBe('attachment; filename=files-main.tar.gz');
    expect((await archive.arrayBuffer()).byteLength).toBeGreaterThan(100);
    const diff = await (await fixture.api('GET', `/repos/ada/files/git/commits/${sha}.diff`)).text();
    expect(diff).toContain('+++ b/a.txt');
    for (const path of ['../x', '.git/config', 'a/../../x', 'dir/.GIT/hooks/x']) {
      const reply = await fixture.api('POST', '/repos/ada/files/contents', {
        files: [{ operation: 'create', path, content: '' }],
      });
      expect([path, reply.status]).toEqual([path, 422]);
    }
    for (const ref of ['--upload-pack=x', '-x', 'a..b', 'main:a.txt', 'x\u0000y']) {
      const reply = await fixture.api('GET', `/repos/ada/files/commits?sha=${encodeURIComponent(ref)}`);
      expect([ref, reply.status]).toEqual([ref, 404]);
    }
  });

  it('shows an HTML file as text, and never as a page', async () => {
    await fixture.create('page');
    const html = '<script>alert(1)</script>';
    await json('POST', '/repos/ada/page/contents/x.html', { content: Buffer.from(html).toString('base64') });
    const raw = await fetch(`${fixture.url}/ada/page/raw/branch/main/x.html`);
    expect(raw.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(raw.headers.get('x-content-type-options')).toBe('nosniff');
    expect(raw.headers.get('content-security-policy')).toContain('sandbox');
    const rendered = await fixture.api('POST', '/markdown', { Text: `**x** ${html} [a](javascript:alert(1))` });
    expect(await rendered.text()).toBe(
      '<p dir="auto"><strong>x</strong> &lt;script&gt;alert(1)&lt;/script&gt; a</p>\n',
    );
  });

  it('renames a repository and redirects clients', async () => {
    await fixture.create('old');
    const cwd = await fixture.work('renamed');
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/old.git`, 'main'], { cwd });
    await json('PATCH', '/repos/ada/old', { name: 'new', description: 'moved', has_issues: false });
    expect(await json('GET', '/repos/ada/new')).toMatchObject({ name: 'new', description: 'moved', has_issues: false });
    const redirect = await fixture.api('GET', '/repos/ada/old');
    expect([redirect.status, redirect.headers.get('location')]).toEqual([301, '/api/v1/repos/ada/new']);
    await fixture.git(['clone', '-q', `${fixture.url}/ada/old.git`, 'by-old-name']);
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/old.git`, 'main:again'], { cwd });
    expect(await json('GET', '/repos/ada/new')).toMatchObject({ branch_count: 2 });
  });

  it('imports a remote repository, but no private addresses for accounts and no folders', async () => {
    const copied = await json('POST', '/repos/migrate', {
      clone_addr: `${fixture.url}/ada/new.git`,
      repo_name: 'copied',
      private: true,
    });
    expect(copied).toMatchObject({
      empty: false,
      private: true,
      branch_count: 2,
      original_url: `${fixture.url}/ada/new.git`,
    });
    const secondMigration = await fixture.api('POST', '/repos/migrate', {
      clone_addr: `${fixture.url}/ada/new.git`,
      repo_name: 'copied',
    });
    expect(secondMigration.status).toBe(409);
    const bob = await fixture.account('bob');
    for (const clone_addr of [
      `${fixture.url}/ada/new.git`,
      'http://169.254.169.254/x.git',
      'http://localhost:1/x',
      'git://127.0.0.1/x',
      '/etc',
      'file:///etc',
      'ext::sh -c touch% /tmp/x',
      '--upload-pack=x',
    ]) {
      const reply = await fixture.api('POST', '/repos/migrate', { clone_addr, repo_name: 'stolen' }, bob);
      expect([clone_addr, reply.status]).toEqual([clone_addr, 422]);
    }
    expect((await fixture.api('GET', '/repos/bob/stolen', undefined, bob)).status).toBe(404);
    // The password of the origin is not stored.
    let received: string | undefined;
    const server = createServer((request, response) => {
      received ??= request.headers.authorization;
      response
        .writeHead(request.headers.authorization === undefined ? 401 : 404, { 'www-authenticate': 'Basic realm="x"' })
        .end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const port = (server.address() as AddressInfo).port;
    const failed = await fixture.api('POST', '/repos/migrate', {
      clone_addr: `http://127.0.0.1:${port}/x.git`,
      repo_name: 'failed',
      auth_username: 'u',
      auth_password: "p'q$(id)",
    });
    server.close();
    expect(failed.status).toBe(422);
    expect(await failed.text()).not.toContain('$(id)');
    expect(Buffer.from(received?.split(' ')[1] ?? '', 'base64').toString()).toBe("u:p'q$(id)");
    expect(JSON.stringify(fixture.host.log)).not.toContain("p'q$(id)");
    expect((await fixture.api('GET', '/repos/ada/failed')).status).toBe(404);
  });

  it('sends a notification about a push to a selected branch', async () => {
    await fixture.create('told');
    const cwd = await fixture.work('told');
    offers.length = 0;
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/told.git`, 'main', 'main:other'], { cwd });
    await expect.poll(() => offers.length).toBe(1);
    expect(offers[0]?.notice).toMatchObject({ title: 'ada/told: main', tags: ['deployment'], source: 'git' });
    expect(offers[0]?.notice.body).toMatch(/^ada pushed 1 commit\n[0-9a-f]{7} first commit$/);
  });

  it('requires the token for the metrics', async () => {
    expect((await fetch(`${fixture.url}/metrics`)).status).toBe(401);
    expect((await fetch(`${fixture.url}/metrics`, { headers: { authorization: 'Bearer wrong' } })).status).toBe(401);
    const reply = await fetch(`${fixture.url}/metrics`, { headers: { authorization: 'Bearer scrape me' } });
    const text = await reply.text();
    for (const name of [
      'githost_repositories_total',
      'githost_users_total',
      'githost_http_request_duration_seconds_bucket',
      'githost_process_resident_memory_bytes',
      'gitea_repositories',
      'gitea_users{state="active"}',
    ]) {
      expect(text).toContain(`\n${name}`);
    }
  });
});
