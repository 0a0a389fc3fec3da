import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { gitIssuesApi } from '../../../services/contracts/git/issues.ts';
import { api } from '../../support/api.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';
import { makeKey } from './ssh-key.ts';

let fixture: GitFixture;
let bob = '';
let cwd = '';

beforeAll(async () => {
  fixture = await openGitFixture();
  bob = await fixture.account('bob');
  await fixture.create('demo');
  cwd = await fixture.work('demo');
  await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/demo.git`, 'main', 'main:free'], { cwd });
});
afterAll(() => fixture[Symbol.asyncDispose]());

const status = async (method: string, path: string, body?: unknown, authorization?: string) =>
  (await fixture.api(method, path, body, authorization)).status;
const bobs = () =>
  `${fixture.url.replace('://', `://bob:${encodeURIComponent('a long password of bob')}@`)}/ada/demo.git`;
const push = (remote: string, ...args: string[]) => fixture.git(['push', remote, ...args], { cwd, mayFail: true });

describe('collaborators', () => {
  const collaborator = '/repos/ada/demo/collaborators/bob';

  it('have their permission until it is removed', async () => {
    expect((await push(bobs(), 'main:b')).stderr).toContain('403');
    expect(await status('PUT', collaborator, { permission: 'read' })).toBe(204);
    expect((await push(bobs(), 'main:b')).stderr).toContain('403');
    expect(await status('PUT', collaborator, {})).toBe(204);
    expect((await push(bobs(), 'main:b')).code).toBe(0);
    expect(await (await fixture.api('GET', '/repos/ada/demo/collaborators')).json()).toMatchObject([{ login: 'bob' }]);
    const permission = await fixture.api('GET', `${collaborator}/permission`);
    expect(await permission.json()).toMatchObject({ permission: 'write', user: { login: 'bob' } });
  });

  it('may leave a repository, but not raise their own permission', async () => {
    await fixture.api('PUT', collaborator, {});
    expect(await status('GET', collaborator)).toBe(204);
    expect(await status('PUT', collaborator, { permission: 'admin' }, bob)).toBe(403);
    expect(await status('PUT', '/repos/ada/demo/collaborators/nobody', {})).toBe(404);
    expect(await status('DELETE', collaborator, undefined, bob)).toBe(204);
    expect(await status('GET', collaborator)).toBe(404);
    expect((await push(bobs(), 'main:b')).stderr).toContain('403');
    await fixture.api('PUT', collaborator, {});
  });
});

describe('protected branches', () => {
  const rule = '/repos/ada/demo/branch_protections';

  it('rejects pushes, commits and deletions without permission over HTTP, SSH and the API', async () => {
    expect(await status('POST', rule, { rule_name: 'main' })).toBe(201);
    expect(await status('POST', rule, { rule_name: 'main' })).toBe(403);
    expect(await status('POST', rule, {})).toBe(422);
    await fixture.git(['commit', '-q', '--allow-empty', '-m', 'two'], { cwd });
    const remote = `${fixture.signedUrl}/ada/demo.git`;
    const refused = await push(remote, 'main', 'main:free');
    expect(refused.stderr).toContain('Not allowed to push to protected branch main');
    expect(refused.stderr).toContain('refused with the rest of the push');
    const ssh = await makeKey(fixture, 'id_ada');
    await fixture.api('POST', '/user/keys', { title: 'k', key: ssh.text });
    const { ssh_url } = (await (await fixture.api('GET', '/repos/ada/demo')).json()) as { ssh_url: string };
    const bySsh = await fixture.git(['push', ssh_url, 'main'], {
      cwd,
      mayFail: true,
      environment: { GIT_SSH_COMMAND: ssh.command },
    });
    expect(bySsh.stderr).toContain('Not allowed to push to protected branch main');
    expect((await push(remote, ':main')).stderr).toContain('protected from deletion');
    expect(await status('POST', '/repos/ada/demo/contents/n.txt', { content: 'eA==', message: 'n' })).toBe(403);
    expect(await status('POST', '/repos/ada/demo/contents/n.txt', { content: 'eA==', new_branch: 'n' })).toBe(201);
    await fixture.api('PATCH', '/repos/ada/demo', { default_branch: 'free' });
    expect(await status('DELETE', '/repos/ada/demo/branches/main')).toBe(403);
    const branch = await (await fixture.api('GET', '/repos/ada/demo/branches/main')).json();
    expect(branch).toMatchObject({ protected: true, user_can_push: false, effective_branch_protection_name: 'main' });
    expect((await push(remote, 'main:free')).code).toBe(0);
  });

  it('accepts pushes of listed accounts, and rejects the removal of commits', async () => {
    const changed = await fixture.api('PATCH', `${rule}/main`, {
      enable_push: true,
      enable_push_whitelist: true,
      push_whitelist_usernames: ['bob'],
    });
    expect(await changed.json()).toMatchObject({ enable_push: true, push_whitelist_usernames: ['bob'] });
    expect((await push(`${fixture.signedUrl}/ada/demo.git`, 'main')).code).not.toBe(0);
    expect((await push(bobs(), 'main')).code).toBe(0);
    await fixture.git(['commit', '-q', '--allow-empty', '--amend', '-m', 'other'], { cwd });
    const forced = await push(bobs(), '-f', 'main', 'main:free');
    expect(forced.stderr).toContain('refs/heads/main is protected: commits can be added to it, but not removed');
    // The other branch is not protected.
    expect(forced.stderr).toMatch(/\+ .* main -> free/);
    await fixture.api('PATCH', `${rule}/main`, { enable_force_push: true });
    expect((await push(bobs(), '-f', 'main')).code).toBe(0);
    expect(await status('DELETE', `${rule}/main`)).toBe(204);
    expect((await push(`${fixture.signedUrl}/ada/demo.git`, ':main')).code).toBe(0);
  });

  it('may be selected by a pattern, which also applies to new branches', async () => {
    expect(await status('POST', rule, { rule_name: 'release/*' })).toBe(201);
    const remote = `${fixture.signedUrl}/ada/demo.git`;
    expect((await push(remote, 'main:release/1')).stderr).toContain('Not allowed to push');
    expect((await push(remote, 'main:release/1/deep')).code).toBe(0);
    expect(await (await fixture.api('GET', `${rule}/release/*`)).json()).toMatchObject({
      rule_name: 'release/*',
      branch_name: '',
    });
    expect(await status('GET', rule, undefined, bob)).toBe(403);
  });
});

describe('branch protection in the API and in pull requests', () => {
  const json = async (method: string, path: string, body?: unknown, authorization?: string): Promise<any> => {
    const reply = await fixture.api(method, path, body, authorization);
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
    const text = await reply.text();
    return text === '' ? undefined : JSON.parse(text);
  };
  const merge = async (name: string, overrides: Record<string, unknown> = {}, authorization?: string) => {
    const reply = await fixture.api(
      'POST',
      `/repos/ada/${name}/pulls/1/merge`,
      { Do: 'merge', ...overrides },
      authorization,
    );
    return reply.status === 200 ? 200 : [reply.status, ((await reply.json()) as { message: string }).message];
  };
  /** Returns the hurdles of a pull request that the app API lists. */
  const getHurdles = async (name: string): Promise<readonly string[]> => {
    const reply = await api(fixture.host.url('control'), `/api/git/repositories/ada/${name}/issues/1`);
    return z.parse(gitIssuesApi.thread.reply, reply).request?.hurdles ?? [];
  };
  /** Creates `main`, and `dev` with a pull request of bob. */
  const project = async (name: string) => {
    await fixture.create(name);
    const copy = await fixture.work(name);
    await fixture.git(['checkout', '-q', '-b', 'dev'], { cwd: copy });
    await fixture.run('sh', ['-c', 'echo n > n && git add . && git commit -qm dev'], { cwd: copy });
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/${name}.git`, '--all'], { cwd: copy });
    await json('PUT', `/repos/ada/${name}/collaborators/bob`, { permission: 'write' });
    await json('POST', `/repos/ada/${name}/pulls`, { title: 'Dev', head: 'dev', base: 'main' }, bob);
    return copy;
  };

  it('does not create or rename branches over the API where a pattern forbids it', async () => {
    await fixture.create('named', { auto_init: true });
    await json('POST', '/repos/ada/named/branch_protections', { rule_name: 'release/*' });
    const reply = await fixture.api('POST', '/repos/ada/named/branches', { new_branch_name: 'release/2' });
    expect([reply.status, await reply.json()]).toMatchObject([
      403,
      { message: 'user cannot commit to protected branch [branch: release/2]' },
    ]);
    expect(await status('GET', '/repos/ada/named/branches/release/2')).toBe(404);
    expect(await status('POST', '/repos/ada/named/branches', { new_branch_name: 'dev' })).toBe(201);
    expect(await status('PATCH', '/repos/ada/named/branches/dev', { name: 'release/2' })).toBe(403);
    await json('PATCH', '/repos/ada/named/branch_protections/release/*', { enable_push: true });
    expect(await status('POST', '/repos/ada/named/branches', { new_branch_name: 'release/2' })).toBe(201);
    expect(await status('PATCH', '/repos/ada/named/branches/release/2', { name: 'free' })).toBe(403);
  });

  it('rejects an update by rebase where a forced push is forbidden', async () => {
    const copy = await project('rebased');
    await fixture.git(['checkout', '-q', 'main'], { cwd: copy });
    await fixture.git(['commit', '-q', '--allow-empty', '-m', 'on'], { cwd: copy });
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/rebased.git`, 'main'], { cwd: copy });
    await json('POST', '/repos/ada/rebased/branch_protections', { rule_name: 'dev', enable_push: true });
    const before = (await json('GET', '/repos/ada/rebased/branches/dev')).commit.id;
    expect(await status('POST', '/repos/ada/rebased/pulls/1/update?style=rebase')).toBe(403);
    expect((await json('GET', '/repos/ada/rebased/branches/dev')).commit.id).toBe(before);
    expect(await status('POST', '/repos/ada/rebased/pulls/1/update?style=merge')).toBe(200);
    await fixture.git(['pull', '-q', '--ff-only', `${fixture.signedUrl}/ada/rebased.git`, 'main'], { cwd: copy });
    await fixture.git(['commit', '-q', '--allow-empty', '-m', 'further'], { cwd: copy });
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/rebased.git`, 'main'], { cwd: copy });
    await json('PATCH', '/repos/ada/rebased/branch_protections/dev', { enable_force_push: true });
    expect(await status('POST', '/repos/ada/rebased/pulls/1/update?style=rebase')).toBe(200);
  });

  it('requires approvals for a merge, which a push dismisses', async () => {
    const copy = await project('approved');
    const protection = {
      rule_name: 'main',
      required_approvals: 1,
      block_on_rejected_reviews: true,
      dismiss_stale_approvals: true,
    };
    expect(await json('POST', '/repos/ada/approved/branch_protections', protection)).toMatchObject(protection);
    const few = [405, 'not ready to merge [reason: Does not have enough approvals]'];
    expect(await merge('approved')).toEqual(few);
    expect(await getHurdles('approved')).toEqual(['missing_approvals']);
    await json('POST', '/repos/ada/approved/pulls/1/reviews', { event: 'APPROVED' });
    expect(await getHurdles('approved')).toEqual([]);
    // Reviews of accounts without write access do not count.
    const carl = await fixture.account('carl');
    await json('POST', '/repos/ada/approved/pulls/1/reviews', { event: 'REQUEST_CHANGES', body: 'no' }, carl);
    await fixture.git(['commit', '-q', '--allow-empty', '-m', 'more'], { cwd: copy });
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/approved.git`, 'dev'], { cwd: copy });
    expect(await merge('approved')).toEqual(few);
    expect((await json('GET', '/repos/ada/approved/pulls/1/reviews'))[0]).toMatchObject({
      state: 'APPROVED',
      stale: true,
      dismissed: true,
    });
    await json('POST', '/repos/ada/approved/pulls/1/reviews', { event: 'REQUEST_CHANGES', body: 'not so' });
    expect(await merge('approved', {}, bob)).toEqual(few);
    await json('POST', '/repos/ada/approved/pulls/1/reviews', { event: 'APPROVED' });
    expect(await merge('approved', {}, bob)).toBe(200);
  });

  it('ignores approvals of former commits, also after a push to a closed pull request', async () => {
    const copy = await project('walked');
    const pullPath = '/repos/ada/walked/pulls/1';
    await json('POST', '/repos/ada/walked/branch_protections', {
      rule_name: 'main',
      required_approvals: 1,
      dismiss_stale_approvals: true,
    });
    const few = [405, 'not ready to merge [reason: Does not have enough approvals]'];
    const pushMore = async () => {
      await fixture.git(['commit', '-q', '--allow-empty', '-m', 'more'], { cwd: copy });
      await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/walked.git`, 'dev'], { cwd: copy });
    };
    // The push happens while the pull request is closed.
    await json('POST', `${pullPath}/reviews`, { event: 'APPROVED' });
    await json('PATCH', pullPath, { state: 'closed' });
    await pushMore();
    await json('PATCH', pullPath, { state: 'open' });
    expect(await merge('walked')).toEqual(few);
    // The push happened while the base branch was not protected.
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/walked.git`, 'main:free'], { cwd: copy });
    await json('PATCH', pullPath, { base: 'free' });
    await json('POST', `${pullPath}/reviews`, { event: 'APPROVED' });
    await pushMore();
    await json('PATCH', pullPath, { base: 'main' });
    expect(await merge('walked')).toEqual(few);
    // The push happens between the start and the submission of a review.
    const { id } = await json('POST', `${pullPath}/reviews`, { body: 'I am looking' });
    await pushMore();
    await json('POST', `${pullPath}/reviews/${id}`, { event: 'APPROVED' });
    expect(await merge('walked')).toEqual(few);
    await json('POST', `${pullPath}/reviews`, { event: 'APPROVED' });
    expect(await merge('walked')).toBe(200);
  });

  it('requires checks and listed accounts for a merge, which only administrators may override', async () => {
    await project('checked');
    const rule = '/repos/ada/checked/branch_protections';
    await json('POST', rule, {
      rule_name: 'main',
      enable_status_check: true,
      status_check_contexts: ['ci/*'],
      enable_merge_whitelist: true,
      merge_whitelist_usernames: ['ada'],
    });
    expect(await merge('checked', {}, bob)).toEqual([405, 'User not allowed to merge PR']);
    const unchecked = [405, 'not ready to merge [reason: Not all required status checks successful]'];
    expect(await merge('checked')).toEqual(unchecked);
    const { sha } = (await json('GET', '/repos/ada/checked/pulls/1')).head;
    const setStatus = (state: string, context: string) =>
      json(
        'POST',
        `/repos/ada/checked/statuses/${sha}`,
        { state, context, target_url: 'https://ci.example.org/1' },
        bob,
      );
    expect(await setStatus('failure', 'ci/test')).toMatchObject({
      status: 'failure',
      context: 'ci/test',
      creator: { login: 'bob' },
    });
    expect(await merge('checked')).toEqual(unchecked);
    await setStatus('success', 'lint');
    expect(await json('GET', '/repos/ada/checked/commits/dev/status')).toMatchObject({
      state: 'failure',
      sha,
      total_count: 2,
    });
    expect(await merge('checked', { force_merge: true }, bob)).toEqual([405, 'User not allowed to merge PR']);
    await json('PATCH', `${rule}/main`, {
      merge_whitelist_usernames: ['ada', 'bob'],
      block_admin_merge_override: true,
    });
    expect(await merge('checked', { force_merge: true }, bob)).toEqual(unchecked);
    expect(await merge('checked', { force_merge: true })).toEqual(unchecked);
    await setStatus('success', 'ci/test');
    expect((await json('GET', `/repos/ada/checked/statuses/${sha}`)).length).toBe(3);
    expect(await json('GET', '/repos/ada/checked/commits/dev/status')).toMatchObject({
      state: 'success',
      total_count: 2,
    });
    expect(await merge('checked', {}, bob)).toBe(200);
    await project('forced');
    await json('POST', '/repos/ada/forced/branch_protections', { rule_name: 'main', required_approvals: 2 });
    expect(await merge('forced', { force_merge: true })).toBe(200);
  });

  it('counts only approvals of listed accounts', async () => {
    await project('listed');
    const carl = await fixture.account('carla');
    await json('PUT', '/repos/ada/listed/collaborators/carla', { permission: 'write' });
    const list = { enable_approvals_whitelist: true, approvals_whitelist_username: ['carla'] };
    await json('POST', '/repos/ada/listed/branch_protections', { rule_name: 'main', required_approvals: 1, ...list });
    const few = [405, 'not ready to merge [reason: Does not have enough approvals]'];
    await json('POST', '/repos/ada/listed/pulls/1/reviews', { event: 'APPROVED' });
    expect(await merge('listed')).toEqual(few);
    const { id } = await json('POST', '/repos/ada/listed/pulls/1/reviews', { event: 'APPROVED' }, carl);
    // A dismissed approval does not count until the dismissal is revoked.
    await json('POST', `/repos/ada/listed/pulls/1/reviews/${id}/dismissals`, { message: 'too quick' });
    expect(await merge('listed')).toEqual(few);
    await json('POST', `/repos/ada/listed/pulls/1/reviews/${id}/undismissals`);
    expect(await merge('listed')).toBe(200);
  });

  it('requires the reviews that were requested from accounts with write access', async () => {
    await project('asked');
    const dora = await fixture.account('dora');
    await fixture.account('eric');
    await json('PUT', '/repos/ada/asked/collaborators/dora', { permission: 'write' });
    await json('POST', '/repos/ada/asked/branch_protections', {
      rule_name: 'main',
      block_on_official_review_requests: true,
    });
    const pullPath = '/repos/ada/asked/pulls/1';
    await json('POST', `${pullPath}/requested_reviewers`, { reviewers: ['eric', 'dora'] });
    const requestedReviewers = (await json('GET', pullPath)).requested_reviewers.map(
      ({ login }: { login: string }) => login,
    );
    expect(requestedReviewers.toSorted()).toEqual(['dora', 'eric']);
    expect(await merge('asked')).toEqual([405, 'not ready to merge [reason: There are official review requests]']);
    // A comment is not an approval.
    await json('POST', `${pullPath}/reviews`, { event: 'COMMENT', body: 'I see' }, dora);
    expect(await merge('asked')).toEqual([405, 'not ready to merge [reason: There are official review requests]']);
    await json('POST', `${pullPath}/reviews`, { event: 'APPROVED' }, dora);
    // eric has only read access.
    expect((await json('GET', pullPath)).requested_reviewers).toMatchObject([{ login: 'eric' }]);
    expect(await merge('asked')).toBe(200);
  });

  it('does not request reviews from the author or from accounts without read access', async () => {
    await project('unread');
    await json('PATCH', '/repos/ada/unread', { private: true });
    await fixture.account('fred');
    const sendRequest = (reviewers: readonly string[]) =>
      status('POST', '/repos/ada/unread/pulls/1/requested_reviewers', { reviewers });
    expect([await sendRequest(['fred']), await sendRequest(['bob']), await sendRequest(['nobody'])]).toEqual([
      422, 422, 422,
    ]);
    await json('PUT', '/repos/ada/unread/collaborators/fred', { permission: 'read' });
    expect(await sendRequest(['fred'])).toBe(201);
  });

  it('requires an updated branch and resolved change requests for a merge', async () => {
    const copy = await project('outdated');
    await json('POST', '/repos/ada/outdated/branch_protections', {
      rule_name: 'main',
      block_on_outdated_branch: true,
      block_on_rejected_reviews: true,
      enable_push: true,
    });
    await fixture.git(['checkout', '-q', 'main'], { cwd: copy });
    await fixture.git(['commit', '-q', '--allow-empty', '-m', 'on'], { cwd: copy });
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/outdated.git`, 'main'], { cwd: copy });
    expect(await merge('outdated')).toEqual([
      405,
      'not ready to merge [reason: The head branch is behind the base branch]',
    ]);
    expect(await getHurdles('outdated')).toEqual(['outdated_branch']);
    expect(await status('POST', '/repos/ada/outdated/pulls/1/update?style=merge')).toBe(200);
    await json('POST', '/repos/ada/outdated/pulls/1/reviews', { event: 'REQUEST_CHANGES', body: 'not so' });
    expect(await getHurdles('outdated')).toEqual(['requested_changes']);
    expect(await merge('outdated')).toEqual([405, 'not ready to merge [reason: There are requested changes]']);
    await json('POST', '/repos/ada/outdated/pulls/1/reviews', { event: 'APPROVED' });
    expect(await merge('outdated')).toBe(200);
  });
});

describe('protected tags', () => {
  /** Creates a repository of which bob is a collaborator and only ada may change the tags v*. */
  async function protectTags(name: string) {
    await fixture.create(name, { auto_init: true });
    await fixture.api('PUT', `/repos/ada/${name}/collaborators/bob`, { permission: 'write' });
    const rules = `/repos/ada/${name}/tag_protections`;
    const response = await fixture.api('POST', rules, { name_pattern: 'v*', whitelist_usernames: ['ada'] });
    const rule = (await response.json()) as { readonly id: number };
    expect([response.status, rule]).toMatchObject([201, { name_pattern: 'v*', whitelist_usernames: ['ada'] }]);
    const asBob = (method: string, path: string, body?: unknown) =>
      status(method, `/repos/ada/${name}/${path}`, body, bob);
    return { rules, rule: `${rules}/${rule.id}`, asBob };
  }

  it('are created, moved and deleted only by listed accounts over pushes, the API and releases', async () => {
    const { asBob } = await protectTags('tagged');
    const copy = join(fixture.folder, 'tagged');
    await fixture.git(['clone', '-q', `${fixture.signedUrl}/ada/tagged.git`, copy]);
    const remote = bobs().replace('/demo.git', '/tagged.git');
    await fixture.git(['tag', 'v1'], { cwd: copy });
    const refused = await fixture.git(['push', remote, 'v1'], { cwd: copy, mayFail: true });
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('Tag v1 is protected')]);
    expect(await asBob('POST', 'tags', { tag_name: 'v1' })).toBe(405);
    expect(await asBob('POST', 'releases', { tag_name: 'v1' })).toBe(405);
    expect(await asBob('POST', 'tags', { tag_name: 'other' })).toBe(201);
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/tagged.git`, 'v1'], { cwd: copy });
    expect((await fixture.git(['push', remote, ':v1'], { cwd: copy, mayFail: true })).code).toBe(1);
    expect(await asBob('DELETE', 'tags/v1')).toBe(405);
  });

  it('have rules that only repository administrators change, without regular expressions', async () => {
    const { asBob, rule, rules } = await protectTags('ruled');
    await fixture.api('POST', '/repos/ada/ruled/tags', { tag_name: 'v1' });
    expect(await asBob('GET', 'tag_protections')).toBe(403);
    expect(await status('POST', rules, { name_pattern: '/^(a+)+$/' })).toBe(422);
    expect(await status('PATCH', rule, { whitelist_usernames: ['ada', 'bob'] })).toBe(200);
    expect(await asBob('DELETE', 'tags/v1')).toBe(204);
    expect(await status('DELETE', rule)).toBe(204);
    expect(await (await fixture.api('GET', rules)).json()).toEqual([]);
  });
});
