import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { giteaClient, openGitFixture, type Gitea, type GitFixture } from './git-fixture.ts';

let fixture: GitFixture;
let repos: Gitea['repos'];
let user: Gitea['user'];
let bob = '';

beforeAll(async () => {
  fixture = await openGitFixture();
  bob = await fixture.account('bob');
  ({ repos, user } = await giteaClient(fixture));
});
afterAll(() => fixture[Symbol.asyncDispose]());

/** Creates a repository with this number of issues. */
async function tracker(name: string, count: number): Promise<void> {
  await fixture.create(name);
  for (let index = 1; index <= count; index += 1)
    await repos.issueCreateIssue('ada', name, { title: `Issue ${index}` });
}
const numbers = (all: readonly { number?: number }[]) => all.map(({ number }) => number);

it('records time manually, filters it and deletes it by entry or by account', async () => {
  await tracker('times', 1);
  const { data: first } = await repos.issueAddTime('ada', 'times', 1, { time: 60, created: '2026-01-02T03:04:05Z' });
  expect(first).toMatchObject({ time: 60, created: '2026-01-02T03:04:05Z', user_name: 'ada', issue: { number: 1 } });
  await repos.issueAddTime('ada', 'times', 1, { time: 120, user_name: 'bob' });
  const times = async (query = {}) =>
    (await repos.issueTrackedTimes('ada', 'times', 1, query)).data.map(({ time }) => time);
  expect(await times()).toEqual([60, 120]);
  expect(await times({ user: 'bob' })).toEqual([120]);
  expect(await times({ since: '2026-02-01T00:00:00Z' })).toEqual([120]);
  expect((await repos.userTrackedTimes('ada', 'times', 'bob')).data).toHaveLength(1);
  expect((await user.userCurrentTrackedTimes()).data.map(({ time }) => time)).toEqual([60]);

  await repos.issueDeleteTime('ada', 'times', 1, first.id!);
  await repos.issueAddTime('ada', 'times', 1, { time: 30 });
  await repos.issueResetTime('ada', 'times', 1);
  expect(await times()).toEqual([120]);
  await expect(repos.issueResetTime('ada', 'times', 1)).rejects.toMatchObject({ status: 404 });
});

it('records time with one stopwatch per account', async () => {
  await tracker('watches', 2);
  await repos.issueStartStopWatch('ada', 'watches', 1);
  await expect(repos.issueStartStopWatch('ada', 'watches', 1)).rejects.toMatchObject({ status: 409 });
  expect((await user.userGetStopWatches()).data).toMatchObject([
    { issue_index: 1, repo_owner_name: 'ada', repo_name: 'watches' },
  ]);
  // Another stopwatch stops it and records its time.
  await repos.issueStartStopWatch('ada', 'watches', 2);
  expect((await user.userGetStopWatches()).data).toMatchObject([{ issue_index: 2 }]);
  expect((await repos.issueTrackedTimes('ada', 'watches', 1, {})).data).toHaveLength(1);
  await repos.issueDeleteStopWatch('ada', 'watches', 2);
  await expect(repos.issueStopStopWatch('ada', 'watches', 2)).rejects.toMatchObject({ status: 409 });
  expect((await repos.repoTrackedTimes('ada', 'watches')).data).toHaveLength(1);
});

it('shows readers only their own time and lets issue administrators delete it', async () => {
  await tracker('readers', 2);
  await repos.issueAddTime('ada', 'readers', 1, { time: 60 });
  const asBob = async (method: string, path: string, body?: unknown) =>
    fixture.api(method, `/repos/ada/readers/${path}`, body, bob);
  expect((await asBob('POST', 'issues/1/times', { time: 5 })).status).toBe(403);
  await repos.issueEditIssue('ada', 'readers', 1, { assignees: ['bob'] });
  expect((await asBob('POST', 'issues/1/times', { time: 5 })).status).toBe(200);
  expect((await asBob('POST', 'issues/1/times', { time: 5, user_name: 'ada' })).status).toBe(403);
  expect(await (await asBob('GET', 'issues/1/times')).json()).toMatchObject([{ time: 5, user_name: 'bob' }]);
  expect((await asBob('GET', 'times?user=ada')).status).toBe(403);
  const { data: all } = await repos.issueTrackedTimes('ada', 'readers', 1);
  const adas = all.find(({ user_name: name }) => name === 'ada');
  expect((await asBob('DELETE', `issues/1/times/${adas?.id}`)).status).toBe(403);
  expect((await asBob('POST', 'issues/1/times', { time: 0 })).status).toBe(422);
});

it('does not close an issue before its dependencies', async () => {
  await tracker('waits', 4);
  const meta = (index: number) => ({ index, owner: 'ada', repo: 'waits' });
  const created = await repos.issueCreateIssueDependencies('ada', 'waits', '1', meta(2));
  expect([created.status, created.data.number]).toEqual([201, 1]);
  await repos.issueCreateIssueBlocking('ada', 'waits', '3', meta(2));
  const on = async (index: string) => numbers((await repos.issueListIssueDependencies('ada', 'waits', index)).data);
  const blocked = async (index: string) => numbers((await repos.issueListBlocks('ada', 'waits', index)).data);
  expect([await on('1'), await on('2'), await blocked('2'), await blocked('3')]).toEqual([[2], [3], [1], [2]]);
  // Rejects a duplicate dependency, a cycle and a dependency on itself.
  for (const [waiting, other] of [
    ['1', 2],
    ['3', 1],
    ['3', 3],
  ] as const) {
    await expect(repos.issueCreateIssueDependencies('ada', 'waits', waiting, meta(other))).rejects.toMatchObject({
      status: 422,
    });
  }
  await expect(repos.issueEditIssue('ada', 'waits', 1, { state: 'closed' })).rejects.toMatchObject({ status: 412 });
  // A commit does not close it either.
  const cwd = await fixture.work('waits');
  await fixture.run('git', ['commit', '-q', '--allow-empty', '-m', 'fixes #1, fixes #4'], { cwd });
  await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/waits.git`, 'main'], { cwd });
  const states = [1, 4].map(async (index) => (await repos.issueGetIssue('ada', 'waits', index)).data.state);
  expect(await Promise.all(states)).toEqual(['open', 'closed']);
  for (const index of [3, 2, 1]) await repos.issueEditIssue('ada', 'waits', index, { state: 'closed' });
  await repos.issueRemoveIssueDependencies('ada', 'waits', '1', meta(2));
  await repos.issueRemoveIssueBlocking('ada', 'waits', '3', meta(2));
  expect([await on('1'), await on('2')]).toEqual([[], []]);
  await expect(repos.issueRemoveIssueDependencies('ada', 'waits', '1', meta(2))).rejects.toMatchObject({ status: 404 });
});

it('hides dependencies in private repositories, and readers cannot change dependencies', async () => {
  await tracker('seen', 1);
  await fixture.create('unseen', { private: true });
  await repos.issueCreateIssue('ada', 'unseen', { title: 'Secret' });
  await repos.issueCreateIssueDependencies('ada', 'seen', '1', { index: 1, owner: 'ada', repo: 'unseen' });
  expect((await repos.issueListIssueDependencies('ada', 'seen', '1')).data).toMatchObject([{ title: 'Secret' }]);
  const path = '/repos/ada/seen/issues/1/dependencies';
  expect(await (await fixture.api('GET', path, undefined, bob)).json()).toEqual([]);
  expect((await fixture.api('POST', path, { index: 1, owner: 'ada', repo: 'unseen' }, bob)).status).toBe(404);
  expect((await fixture.api('DELETE', path, { index: 1, owner: 'ada', repo: 'unseen' }, bob)).status).toBe(404);
});

it('allows removing a dependency that is no longer readable', async () => {
  await tracker('stuck', 1);
  await fixture.create('veiled', { private: true });
  await repos.issueCreateIssue('ada', 'veiled', { title: 'Secret' });
  await repos.issueCreateIssue('ada', 'veiled', { title: 'Another' });
  await repos.repoAddCollaborator('ada', 'stuck', 'bob', { permission: 'write' });
  await repos.repoAddCollaborator('ada', 'veiled', 'bob', { permission: 'read' });
  const path = '/repos/ada/stuck/issues/1';
  const sendRequest = async (method: string, index: number, authorization = bob) => {
    const reply = await fixture.api(
      method,
      `${path}/dependencies`,
      { index, owner: 'ada', repo: 'veiled' },
      authorization,
    );
    return [reply.status, reply.ok ? '' : await reply.text()] as const;
  };
  expect((await sendRequest('POST', 1))[0]).toBe(201);
  await repos.repoDeleteCollaborator('ada', 'veiled', 'bob');
  const close = async () => (await fixture.api('PATCH', path, { state: 'closed' }, bob)).status;
  expect(await close()).toBe(412);
  // Accounts with read access change nothing, and the response does not disclose whether the other issue exists.
  const carl = await fixture.account('carl');
  expect(await sendRequest('DELETE', 1, carl)).toEqual(await sendRequest('DELETE', 99, carl));
  expect(await sendRequest('DELETE', 2)).toEqual(await sendRequest('DELETE', 99));
  expect((await sendRequest('DELETE', 2))[0]).toBe(404);
  expect((await sendRequest('POST', 2))[0]).toBe(404);
  expect(await sendRequest('DELETE', 1)).toEqual([200, '']);
  expect(await close()).toBe(201);
});

it('does not merge a pull request with open dependencies', async () => {
  await tracker('merges', 1);
  const cwd = await fixture.work('merges');
  await fixture.run('sh', ['-c', 'git checkout -q -b dev && echo n > n && git add . && git commit -qm n'], { cwd });
  await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/merges.git`, '--all'], { cwd });
  await repos.repoCreatePullRequest('ada', 'merges', { title: 'Dev', head: 'dev', base: 'main' });
  await repos.issueCreateIssueDependencies('ada', 'merges', '2', { index: 1 });
  await expect(
    repos.repoMergePullRequest('ada', 'merges', 2, { Do: 'merge', force_merge: true }),
  ).rejects.toMatchObject({ status: 405 });
  await repos.issueEditIssue('ada', 'merges', 1, { state: 'closed' });
  expect((await repos.repoMergePullRequest('ada', 'merges', 2, { Do: 'merge' })).status).toBe(200);
});

it('pins at most three issues in an order', async () => {
  await tracker('pins', 4);
  for (const index of [1, 2, 3]) expect((await repos.pinIssue('ada', 'pins', index)).status).toBe(204);
  const pinned = async () => numbers((await repos.repoListPinnedIssues('ada', 'pins')).data);
  expect(await pinned()).toEqual([1, 2, 3]);
  await expect(repos.pinIssue('ada', 'pins', 4)).rejects.toMatchObject({ status: 400 });
  expect((await repos.repoNewPinAllowed('ada', 'pins')).data).toEqual({ issues: false, pull_requests: true });
  await repos.moveIssuePin('ada', 'pins', 3, 1);
  expect(await pinned()).toEqual([3, 1, 2]);
  expect((await repos.issueGetIssue('ada', 'pins', 1)).data.pin_order).toBe(2);
  await repos.unpinIssue('ada', 'pins', 3);
  expect(await pinned()).toEqual([1, 2]);
  expect((await repos.repoListPinnedPullRequests('ada', 'pins')).data).toEqual([]);
  expect((await fixture.api('POST', '/repos/ada/pins/issues/4/pin', undefined, bob)).status).toBe(403);
  await expect(repos.moveIssuePin('ada', 'pins', 4, 1)).rejects.toMatchObject({ status: 404 });
});

it('lists the subscribers of an issue', async () => {
  await tracker('followed', 1);
  const path = '/repos/ada/followed/issues/1/subscriptions';
  await fixture.api('PUT', `${path}/bob`, undefined, bob);
  const followers = async () => (await repos.issueSubscriptions('ada', 'followed', 1)).data.map(({ login }) => login);
  expect(await followers()).toEqual(['ada', 'bob']);
  await fixture.api('DELETE', `${path}/bob`, undefined, bob);
  expect(await followers()).toEqual(['ada']);
});

it('stores files of issues and comments and deletes them together', async () => {
  await tracker('files', 1);
  const file = new File(['a picture'], 'lamp.png');
  const { data: created } = await repos.issueCreateIssueAttachment('ada', 'files', 1, { attachment: file });
  expect(created).toMatchObject({ name: 'lamp.png', size: 9, download_count: 0 });
  const address = created.browser_download_url ?? '';
  expect(await (await fetch(address)).text()).toBe('a picture');
  expect((await repos.issueGetIssueAttachment('ada', 'files', 1, created.id!)).data.download_count).toBe(1);
  await repos.issueEditIssueAttachment('ada', 'files', 1, created.id!, { name: 'other.png' });
  expect((await repos.issueGetIssue('ada', 'files', 1)).data.assets).toMatchObject([{ name: 'other.png' }]);
  const { data: comment } = await repos.issueCreateComment('ada', 'files', 1, { body: 'see' });
  const { data: second } = await repos.issueCreateIssueCommentAttachment(
    'ada',
    'files',
    comment.id!,
    { attachment: file },
    { name: 'log.txt' },
  );
  expect((await repos.issueGetComments('ada', 'files', 1)).data[0]?.assets).toMatchObject([{ id: second.id }]);
  expect((await repos.issueListIssueCommentAttachments('ada', 'files', comment.id!)).data).toHaveLength(1);
  for (const [method, path] of [
    ['POST', 'issues/1/assets?name=x'],
    ['DELETE', `issues/1/assets/${created.id}`],
  ] as const) {
    expect((await fixture.api(method, `/repos/ada/files/${path}`, 'text', bob)).status).toBe(403);
  }
  // A file that is too large is rejected before it is read.
  const { port } = new URL(fixture.url);
  const authorization = bob;
  await fixture.api('POST', '/repos/ada/files/issues', { title: 'Of bob' }, bob);
  const sent = request({
    port,
    method: 'POST',
    path: '/api/v1/repos/ada/files/issues/2/assets?name=x',
    headers: { authorization, 'content-length': 600 * 1024 * 1024 },
  });
  sent.on('error', () => undefined).flushHeaders();
  const [reply] = (await once(sent, 'response')) as [IncomingMessage];
  expect(reply.statusCode).toBe(413);
  sent.destroy();
  // Files of unreadable repositories are hidden.
  await repos.repoEdit('ada', 'files', { private: true });
  expect((await fetch(address)).status).toBe(404);
  await repos.repoEdit('ada', 'files', { private: false });
  await repos.issueDeleteComment('ada', 'files', comment.id!);
  expect((await fetch(second.browser_download_url ?? '')).status).toBe(404);
  await repos.issueDeleteIssueAttachment('ada', 'files', 1, created.id!);
  expect((await fetch(address)).status).toBe(404);
});

it('deletes the files of review comments with the review', async () => {
  await tracker('remarks', 0);
  const cwd = await fixture.work('remarks');
  await fixture.run('sh', ['-c', 'git checkout -q -b dev && echo n > n && git add . && git commit -qm n'], { cwd });
  await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/remarks.git`, '--all'], { cwd });
  await repos.repoCreatePullRequest('ada', 'remarks', { title: 'Dev', head: 'dev', base: 'main' });
  const comments = [{ path: 'n', body: 'why', new_position: 1 }];
  const { data: review } = await repos.repoCreatePullReview('ada', 'remarks', 1, {
    event: 'COMMENT',
    body: 'see',
    comments,
  });
  const { data: remarks } = await repos.repoGetPullReviewComments('ada', 'remarks', 1, review.id!);
  const attachment = new File(['a picture'], 'lamp.png');
  const { data: created } = await repos.issueCreateIssueCommentAttachment('ada', 'remarks', remarks[0]!.id!, {
    attachment,
  });
  const address = created.browser_download_url ?? '';
  const stored = () =>
    (readdirSync(join(fixture.host.dataDir, 'git', 'release-assets'), { recursive: true }) as string[]).filter((name) =>
      name.endsWith(created.uuid ?? '-'),
    );
  expect([(await fetch(address)).status, stored().length]).toEqual([200, 1]);
  await repos.repoDeletePullReview('ada', 'remarks', 1, review.id!);
  expect([(await fetch(address)).status, stored().length]).toEqual([404, 0]);
});
