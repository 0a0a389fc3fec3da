import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { api } from '../../support/api.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';

let fixture: GitFixture;
let bob = '';

beforeAll(async () => {
  fixture = await openGitFixture();
  bob = await fixture.account('bob');
});
afterAll(() => fixture[Symbol.asyncDispose]());

const status = async (method: string, path: string, body?: unknown, authorization?: string) =>
  (await fixture.api(method, path, body, authorization)).status;
const json = async (method: string, path: string, body?: unknown, authorization?: string): Promise<any> => {
  const reply = await fixture.api(method, path, body, authorization);
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
  return reply.json();
};

describe('organizations', () => {
  it('are created, own repositories and are administered by their members', async () => {
    const { id } = await json('POST', '/orgs', { username: 'acme', full_name: 'Acme' }, bob);
    for (const username of ['acme', 'ACME', 'ada', 'Bob', 'api', 'a b', '..']) {
      expect([username, await status('POST', '/orgs', { username })]).toEqual([username, 422]);
    }
    const response = await json('POST', '/orgs/acme/repos', { name: 'tool', private: true, auto_init: true }, bob);
    expect(response).toMatchObject({ full_name: 'acme/tool', owner: { login: 'acme' }, permissions: { admin: true } });
    const cleo = await fixture.account('cleo');
    expect(await status('GET', '/repos/acme/tool', undefined, cleo)).toBe(404);
    expect(await status('POST', '/orgs/acme/repos', { name: 'other' }, cleo)).toBe(403);
    expect(await status('PUT', `/teams/${id}/members/cleo`, undefined, cleo)).toBe(403);
    expect(await status('PUT', `/teams/${id}/members/cleo`, undefined, bob)).toBe(204);
    expect(await json('GET', '/user/repos', undefined, cleo)).toMatchObject([{ full_name: 'acme/tool' }]);
    expect(await json('GET', '/user/orgs', undefined, cleo)).toMatchObject([{ username: 'acme', full_name: 'Acme' }]);
    const remote = `${fixture.url.replace('://', `://cleo:${encodeURIComponent('a long password of cleo')}@`)}/acme/tool.git`;
    await fixture.git(['clone', '-q', remote, 'tool']);
    await fixture.git(['commit', '-q', '--allow-empty', '-m', 'two'], { cwd: join(fixture.folder, 'tool') });
    await fixture.git(['push', '-q', remote, 'main'], { cwd: join(fixture.folder, 'tool') });
    expect((await json('GET', '/orgs/acme/members', undefined, cleo)).map(({ login }: any) => login)).toEqual([
      'bob',
      'cleo',
    ]);
    expect(await status('DELETE', '/orgs/acme/members/bob', undefined, bob)).toBe(204);
    expect(await status('GET', '/repos/acme/tool', undefined, bob)).toBe(404);
    expect(await status('DELETE', '/orgs/acme/members/cleo', undefined, cleo)).toBe(403);
    expect(await status('DELETE', '/orgs/acme', undefined, cleo)).toBe(409);
    expect((await json('POST', '/repos/acme/tool/transfer', { new_owner: 'cleo' }, cleo)).full_name).toBe('cleo/tool');
    expect((await fixture.api('GET', '/repos/acme/tool', undefined, cleo)).headers.get('location')).toBe(
      '/api/v1/repos/cleo/tool',
    );
    // As in Gitea, a transfer to an account needs its acceptance; a transfer to an organization does not.
    expect(await status('POST', '/repos/cleo/tool/transfer', { new_owner: 'bob' }, cleo)).toBe(201);
    expect([await status('GET', '/repos/cleo/tool'), await status('GET', '/repos/bob/tool')]).toEqual([200, 404]);
    await json('POST', '/orgs', { username: 'other' });
    expect(await status('POST', '/repos/cleo/tool/transfer', { new_owner: 'other' }, cleo)).toBe(403);
    expect(await status('DELETE', '/orgs/acme', undefined, cleo)).toBe(204);
    expect(await status('GET', '/orgs/acme')).toBe(404);
  });
});

describe('forks and stars', () => {
  it('copies a repository with its large files and records its parent', async () => {
    await fixture.create('origin', { auto_init: true });
    const fork = await json('POST', '/repos/ada/origin/forks', {}, bob);
    expect(fork).toMatchObject({
      full_name: 'bob/origin',
      fork: true,
      empty: false,
      parent: { full_name: 'ada/origin' },
    });
    expect(await status('POST', '/repos/ada/origin/forks', {}, bob)).toBe(409);
    expect(await json('GET', '/repos/ada/origin')).toMatchObject({ forks_count: 1, fork: false });
    expect(await json('GET', '/repos/ada/origin/forks')).toMatchObject([{ full_name: 'bob/origin' }]);
    const contents = await json('GET', '/repos/bob/origin/contents/README.md');
    expect(Buffer.from(contents.content, 'base64').toString()).toContain('# origin');
    const result = await json('GET', '/repos/search?mode=fork');
    expect(result.data).toMatchObject([{ full_name: 'bob/origin' }]);
    // Forks of a repository that becomes private do not disclose it.
    await json('PATCH', '/repos/ada/origin', { private: true });
    expect(await json('GET', '/repos/bob/origin', undefined, bob)).not.toHaveProperty('parent');
    expect(await status('POST', '/repos/ada/origin/forks', { name: 'again' }, bob)).toBe(404);
  });

  it('are counted and listed', async () => {
    await fixture.create('liked');
    expect(await status('GET', '/user/starred/ada/liked', undefined, bob)).toBe(404);
    expect(await status('PUT', '/user/starred/ada/liked', undefined, bob)).toBe(204);
    expect(await json('GET', '/repos/ada/liked')).toMatchObject({ stars_count: 1 });
    expect(await json('GET', '/user/starred', undefined, bob)).toMatchObject([{ name: 'liked' }]);
    expect(await json('GET', '/repos/ada/liked/stargazers')).toMatchObject([{ login: 'bob' }]);
    expect(await status('DELETE', '/user/starred/ada/liked', undefined, bob)).toBe(204);
    expect(await json('GET', '/repos/ada/liked')).toMatchObject({ stars_count: 0 });
  });
});

describe('releases', () => {
  it('creates the tag, stores files and shows drafts to accounts with write access', async () => {
    await fixture.create('rel', { auto_init: true });
    const base = '/repos/ada/rel/releases';
    const draft = await json('POST', base, { tag_name: 'v2', draft: true, body: 'soon' });
    expect(await json('GET', base, undefined, bob)).toEqual([]);
    expect(await status('GET', `${base}/${draft.id}`, undefined, bob)).toBe(404);
    expect(await json('GET', '/repos/ada/rel/tags')).toEqual([]);
    const form = new FormData();
    const bytes = randomBytes(300_000);
    form.set('attachment', new Blob([bytes]), '../../tool.bin');
    const sent = await fetch(`${fixture.url}/api/v1${base}/${draft.id}/assets`, {
      method: 'POST',
      body: form,
      headers: { authorization: `Basic ${Buffer.from('ada:correct horse battery').toString('base64')}` },
    });
    expect(sent.status).toBe(201);
    const asset = (await sent.json()) as { id: number; name: string; browser_download_url: string };
    expect(asset).toMatchObject({ name: 'tool.bin', size: 300_000 });
    expect(await json('PATCH', `${base}/${draft.id}`, { draft: false, name: 'Two' })).toMatchObject({
      draft: false,
      name: 'Two',
      body: 'soon',
    });
    expect(await json('GET', '/repos/ada/rel/tags')).toMatchObject([{ name: 'v2' }]);
    expect(await json('GET', '/repos/ada/rel')).toMatchObject({ release_counter: 1 });
    const latest = await json('GET', `${base}/latest`, undefined, bob);
    expect(latest.assets).toMatchObject([{ name: 'tool.bin', download_count: 0 }]);
    for (const address of [asset.browser_download_url, latest.assets[0].browser_download_url]) {
      const archive = await fetch(address);
      expect(Buffer.from(await archive.arrayBuffer()).equals(bytes)).toBe(true);
    }
    expect((await json('GET', `${base}/tags/v2`)).assets[0].download_count).toBe(2);
    await json('PATCH', '/repos/ada/rel', { private: true });
    expect((await fetch(asset.browser_download_url)).status).toBe(404);
    expect(await status('POST', base, { tag_name: 'v2' })).toBe(409);
    expect(await status('POST', base, { tag_name: 'a..b' })).toBe(422);
    expect(await status('POST', base, { tag_name: 'v9', target_commitish: 'nothing' })).toBe(404);
    const files = () =>
      (readdirSync(join(fixture.host.dataDir, 'git', 'release-assets'), { recursive: true }) as string[]).filter(
        (name) => /-.*-/.test(name),
      );
    expect(files().length).toBe(1);
    expect(await status('DELETE', `${base}/${draft.id}/assets/${asset.id}`)).toBe(204);
    expect(await status('DELETE', `${base}/${draft.id}`)).toBe(204);
    expect(files()).toEqual([]);
    // The tag remains.
    expect(await json('GET', '/repos/ada/rel/tags')).toMatchObject([{ name: 'v2' }]);
  });
});

describe('the description of the API', () => {
  it('lists exactly the existing routes', async () => {
    const swagger = (await (await fetch(`${fixture.url}/swagger.v1.json`)).json()) as {
      paths: Record<string, Record<string, unknown>>;
    };
    const paths = Object.entries(swagger.paths);
    expect(paths.length).toBeGreaterThan(60);
    expect(swagger.paths['/repos/{owner}/{repo}/hooks']).toHaveProperty('post');
    expect(swagger.paths['/repos/{owner}/{repo}/actions/tasks']).toBeUndefined();
    for (const [path, methods] of paths) {
      if (methods['get'] === undefined) continue;
      const reply = await fixture.api('GET', path.replaceAll(/\{[a-z_]+\}/g, '0'), undefined, '');
      // The route exists: without an account it requires a sign-in or reports a missing object.
      expect([path, [200, 401, 404].includes(reply.status)]).toEqual([path, true]);
    }
  });

  it('returns annotated tags as objects', async () => {
    await fixture.create('tagged', { auto_init: true });
    const tag = await json('POST', '/repos/ada/tagged/tags', { tag_name: 'v1', message: 'one' });
    const tagObject = await json('GET', `/repos/ada/tagged/git/tags/${tag.id}`);
    expect(tagObject).toMatchObject({ tag: 'v1', message: 'one\n', object: { type: 'commit', sha: tag.commit.sha } });
    expect(await status('GET', `/repos/ada/tagged/git/tags/${tag.commit.sha}`)).toBe(404);
  });
});

it('deletes the files of a repository with it', async () => {
  await fixture.create('gone', { auto_init: true });
  const { id } = await json('POST', '/repos/ada/gone/releases', { tag_name: 'v1' });
  await fixture.api('POST', `/repos/ada/gone/releases/${id}/assets?name=a`, 'abc');
  const folder = join(fixture.host.dataDir, 'git', 'release-assets');
  const count = () => readdirSync(folder).flatMap((part) => readdirSync(join(folder, part))).length;
  const before = count();
  expect(await status('DELETE', '/repos/ada/gone')).toBe(204);
  expect(count()).toBe(before - 1);
});

it('changes only the given fields of a release in the app API', async () => {
  await fixture.create('shipped', { auto_init: true });
  const { id } = await json('POST', '/repos/ada/shipped/releases', {
    tag_name: 'v1',
    name: 'First light',
    body: 'It shines.',
    draft: true,
  });
  const change = { method: 'PATCH', body: JSON.stringify({ prerelease: true }) };
  const changed = await api(fixture.host.url('control'), `/api/git/repositories/ada/shipped/releases/${id}`, change);
  expect(changed).toMatchObject({ title: 'First light', text: 'It shines.', draft: true, prerelease: true });
});

it('rejects changes of references in an archived repository', async () => {
  await fixture.create('old', { auto_init: true });
  expect(await status('POST', '/repos/ada/old/branches', { new_branch_name: 'before' })).toBe(201);
  await fixture.api('PATCH', '/repos/ada/old', { archived: true });
  expect(await status('POST', '/repos/ada/old/branches', { new_branch_name: 'after' })).toBe(423);
  expect(await status('POST', '/repos/ada/old/tags', { tag_name: 'v1' })).toBe(423);
  expect(await status('DELETE', '/repos/ada/old/branches/before')).toBe(423);
});
