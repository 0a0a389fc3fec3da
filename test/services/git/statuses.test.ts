import { giteaApi } from 'gitea-js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openGitFixture, type GitFixture } from './git-fixture.ts';

let fixture: GitFixture;
let api: ReturnType<typeof giteaApi<unknown>>;
let bob = '';

beforeAll(async () => {
  fixture = await openGitFixture();
  bob = await fixture.account('bob');
  const response = await fixture.api('POST', '/users/ada/tokens', { name: 'all', scopes: ['all'] });
  api = giteaApi(fixture.url, { token: ((await response.json()) as { sha1: string }).sha1 });
  await fixture.create('lamp');
  const cwd = await fixture.work('lamp', {
    'main.ts': 'export const lamp = 1;\n',
    Makefile: 'all:\n',
    'README.md': '# lamp\n',
  });
  await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/lamp.git`, 'main', 'main:dev'], { cwd });
});
afterAll(() => fixture[Symbol.asyncDispose]());

it('returns each status of a commit and the combined status', async () => {
  const { repos } = api;
  const { data: branch } = await repos.repoGetBranch('ada', 'lamp', 'main');
  const sha = branch.commit?.id ?? '';
  expect((await repos.repoGetCombinedStatusByRef('ada', 'lamp', 'main')).data).toMatchObject({
    state: '',
    total_count: 0,
  });
  const status = {
    state: 'pending',
    context: 'ci/build',
    description: 'runs',
    target_url: 'https://ci.example.org/1',
  } as const;
  const { state: _state, ...shown } = status;
  const response = await repos.repoCreateStatus('ada', 'lamp', sha, status);
  expect([response.status, response.data]).toMatchObject([
    201,
    { ...shown, status: 'pending', creator: { login: 'ada' } },
  ]);
  await repos.repoCreateStatus('ada', 'lamp', sha, { ...status, state: 'success' });
  await repos.repoCreateStatus('ada', 'lamp', sha, { state: 'warning' });
  const { data: both } = await repos.repoGetCombinedStatusByRef('ada', 'lamp', 'main');
  expect(both).toMatchObject({ state: 'warning', sha, total_count: 2, repository: { full_name: 'ada/lamp' } });
  expect((await repos.repoListStatuses('ada', 'lamp', sha, { state: 'success' })).data).toHaveLength(1);
  expect((await repos.repoListStatusesByRef('ada', 'lamp', 'main')).data.map(({ context }) => context)).toEqual([
    'default',
    'ci/build',
    'ci/build',
  ]);
  const no = await fixture.api('POST', `/repos/ada/lamp/statuses/${sha}`, { state: 'success' }, bob);
  expect(no.status).toBe(403);
  expect((await fixture.api('POST', `/repos/ada/lamp/statuses/${sha}`, { state: 'fine' })).status).toBe(422);
  expect((await fixture.api('GET', '/repos/ada/lamp/commits/nowhere/status')).status).toBe(404);
});

it('renames a branch together with its pull requests', async () => {
  const { repos } = api;
  await repos.repoCreateFile('ada', 'lamp', 'n.txt', { content: 'bg==', branch: 'dev', message: 'n' });
  await repos.repoCreatePullRequest('ada', 'lamp', { title: 'Dev', head: 'dev', base: 'main' });
  expect((await repos.repoUpdateBranch('ada', 'lamp', 'dev', { name: 'develop' })).status).toBe(204);
  expect((await repos.repoUpdateBranch('ada', 'lamp', 'main', { name: 'trunk' })).status).toBe(204);
  expect((await repos.repoGet('ada', 'lamp')).data.default_branch).toBe('trunk');
  expect((await repos.repoListBranches('ada', 'lamp')).data.map(({ name }) => name)).toEqual(['develop', 'trunk']);
  const pull = (await repos.repoGetPullRequest('ada', 'lamp', 1)).data;
  expect(pull).toMatchObject({ state: 'open', mergeable: true, head: { ref: 'develop' }, base: { ref: 'trunk' } });
  const { stdout } = await fixture.git(['ls-remote', '--symref', `${fixture.signedUrl}/ada/lamp.git`, 'HEAD']);
  expect(stdout).toContain('ref: refs/heads/trunk\tHEAD');
  expect((await fixture.api('PATCH', '/repos/ada/lamp/branches/develop', { name: 'trunk' })).status).toBe(422);
  expect((await fixture.api('PATCH', '/repos/ada/lamp/branches/nowhere', { name: 'x' })).status).toBe(404);
  expect((await repos.repoMergePullRequest('ada', 'lamp', 1, { Do: 'merge' })).status).toBe(200);
  const sha = (await repos.repoGetPullRequest('ada', 'lamp', 1)).data.merge_commit_sha ?? '';
  expect((await repos.repoGetCommitPullRequest('ada', 'lamp', sha)).data.number).toBe(1);
});

it('lists watchers, and notifies them only while they may read the repository', async () => {
  const { repos, user, users } = api;
  await fixture.create('watched');
  await fixture.api('PUT', '/repos/ada/watched/subscription', undefined, bob);
  expect((await repos.repoListSubscribers('ada', 'watched')).data.map(({ login }) => login)).toEqual(['bob']);
  expect((await fixture.api('GET', '/repos/ada/watched/subscription')).status).toBe(404);
  expect((await repos.userCurrentPutSubscription('ada', 'watched')).data).toMatchObject({ subscribed: true });
  expect((await user.userCurrentListSubscriptions()).data.map(({ name }) => name)).toEqual(['watched']);
  await repos.issueCreateIssue('ada', 'watched', { title: 'Flickers' });
  const notifications = (await (await fixture.api('GET', '/notifications', undefined, bob)).json()) as {
    subject: { title: string };
  }[];
  expect(notifications.map(({ subject }) => subject.title)).toEqual(['Flickers']);
  await fixture.api('PATCH', '/repos/ada/watched', { private: true });
  expect(await (await fixture.api('GET', '/user/subscriptions', undefined, bob)).json()).toEqual([]);
  expect(await (await fixture.api('GET', '/users/ada/starred', undefined, bob)).json()).toEqual([]);
  expect((await repos.userCurrentDeleteSubscription('ada', 'watched')).status).toBe(204);
  expect((await users.userListSubscriptions('ada')).data).toEqual([]);
});

it('lists starred repositories, assignees, reviewers and topics', async () => {
  const { repos, topics, user, users } = api;
  await fixture.create('popular');
  await user.userCurrentPutStar('ada', 'popular');
  expect((await users.userListStarred('ada')).data.map(({ name }) => name)).toEqual(['popular']);
  await fixture.api('PUT', '/repos/ada/popular/collaborators/bob', { permission: 'write' });
  expect((await repos.repoGetAssignees('ada', 'popular')).data.map(({ login }) => login)).toEqual(['ada', 'bob']);
  expect((await repos.repoGetReviewers('ada', 'popular')).data.map(({ login }) => login)).toEqual(['ada', 'bob']);
  await repos.repoUpdateTopics('ada', 'popular', { topics: ['light', 'home'] });
  expect((await topics.topicSearch({ q: 'lig' })).data).toMatchObject({
    topics: [{ topic_name: 'light', repo_count: 1 }],
  });
});

it('creates a repository from a template', async () => {
  const { repos } = api;
  await fixture.create('template', { auto_init: true, template: true });
  await repos.repoUpdateTopics('ada', 'template', { topics: ['desk'] });
  const order = { owner: 'ada', name: 'second', git_content: true, topics: true };
  const { data: response } = await repos.generateRepo('ada', 'template', order);
  expect(response).toMatchObject({ full_name: 'ada/second', empty: false, topics: ['desk'], template: false });
  const commits = (await repos.repoGetAllCommits('ada', 'second')).data;
  expect(commits.map(({ commit }) => commit?.message?.trim())).toEqual(['Initial commit']);
  expect((await repos.repoGetContents('ada', 'second', 'README.md')).data.name).toBe('README.md');
  const refused = await fixture.api('POST', '/repos/ada/second/generate', { ...order, name: 'third' });
  expect(refused.status).toBe(422);
});

it('serves languages, settings, Markdown and further routes of clients', async () => {
  const { repos, settings, repositories } = api;
  await fixture.create('further', { auto_init: true });
  const cwd = await fixture.work('further-work', { 'main.ts': 'export const lamp = 1;\n', Makefile: 'all:\n' });
  await fixture.git(['push', '-q', '-f', `${fixture.signedUrl}/ada/further.git`, 'main'], { cwd });
  expect((await repos.repoGetLanguages('ada', 'further')).data).toEqual({ TypeScript: 23, Makefile: 5 });
  expect((await settings.getGeneralUiSettings()).data.allowed_reactions).toContain('heart');
  expect((await settings.getGeneralRepositorySettings()).data).toMatchObject({ lfs_disabled: false });
  expect(await (await fetch(`${fixture.url}/api/v1/markdown/raw`, { method: 'POST', body: '**x**' })).text()).toContain(
    '<strong>x</strong>',
  );
  const { data: further } = await repos.repoGet('ada', 'further');
  expect((await repositories.repoGetById(further.id ?? 0)).data.full_name).toBe('ada/further');
  await repos.repoCreateRelease('ada', 'further', { tag_name: 'v1' });
  expect((await repos.repoDeleteReleaseByTag('ada', 'further', 'v1')).status).toBe(204);
  expect((await (await fetch(`${fixture.url}/swagger.v1.json`)).json()) as object).toMatchObject({
    paths: {
      '/repos/{owner}/{repo}/commits/{ref}/status': { get: {} },
      '/repos/{owner}/{repo}/languages': { get: {} },
      '/repos/{owner}/{repo}/branches/{branch}': { patch: {} },
    },
  });
});
