import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
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

describe('an organization', () => {
  it.each(['acme', 'ACME', 'ada', 'Bob', 'api', 'a b', '..'])(
    'rejects a name in use or invalid: %s',
    async (username) => {
      await status('POST', '/orgs', { username: 'acme' }, bob);
      expect(await status('POST', '/orgs', { username })).toBe(422);
    },
  );

  it('owns repositories that only their members may use', async () => {
    const { id } = await json('POST', '/orgs', { username: 'looms', full_name: 'Looms' }, bob);
    const response = await json('POST', '/orgs/looms/repos', { name: 'tool', private: true, auto_init: true }, bob);
    expect(response).toMatchObject({
      full_name: 'looms/tool',
      owner: { login: 'looms' },
      permissions: { admin: true },
    });
    const cleo = await fixture.account('cleo');
    expect(await status('GET', '/repos/looms/tool', undefined, cleo)).toBe(404);
    expect(await status('POST', '/orgs/looms/repos', { name: 'other' }, cleo)).toBe(403);
    expect(await status('PUT', `/teams/${id}/members/cleo`, undefined, cleo)).toBe(403);
    expect(await status('PUT', `/teams/${id}/members/cleo`, undefined, bob)).toBe(204);
    expect(await json('GET', '/user/repos', undefined, cleo)).toMatchObject([{ full_name: 'looms/tool' }]);
    expect(await json('GET', '/user/orgs', undefined, cleo)).toMatchObject([{ username: 'looms', full_name: 'Looms' }]);
    const remote = `${fixture.url.replace('://', `://cleo:${encodeURIComponent('a long password of cleo')}@`)}/looms/tool.git`;
    await fixture.git(['clone', '-q', remote, 'tool']);
    await fixture.git(['commit', '-q', '--allow-empty', '-m', 'two'], { cwd: join(fixture.folder, 'tool') });
    await fixture.git(['push', '-q', remote, 'main'], { cwd: join(fixture.folder, 'tool') });
  });

  it('loses members, but never the last one', async () => {
    const { id } = await json('POST', '/orgs', { username: 'guild' }, bob);
    await json('POST', '/orgs/guild/repos', { name: 'tool', private: true }, bob);
    const dan = await fixture.account('dan');
    await fixture.api('PUT', `/teams/${id}/members/dan`, undefined, bob);
    const members = await json('GET', '/orgs/guild/members', undefined, dan);
    expect(members.map(({ login }: any) => login)).toEqual(['bob', 'dan']);
    expect(await status('DELETE', '/orgs/guild/members/bob', undefined, bob)).toBe(204);
    expect(await status('GET', '/repos/guild/tool', undefined, bob)).toBe(404);
    expect(await status('DELETE', '/orgs/guild/members/dan', undefined, dan)).toBe(403);
  });

  it('transfers a repository to a member, and is deleted when it owns none', async () => {
    const fay = await fixture.account('fay');
    await json('POST', '/orgs', { username: 'union' }, fay);
    await json('POST', '/orgs/union/repos', { name: 'tool', private: true, auto_init: true }, fay);
    expect(await status('DELETE', '/orgs/union', undefined, fay)).toBe(409);
    expect((await json('POST', '/repos/union/tool/transfer', { new_owner: 'fay' }, fay)).full_name).toBe('fay/tool');
    expect((await fixture.api('GET', '/repos/union/tool', undefined, fay)).headers.get('location')).toBe(
      '/api/v1/repos/fay/tool',
    );
    // As in Gitea, a transfer to an account needs its acceptance; a transfer to an organization does not.
    expect(await status('POST', '/repos/fay/tool/transfer', { new_owner: 'bob' }, fay)).toBe(201);
    expect([await status('GET', '/repos/fay/tool'), await status('GET', '/repos/bob/tool')]).toEqual([200, 404]);
    await json('POST', '/orgs', { username: 'other' });
    expect(await status('POST', '/repos/fay/tool/transfer', { new_owner: 'other' }, fay)).toBe(403);
    expect(await status('DELETE', '/orgs/union', undefined, fay)).toBe(204);
    expect(await status('GET', '/orgs/union')).toBe(404);
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
  const bytes = randomBytes(300_000);

  /** Creates a repository with the draft of a release that has a file. */
  async function createDraft(name: string) {
    await fixture.create(name, { auto_init: true });
    const base = `/repos/ada/${name}/releases`;
    const draft = await json('POST', base, { tag_name: 'v2', draft: true, body: 'soon' });
    const form = new FormData();
    form.set('attachment', new Blob([bytes]), '../../tool.bin');
    const sent = await fetch(`${fixture.url}/api/v1${base}/${draft.id}/assets`, {
      method: 'POST',
      body: form,
      headers: { authorization: `Basic ${Buffer.from('ada:correct horse battery').toString('base64')}` },
    });
    const asset = (await sent.json()) as { id: number; name: string; browser_download_url: string };
    expect([sent.status, asset]).toMatchObject([201, { name: 'tool.bin', size: 300_000 }]);
    const publish = () => json('PATCH', `${base}/${draft.id}`, { draft: false, name: 'Two' });
    return { base, release: `${base}/${draft.id}`, asset, publish, tags: `/repos/ada/${name}/tags` };
  }

  it('shows a draft only to accounts with write access, and creates its tag when it is published', async () => {
    const { base, publish, release, tags } = await createDraft('draft');
    expect(await json('GET', base, undefined, bob)).toEqual([]);
    expect(await status('GET', release, undefined, bob)).toBe(404);
    expect(await json('GET', tags)).toEqual([]);
    expect(await publish()).toMatchObject({ draft: false, name: 'Two', body: 'soon' });
    expect(await json('GET', tags)).toMatchObject([{ name: 'v2' }]);
    expect(await json('GET', '/repos/ada/draft')).toMatchObject({ release_counter: 1 });
  });

  it('serves files to readers of the repository and counts the downloads', async () => {
    const { asset, base, publish } = await createDraft('files');
    await publish();
    const latest = await json('GET', `${base}/latest`, undefined, bob);
    expect(latest.assets).toMatchObject([{ name: 'tool.bin', download_count: 0 }]);
    for (const address of [asset.browser_download_url, latest.assets[0].browser_download_url]) {
      const archive = await fetch(address);
      expect(Buffer.from(await archive.arrayBuffer()).equals(bytes)).toBe(true);
    }
    expect((await json('GET', `${base}/tags/v2`)).assets[0].download_count).toBe(2);
    await json('PATCH', '/repos/ada/files', { private: true });
    expect((await fetch(asset.browser_download_url)).status).toBe(404);
  });

  it.each([
    ['an existing release', { tag_name: 'v2' }, 409],
    ['an invalid name', { tag_name: 'a..b' }, 422],
    ['an unknown commit', { tag_name: 'v9', target_commitish: 'nothing' }, 404],
  ])('rejects a release with the tag of %s', async (_reason, release, expected) => {
    const { base, publish } = await createDraft(`rejected-${expected}`);
    await publish();
    expect(await status('POST', base, release)).toBe(expected);
  });

  it('deletes its files, and leaves the tag', async () => {
    const folder = join(fixture.host.dataDir, 'git', 'release-assets');
    const files = () =>
      (existsSync(folder) ? (readdirSync(folder, { recursive: true }) as string[]) : []).filter((name) =>
        /-.*-/.test(name),
      ).length;
    const before = files();
    const { asset, publish, release, tags } = await createDraft('deleted');
    await publish();
    expect(files()).toBe(before + 1);
    expect(await status('DELETE', `${release}/assets/${asset.id}`)).toBe(204);
    expect(await status('DELETE', release)).toBe(204);
    expect(files()).toBe(before);
    expect(await json('GET', tags)).toMatchObject([{ name: 'v2' }]);
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
