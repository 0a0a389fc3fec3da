import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { giteaApi } from 'gitea-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openGitFixture, type GitFixture } from './git-fixture.ts';

let fixture: GitFixture;
let token = '';

beforeAll(async () => {
  fixture = await openGitFixture();
  const response = await fixture.api('POST', '/users/ada/tokens', { name: 'all', scopes: ['all'] });
  token = ((await response.json()) as { sha1: string }).sha1;
});
afterAll(() => fixture[Symbol.asyncDispose]());

const json = async (method: string, path: string, body?: unknown, authorization?: string): Promise<any> => {
  const reply = await fixture.api(method, path, body, authorization);
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
  const text = await reply.text();
  return text === '' ? undefined : JSON.parse(text);
};
const base = Array.from({ length: 12 }, (_, index) => `line ${index + 1}`).join('\n') + '\n';

/** Creates a repository with `main` and branches that each change a file. */
async function project(name: string, branches: Record<string, Record<string, string>>): Promise<string> {
  await fixture.create(name);
  const cwd = await fixture.work(name, { 'a.txt': base });
  for (const [branch, files] of Object.entries(branches)) {
    await fixture.git(['checkout', '-q', '-b', branch, 'main'], { cwd });
    for (const [path, text] of Object.entries(files)) {
      writeFileSync(join(cwd, path), text);
      await fixture.git(['add', '.'], { cwd });
      await fixture.git(['commit', '-qm', `${branch}: ${path}`], { cwd });
    }
  }
  await fixture.git(['checkout', '-q', 'main'], { cwd });
  await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/${name}.git`, '--all'], { cwd });
  return cwd;
}
const commit = async (cwd: string, branch: string, path: string, text: string, message = `more on ${branch}`) => {
  await fixture.git(['checkout', '-q', branch], { cwd });
  writeFileSync(join(cwd, path), text);
  await fixture.git(['add', '.'], { cwd });
  await fixture.git(['commit', '-qm', message], { cwd });
};
const push = (cwd: string, name: string, ...refs: string[]) =>
  fixture.git(['push', '-q', `${fixture.signedUrl}/ada/${name}.git`, ...refs], { cwd });
const open = (name: string, head: string, overrides: Record<string, unknown> = {}) =>
  json('POST', `/repos/ada/${name}/pulls`, { title: head, head, base: 'main', ...overrides });
const merge = (name: string, number: number, Do: string, overrides: Record<string, unknown> = {}) =>
  fixture.api('POST', `/repos/ada/${name}/pulls/${number}/merge`, { Do, ...overrides });
const log = async (name: string, format: string, ref = 'main') => {
  const cwd = join(fixture.folder, name);
  await fixture.git(
    ['fetch', '-q', `${fixture.signedUrl}/ada/${name}.git`, `+refs/heads/*:refs/remotes/origin/*`, '--prune'],
    { cwd },
  );
  return (await fixture.git(['log', `--format=${format}`, `origin/${ref}`], { cwd })).stdout.trim().split('\n');
};

describe('pull requests', () => {
  it('updates with the branch immediately, can be fetched and lists the changes', async () => {
    const cwd = await project('follow', { dev: { 'n.txt': 'one\n', 'm.txt': 'm\n' } });
    const { repos } = giteaApi(fixture.url, { token });
    const { data: response } = await repos.repoCreatePullRequest('ada', 'follow', {
      title: 'Dev',
      body: 'b',
      head: 'dev',
      base: 'main',
    });
    expect(response).toMatchObject({
      number: 1,
      mergeable: true,
      merged: false,
      additions: 2,
      changed_files: 2,
      draft: false,
    });
    await commit(cwd, 'dev', 'n.txt', 'one\ntwo\n');
    await push(cwd, 'follow', 'dev');
    const head = (await fixture.git(['rev-parse', 'dev'], { cwd })).stdout.trim();
    const { data: now } = await repos.repoGetPullRequest('ada', 'follow', 1);
    expect([now.head?.sha, now.additions]).toEqual([head, 3]);
    const { stdout } = await fixture.git(['ls-remote', `${fixture.signedUrl}/ada/follow.git`, 'refs/pull/*']);
    expect(stdout.trim()).toBe(`${head}\trefs/pull/1/head`);
    expect(
      (await repos.repoGetPullRequestFiles('ada', 'follow', 1)).data.map(({ filename, status }) => [filename, status]),
    ).toEqual([
      ['m.txt', 'added'],
      ['n.txt', 'added'],
    ]);
    expect((await repos.repoGetPullRequestCommits('ada', 'follow', 1)).data).toHaveLength(3);
    expect(await (await fixture.api('GET', '/repos/ada/follow/pulls/1.patch')).text()).toContain(
      'Subject: [PATCH 3/3] more on dev',
    );
    expect(await (await fetch(`${fixture.url}/ada/follow/pulls/1.diff`)).text()).toContain('+++ b/n.txt');
    expect((await repos.issueListIssues('ada', 'follow', { type: 'pulls' })).data.map(({ number }) => number)).toEqual([
      1,
    ]);
    const timeline = await json('GET', '/repos/ada/follow/issues/1/timeline');
    expect([timeline[0].type, JSON.parse(timeline[0].body)]).toEqual([
      'pull_push',
      { is_force_push: false, commit_ids: [head] },
    ]);
    // A deleted branch closes the pull request, whose data remains readable.
    await push(cwd, 'follow', ':dev');
    expect(await json('GET', '/repos/ada/follow/pulls/1')).toMatchObject({
      state: 'closed',
      merged: false,
      head: { sha: head },
    });
  });

  it.each(['merge', 'squash', 'rebase', 'rebase-merge'])('are merged by %s into an advanced base', async (style) => {
    const name = `style-${style}`;
    const cwd = await project(name, { dev: { 'n.txt': 'one\n', 'o.txt': 'o\n' } });
    await commit(cwd, 'main', 'a.txt', base.replace('line 1\n', 'LINE 1\n'), 'main goes on');
    await push(cwd, name, 'main');
    await open(name, 'dev', { title: 'The title', body: 'Closes #2' });
    await json('POST', `/repos/ada/${name}/issues`, { title: 'To be closed' });
    const reply = await merge(name, 1, style, { delete_branch_after_merge: true });
    expect([reply.status, await reply.text()]).toEqual([200, '']);
    const pull = await json('GET', `/repos/ada/${name}/pulls/1`);
    expect(pull).toMatchObject({ state: 'closed', merged: true, merged_by: { login: 'ada' }, changed_files: 2 });
    expect((await json('GET', `/repos/ada/${name}/issues/2`)).state).toBe('closed');
    expect((await json('GET', `/repos/ada/${name}/branches`)).map((branch: { name: string }) => branch.name)).toEqual([
      'main',
    ]);
    expect((await json('GET', `/repos/ada/${name}/branches/main`)).commit.id).toBe(pull.merge_commit_sha);
    const merged = `Merge pull request 'The title' (#1) from dev into main`;
    const subjects = {
      merge: [merged, 'main goes on', 'dev: o.txt', 'dev: n.txt', 'first commit'],
      squash: ['The title (#1)', 'main goes on', 'first commit'],
      rebase: ['dev: o.txt', 'dev: n.txt', 'main goes on', 'first commit'],
      'rebase-merge': [merged, 'dev: o.txt', 'dev: n.txt', 'main goes on', 'first commit'],
    }[style];
    expect((await log(name, '%s')).toSorted()).toEqual(subjects?.toSorted());
    // Replayed commits keep their author.
    if (style.startsWith('rebase'))
      expect((await log(name, '%an|%cn|%s')).find((line) => line.endsWith('o.txt'))).toBe('Ann|ada|dev: o.txt');
    if (style === 'squash')
      expect((await log(name, '%b')).join('\n')).toContain('Co-authored-by: Ann <ann@example.org>');
    await fixture.git(['checkout', '-q', 'origin/main'], { cwd });
    expect((await fixture.git(['ls-files'], { cwd })).stdout).toBe('a.txt\nn.txt\no.txt\n');
    expect((await fixture.git(['fsck', '--strict'], { cwd })).code).toBe(0);
    expect((await merge(name, 1, style)).status).toBe(405);
    // The merge commit is listed once.
    expect(
      (await json('GET', `/repos/ada/${name}/issues/1/timeline`)).map(({ type }: { type: string }) => type),
    ).toEqual(['merge_pull']);
  });

  it('lists files with conflicts and rejects the merge', async () => {
    const cwd = await project('conflict', {
      dev: { 'a.txt': base.replace('line 5', 'LINE FIVE') },
      draft: { 'd.txt': 'd' },
    });
    await commit(cwd, 'main', 'a.txt', base.replace('line 5', 'fifth line'), 'other');
    await push(cwd, 'conflict', 'main');
    const before = (await json('GET', '/repos/ada/conflict/branches/main')).commit.id;
    expect((await open('conflict', 'dev')).mergeable).toBe(false);
    for (const style of ['merge', 'squash', 'rebase', 'rebase-merge']) {
      const reply = await merge('conflict', 1, style);
      expect([style, reply.status, ((await reply.json()) as { message: string }).message]).toEqual([
        style,
        409,
        'Merge conflict: a.txt',
      ]);
    }
    expect((await merge('conflict', 1, 'fast-forward-only')).status).toBe(409);
    expect((await json('GET', '/repos/ada/conflict/branches/main')).commit.id).toBe(before);
    expect((await open('conflict', 'draft', { title: 'WIP: draft' })).draft).toBe(true);
    expect((await merge('conflict', 2, 'merge')).status).toBe(405);
    await json('PATCH', '/repos/ada/conflict/pulls/2', { title: 'Ready' });
    expect((await merge('conflict', 2, 'merge', { head_commit_id: 'f'.repeat(40) })).status).toBe(409);
    await json('PATCH', '/repos/ada/conflict', { allow_merge_commits: false });
    expect((await merge('conflict', 2, 'merge')).status).toBe(405);
    expect((await merge('conflict', 2, 'squash', { MergeTitleField: 'Own words' })).status).toBe(200);
    expect((await log('conflict', '%s'))[0]).toBe('Own words');
    // The conflict disappears immediately after the branch was changed to match the base.
    await fixture.git(['checkout', '-q', 'dev'], { cwd });
    await fixture.git(['merge', '-q', '-X', 'ours', 'main'], { cwd });
    await push(cwd, 'conflict', 'dev');
    expect((await json('GET', '/repos/ada/conflict/pulls/1')).mergeable).toBe(true);
  });

  it('are updated from the base branch and merged by fast-forward', async () => {
    const cwd = await project('update', { dev: { 'n.txt': 'n\n' }, other: { 'o.txt': 'o\n' } });
    await open('update', 'dev');
    await open('update', 'other');
    expect((await merge('update', 1, 'fast-forward-only')).status).toBe(200);
    expect((await log('update', '%s'))[0]).toBe('dev: n.txt');
    expect((await merge('update', 2, 'fast-forward-only')).status).toBe(409);
    expect((await fixture.api('POST', '/repos/ada/update/pulls/2/update?style=rebase')).status).toBe(200);
    expect(await log('update', '%s', 'other')).toEqual(['other: o.txt', 'dev: n.txt', 'first commit']);
    await commit(cwd, 'main', 'z.txt', 'z', 'z');
    await fixture.git(['reset', '-q', '--hard', 'origin/main'], { cwd });
    await commit(cwd, 'main', 'z.txt', 'z', 'z');
    await push(cwd, 'update', 'main');
    expect((await fixture.api('POST', '/repos/ada/update/pulls/2/update')).status).toBe(200);
    expect((await log('update', '%s', 'other'))[0]).toBe("Merge branch 'main' into other");
    expect((await merge('update', 2, 'fast-forward-only')).status).toBe(200);
  });

  it('are reviewed line by line, and not approved by their author', async () => {
    await project('review', { dev: { 'a.txt': base.replace('line 6', 'LINE 6') } });
    const bob = await fixture.account('bob', [{ service: 'git', resource: 'ada/review', permission: 'read-write' }]);
    await open('review', 'dev');
    const result = await json('POST', '/repos/ada/review/pulls/1/requested_reviewers', { reviewers: ['bob'] });
    expect(result[0]).toMatchObject({ state: 'REQUEST_REVIEW', user: { login: 'bob' } });
    expect((await json('GET', '/repos/ada/review/pulls/1')).requested_reviewers[0].login).toBe('bob');
    const path = '/repos/ada/review/pulls/1/reviews';
    const pending = await json(
      'POST',
      path,
      { comments: [{ path: 'a.txt', body: 'Why in capitals?', new_position: 6 }] },
      bob,
    );
    expect(pending.state).toBe('PENDING');
    // Pending reviews are hidden from other accounts.
    expect(await json('GET', path)).toEqual([]);
    expect(JSON.stringify(await json('GET', '/repos/ada/review/issues/1/timeline'))).not.toContain('capitals');
    const sent = await json('POST', `${path}/${pending.id}`, { event: 'REQUEST_CHANGES', body: 'Not so loud' }, bob);
    expect(sent).toMatchObject({ state: 'REQUEST_CHANGES', official: true, comments_count: 1, stale: false });
    const [line] = await json('GET', `${path}/${pending.id}/comments`);
    expect(line).toMatchObject({ path: 'a.txt', position: 6, original_position: 0, body: 'Why in capitals?' });
    expect(line.diff_hunk.split('\n').slice(1)).toEqual([' line 4', ' line 5', '-line 6', '+LINE 6']);
    expect((await json('GET', '/repos/ada/review/pulls/1')).requested_reviewers).toEqual([]);
    expect((await fixture.api('POST', path, { event: 'APPROVED' })).status).toBe(422);
    expect((await json('POST', path, { event: 'APPROVED' }, bob)).state).toBe('APPROVED');
    expect((await fixture.api('POST', path, { event: 'COMMENT', body: ' ' }, bob)).status).toBe(422);
  });

  it('updates the number of comments when a review is deleted', async () => {
    await project('recount', { dev: { 'a.txt': base.replace('line 6', 'LINE 6') } });
    const bob = await fixture.account('bert', [{ service: 'git', resource: 'ada/recount', permission: 'read-write' }]);
    await open('recount', 'dev');
    await json('POST', '/repos/ada/recount/issues/1/comments', { body: 'a comment' });
    const path = '/repos/ada/recount/pulls/1/reviews';
    const { id } = await json('POST', path, { event: 'COMMENT', body: 'a remark on all of it' }, bob);
    const counted = async (): Promise<number> => (await json('GET', '/repos/ada/recount/issues/1')).comments;
    expect(await counted()).toBe(2);
    expect((await fixture.api('DELETE', `${path}/${id}`, undefined, bob)).status).toBe(204);
    expect(await counted()).toBe(1);
  });

  it('closes issues that pull requests and commits to the default branch fix', async () => {
    const cwd = await project('fixes', {});
    for (const title of ['one', 'two', 'three']) await json('POST', '/repos/ada/fixes/issues', { title });
    await commit(cwd, 'main', 'b.txt', 'b', 'Mend it\n\nfixes #1, see #2 and `fixes #3`');
    await push(cwd, 'fixes', 'main');
    const states = async () =>
      (await json('GET', '/repos/ada/fixes/issues?state=all'))
        .map(({ state }: { state: string }) => state)
        .toReversed();
    expect(await states()).toEqual(['closed', 'open', 'open']);
    const [reference, close] = await json('GET', '/repos/ada/fixes/issues/1/timeline');
    expect([reference.type, close.type, reference.ref_commit_sha === close.ref_commit_sha]).toEqual([
      'commit_ref',
      'close',
      true,
    ]);
    expect((await json('GET', '/repos/ada/fixes/issues/2/timeline'))[0].type).toBe('commit_ref');
    await fixture.git(['checkout', '-q', '-b', 'aside'], { cwd });
    await commit(cwd, 'aside', 'c.txt', 'c', 'closes #2');
    await push(cwd, 'fixes', 'aside');
    expect(await states()).toEqual(['closed', 'open', 'open']);
    await push(cwd, 'fixes', 'aside:main');
    expect(await states()).toEqual(['closed', 'closed', 'open']);
  });

  it('works from forks and respects protected branches', async () => {
    await project('parent', {});
    const bob = await fixture.account('carla');
    const fork = await json('POST', '/repos/ada/parent/forks', { name: 'copy' }, bob);
    expect(fork.full_name).toBe('carla/copy');
    const cwd = join(fixture.folder, 'parent');
    const carlaUrl = fixture.url.replace('://', `://carla:${encodeURIComponent('a long password of carla')}@`);
    await commit(cwd, 'main', 'f.txt', 'f\n', 'From afar');
    await fixture.git(['push', '-q', `${carlaUrl}/carla/copy.git`, 'main:afar'], { cwd });
    const response = await json(
      'POST',
      '/repos/ada/parent/pulls',
      { title: 'Afar', head: 'carla:afar', base: 'main' },
      bob,
    );
    expect(response).toMatchObject({
      mergeable: true,
      changed_files: 1,
      head: { ref: 'afar', repo: { full_name: 'carla/copy' } },
    });
    await commit(cwd, 'main', 'g.txt', 'g\n', 'Further');
    await fixture.git(['push', '-q', `${carlaUrl}/carla/copy.git`, 'main:afar'], { cwd });
    expect((await json('GET', '/repos/ada/parent/pulls/1')).changed_files).toBe(2);
    const { stdout } = await fixture.git(['ls-remote', `${fixture.signedUrl}/ada/parent.git`, 'refs/pull/1/head']);
    expect(stdout.slice(0, 40)).toBe((await fixture.git(['rev-parse', 'main'], { cwd })).stdout.trim());
    // The author cannot merge.
    expect((await fixture.api('POST', '/repos/ada/parent/pulls/1/merge', { Do: 'merge' }, bob)).status).toBe(403);
    expect((await merge('parent', 1, 'merge')).status).toBe(200);
    expect((await log('parent', '%s'))[0]).toBe("Merge pull request 'Afar' (#1) from carla/copy:afar into main");
    // An unrelated repository cannot be the source of a pull request.
    await json('POST', '/user/repos', { name: 'stranger', auto_init: true }, bob);
    expect(
      (await fixture.api('POST', '/repos/ada/parent/pulls', { title: 'x', head: 'carla/stranger:main', base: 'main' }))
        .status,
    ).toBe(404);
    // A branch that is protected from deletion remains after the merge.
    await fixture.git(['checkout', '-q', '-b', 'kept', 'origin/main'], { cwd });
    await commit(cwd, 'kept', 'k.txt', 'k', 'Kept');
    await push(cwd, 'parent', 'kept');
    await json('POST', '/repos/ada/parent/branch_protections', { rule_name: 'kept' });
    await open('parent', 'kept');
    expect((await merge('parent', 2, 'merge', { delete_branch_after_merge: true })).status).toBe(200);
    expect((await json('GET', '/repos/ada/parent/branches')).map(({ name }: { name: string }) => name)).toEqual([
      'kept',
      'main',
    ]);
  });
});
