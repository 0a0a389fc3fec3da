import { giteaApi } from 'gitea-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openGitFixture, type GitFixture } from './git-fixture.ts';

let fixture: GitFixture;
let token = '';

beforeAll(async () => {
  fixture = await openGitFixture();
  const response = await fixture.api('POST', '/users/ada/tokens', { name: 'all', scopes: ['all'] });
  token = ((await response.json()) as { sha1: string }).sha1;
  await fixture.account('bob');
});
afterAll(() => fixture[Symbol.asyncDispose]());

const numbers = (issues: readonly { number?: number }[]) => issues.map(({ number }) => number);

describe('issues, with gitea-js', () => {
  /** Creates a repository with three issues, two labels and a milestone; bob is assigned to the first issue. */
  async function createTracker(name: string): Promise<{ readonly milestone: number }> {
    const { repos } = giteaApi(fixture.url, { token });
    await fixture.create(name);
    const createLabel = async (label: string, color: string) =>
      (await repos.issueCreateLabel('ada', name, { name: label, color })).data;
    const bug = await createLabel('bug', '#f00');
    const idea = await createLabel('idea', '00ff00');
    expect([bug.color, idea.color]).toEqual(['ff0000', '00ff00']);
    const due = { title: 'soon', due_on: '2030-01-02T00:00:00Z' };
    const { data: milestone } = await repos.issueCreateMilestone('ada', name, due);
    const { data: first } = await repos.issueCreateIssue('ada', name, {
      title: 'Lamp flickers',
      body: 'At night, @bob',
      labels: [bug.id!],
      milestone: milestone.id!,
      assignees: ['BOB'],
    });
    expect(first).toMatchObject({ number: 1, milestone: { title: 'soon' }, assignees: [{ login: 'bob' }] });
    await repos.issueCreateIssue('ada', name, { title: 'Paint it', labels: [idea.id!] });
    await repos.issueCreateIssue('ada', name, { title: 'Both', labels: [bug.id!, idea.id!] });
    await repos.issueCreateComment('ada', name, 2, { body: 'In ultramarine, perhaps' });
    return { milestone: milestone.id! };
  }

  it('are found by label, milestone, words, people, type, page and time', async () => {
    const { repos } = giteaApi(fixture.url, { token });
    await createTracker('tracker');
    const results: readonly (readonly [Record<string, unknown>, readonly number[]])[] = [
      [{}, [3, 2, 1]],
      [{ labels: 'bug' }, [3, 1]],
      [{ labels: 'bug,idea' }, [3]],
      [{ milestones: 'soon' }, [1]],
      [{ q: 'ultramarin' }, [2]],
      [{ assigned_by: 'bob' }, [1]],
      [{ mentioned_by: 'bob' }, [1]],
      [{ created_by: 'bob' }, []],
      [{ type: 'pulls' }, []],
      [{ page: 2, limit: 2 }, [1]],
      [{ since: '2100-01-01T00:00:00Z' }, []],
    ];
    for (const [query, expected] of results) {
      const { data } = await repos.issueListIssues('ada', 'tracker', query);
      expect([query, numbers(data)]).toEqual([query, expected]);
    }
  });

  it('are found across repositories', async () => {
    const { repos } = giteaApi(fixture.url, { token });
    await fixture.create('elsewhere');
    await repos.issueCreateIssue('ada', 'elsewhere', { title: 'Varnish it' });
    const { data } = await repos.issueSearchIssues({ q: 'varnish' });
    expect(data.map(({ repository, number }) => [repository?.full_name, number])).toEqual([['ada/elsewhere', 1]]);
  });

  it('are changed, closed and reopened, which their timeline lists', async () => {
    const { repos } = giteaApi(fixture.url, { token });
    const { milestone } = await createTracker('changes');
    const list = async (query: Record<string, unknown>) =>
      numbers((await repos.issueListIssues('ada', 'changes', query)).data);
    const { data: closed } = await repos.issueEditIssue('ada', 'changes', 1, {
      state: 'closed',
      title: 'Lamp flickered',
    });
    expect(closed).toMatchObject({ state: 'closed', title: 'Lamp flickered', closed_at: expect.any(String) });
    expect(await list({ state: 'closed' })).toEqual([1]);
    expect(await list({ q: 'flickered', state: 'all' })).toEqual([1]);
    expect((await repos.repoGet('ada', 'changes')).data.open_issues_count).toBe(2);
    expect((await repos.issueGetMilestone('ada', 'changes', String(milestone))).data).toMatchObject({
      open_issues: 0,
      closed_issues: 1,
    });
    await repos.issueEditIssue('ada', 'changes', 1, { state: 'open', milestone: 0, assignees: [] });
    const timeline = (await repos.issueGetCommentsAndTimeline('ada', 'changes', 1)).data;
    expect(timeline.map(({ type }) => type)).toEqual(['change_title', 'close', 'assignees', 'milestone', 'reopen']);
  });

  it('have labels, comments and reactions that are changed one by one', async () => {
    const { repos } = giteaApi(fixture.url, { token });
    await fixture.create('parts');
    await repos.issueCreateIssue('ada', 'parts', { title: 'One' });
    for (const [name, exclusive] of [
      ['kind/bug', true],
      ['kind/idea', true],
      ['later', false],
    ] as const)
      await repos.issueCreateLabel('ada', 'parts', { name, color: '#123456', exclusive });
    const names = (all: readonly { name?: string }[]) => all.map(({ name }) => name);
    await repos.issueAddLabel('ada', 'parts', 1, { labels: ['kind/bug', 'later'] });
    // Labels with the same scope exclude each other: the last one wins.
    expect(names((await repos.issueAddLabel('ada', 'parts', 1, { labels: ['kind/idea'] })).data)).toEqual([
      'kind/idea',
      'later',
    ]);
    await repos.issueRemoveLabel('ada', 'parts', 1, 'later' as never);
    expect(names((await repos.issueGetLabels('ada', 'parts', 1)).data)).toEqual(['kind/idea']);
    await repos.issueClearLabels('ada', 'parts', 1);
    expect((await repos.issueGetLabels('ada', 'parts', 1)).data).toEqual([]);
    await expect(repos.issueCreateLabel('ada', 'parts', { name: 'x', color: 'red' })).rejects.toMatchObject({
      status: 422,
    });
    const { data: comment } = await repos.issueCreateComment('ada', 'parts', 1, { body: 'a' });
    await repos.issueEditComment('ada', 'parts', comment.id!, { body: 'b' });
    expect((await repos.issueGetComments('ada', 'parts', 1)).data.map(({ body }) => body)).toEqual(['b']);
    await repos.issuePostCommentReaction('ada', 'parts', comment.id!, { content: 'heart' });
    expect((await repos.issueGetCommentReactions('ada', 'parts', comment.id!)).data[0]).toMatchObject({
      content: 'heart',
      user: { login: 'ada' },
    });
    await repos.issueDeleteComment('ada', 'parts', comment.id!);
    expect((await repos.issueGetIssue('ada', 'parts', 1)).data.comments).toBe(0);
    expect((await fixture.api('GET', `/repos/ada/parts/issues/comments/${comment.id}`)).status).toBe(404);
  });

  it('are created by readers and changed by authors, and hidden in private repositories', async () => {
    const carl = await fixture.account('carl');
    await fixture.create('open');
    await fixture.create('hidden', { private: true });
    await fixture.api('POST', '/repos/ada/hidden/issues', { title: 'Secret ingredient' });
    for (const path of [
      '/repos/ada/hidden/issues',
      '/repos/ada/hidden/issues/1',
      '/repos/ada/hidden/labels',
      '/repos/ada/hidden/issues/1/timeline',
    ]) {
      expect([path, (await fixture.api('GET', path, undefined, carl)).status]).toEqual([path, 404]);
      expect([path, (await fixture.api('GET', path, undefined, '')).status]).toEqual([path, 404]);
    }
    expect(await (await fixture.api('GET', '/repos/issues/search?q=secret', undefined, carl)).json()).toEqual([]);
    const response = await fixture.api(
      'POST',
      '/repos/ada/open/issues',
      { title: 'Mine', assignees: ['carl'], body: 'x' },
      carl,
    );
    // Accounts with read access cannot assign.
    expect([response.status, ((await response.json()) as { assignees: unknown }).assignees]).toEqual([201, null]);
    expect((await fixture.api('PATCH', '/repos/ada/open/issues/1', { title: 'Still mine' }, carl)).status).toBe(201);
    await fixture.api('POST', '/repos/ada/open/issues', { title: 'Hers' });
    expect((await fixture.api('PATCH', '/repos/ada/open/issues/2', { title: 'Taken' }, carl)).status).toBe(403);
    expect((await fixture.api('POST', '/repos/ada/open/labels', { name: 'l', color: '#fff' }, carl)).status).toBe(403);
    expect((await fixture.api('DELETE', '/repos/ada/open/issues/1', undefined, carl)).status).toBe(403);
    await fixture.api('PUT', '/repos/ada/open/issues/1/lock', {});
    expect((await fixture.api('POST', '/repos/ada/open/issues/1/comments', { body: 'x' }, carl)).status).toBe(403);
    await fixture.api('PATCH', '/repos/ada/open', { archived: true });
    expect((await fixture.api('POST', '/repos/ada/open/issues', { title: 'Late' })).status).toBe(423);
  });

  it('numbers concurrent issues without gaps', async () => {
    await fixture.create('crowd');
    const all = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const wrong = index % 4 === 0;
        const response = await fixture.api(
          'POST',
          '/repos/ada/crowd/issues',
          wrong ? { title: 'x', labels: [99] } : { title: `n ${index}` },
        );
        return response.status === 201 ? ((await response.json()) as { number: number }).number : response.status;
      }),
    );
    expect(all.filter((status) => status === 422)).toHaveLength(5);
    expect(all.filter((number) => number < 100).toSorted((one, other) => one - other)).toEqual(
      Array.from({ length: 15 }, (_, index) => index + 1),
    );
    await fixture.api('DELETE', '/repos/ada/crowd/issues/15');
    const next = (await (await fixture.api('POST', '/repos/ada/crowd/issues', { title: 'next' })).json()) as {
      number: number;
    };
    expect(next.number).toBe(16);
  });

  it('notifies participants until they have read the issue', async () => {
    const dora = await fixture.account('dora');
    const readNotifications = async (account: string) =>
      ((await (await fixture.api('GET', '/notifications/new', undefined, account)).json()) as { new: number }).new;
    await fixture.create('told');
    await fixture.api('POST', '/repos/ada/told/issues', { title: 'Look at this', body: 'What do you say, @dora?' });
    expect(await readNotifications(dora)).toBe(1);
    await fixture.api('POST', '/repos/ada/told/issues/1/comments', { body: 'Fine' }, dora);
    // Authors are not notified of their own comments; the owner is.
    const list = async (account?: string) =>
      (await (await fixture.api('GET', '/repos/ada/told/notifications', undefined, account)).json()) as any[];
    expect((await list()).map(({ subject, unread }) => [subject.title, subject.type, subject.state, unread])).toEqual([
      ['Look at this', 'Issue', 'open', true],
    ]);
    const [{ id }] = (await list(dora)) as [{ id: number }];
    expect((await fixture.api('PATCH', `/notifications/threads/${id}`, undefined, dora)).status).toBe(205);
    expect(await readNotifications(dora)).toBe(0);
    await fixture.api('POST', '/repos/ada/told/issues/1/comments', { body: 'Thanks' });
    expect(await readNotifications(dora)).toBe(1);
    // Notifications about a repository that is no longer visible are hidden.
    await fixture.api('PATCH', '/repos/ada/told', { private: true });
    expect(await readNotifications(dora)).toBe(0);
    expect((await fixture.api('GET', `/notifications/threads/${id}`, undefined, dora)).status).toBe(404);
    await fixture.api('PUT', '/notifications');
    expect(await list()).toEqual([]);
  });
});
