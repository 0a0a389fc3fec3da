import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { giteaClient, openGitFixture, type Gitea, type GitFixture } from './git-fixture.ts';

let fixture: GitFixture;
let api: Gitea;
let bob = '';

beforeAll(async () => {
  fixture = await openGitFixture();
  bob = await fixture.account('bob');
  api = await giteaClient(fixture);
});
afterAll(() => fixture[Symbol.asyncDispose]());

it('lists events to accounts that may see them', async () => {
  const { repos, user, users } = api;
  await fixture.create('seen', { auto_init: true });
  await fixture.create('hidden', { private: true });
  await repos.issueCreateIssue('ada', 'seen', { title: 'Flickers' });
  await repos.issueEditIssue('ada', 'seen', 1, { state: 'closed' });
  await repos.issueCreateIssue('ada', 'hidden', { title: 'Secret' });
  await fixture.api('POST', '/repos/ada/seen/issues/1/comments', { body: 'I see' }, bob);
  const feed = (await repos.repoListActivityFeeds('ada', 'seen')).data;
  expect(feed.map(({ op_type: type, act_user: actor }) => [type, actor?.login]).toSorted()).toEqual([
    ['close_issue', 'ada'],
    ['comment_issue', 'bob'],
    ['commit_repo', 'ada'],
    ['create_issue', 'ada'],
  ]);
  expect(feed.find(({ op_type: type }) => (type as string) === 'create_issue')).toMatchObject({
    content: '1|Flickers',
    repo: { full_name: 'ada/seen' },
  });
  const ofAda = async (authorization?: string) =>
    (
      (await (await fixture.api('GET', '/users/ada/activities/feeds', undefined, authorization)).json()) as {
        content: string;
      }[]
    ).map(({ content }) => content);
  expect([(await ofAda()).includes('1|Secret'), (await ofAda(bob)).includes('1|Secret')]).toEqual([true, false]);
  expect((await ofAda(bob)).includes('1|Flickers')).toBe(true);
  const sum = async (authorization?: string) =>
    (
      (await (await fixture.api('GET', '/users/ada/heatmap', undefined, authorization)).json()) as {
        contributions: number;
      }[]
    ).reduce((all, { contributions }) => all + contributions, 0);
  expect([await sum(), await sum(bob)]).toEqual([4, 3]);
  const [{ timestamp = 0 } = {}] = (await users.userGetHeatmapData('ada')).data as unknown as { timestamp?: number }[];
  expect(Math.abs(Number(timestamp) * 1000 - Date.now())).toBeLessThan(3_600_000);
  // Accounts that hide their email address still see it themselves.
  await user.updateUserSettings({ hide_activity: true });
  expect([(await ofAda()).length > 0, await ofAda(bob), await sum(bob)]).toEqual([true, [], 0]);
});

it('lists the owners team of an organization and the permissions of its members', async () => {
  const { orgs, repos, teams, user, users } = api;
  await orgs.orgCreate({ username: 'guild' });
  await orgs.createOrgRepo('guild', { name: 'tools' });
  const { data: hits } = await orgs.teamSearch('guild', { q: 'own' });
  const id = hits.data?.[0]?.id ?? 0;
  expect((await user.userListTeams()).data).toMatchObject([{ id, name: 'Owners', organization: { name: 'guild' } }]);
  await expect(teams.orgListTeamMember(id, 'bob')).rejects.toMatchObject({ status: 404 });
  await teams.orgAddTeamMember(id, 'bob');
  expect((await teams.orgListTeamMember(id, 'bob')).data).toMatchObject({ login: 'bob' });
  expect((await orgs.orgListPublicMembers('guild')).data.map(({ login }) => login)).toEqual(['ada', 'bob']);
  expect((await orgs.orgIsPublicMember('guild', 'bob')).status).toBe(204);
  expect((await users.orgGetUserPermissions('bob', 'guild')).data).toMatchObject({
    is_owner: true,
    can_create_repository: true,
  });
  expect((await repos.repoListTeams('guild', 'tools')).data).toMatchObject([{ id }]);
  expect((await repos.repoCheckTeam('guild', 'tools', 'owners')).data).toMatchObject({ id });
  expect((await teams.orgListTeamRepo(id, 'guild', 'tools')).data).toMatchObject({ full_name: 'guild/tools' });
  await fixture.create('own');
  await expect(repos.repoListTeams('ada', 'own')).rejects.toMatchObject({ status: 405 });
});

it('updates a fork from its parent by fast-forward and by merge', async () => {
  const { repos } = api;
  await fixture.create('origin', { auto_init: true });
  await repos.createFork('ada', 'origin', { name: 'copy' });
  const write = (repo: string, path: string, content = 'bg==') =>
    repos.repoCreateFile('ada', repo, path, { content, message: path });
  const update = async (more = {}) =>
    (await repos.repoMergeUpstream('ada', 'copy', { branch: 'main', ...more })).data.merge_type;
  expect(await update()).toBe('up-to-date');
  await write('origin', 'a');
  expect(await update()).toBe('fast-forward');
  await write('origin', 'b');
  await write('copy', 'c');
  await expect(update({ ff_only: true })).rejects.toMatchObject({ status: 409 });
  expect(await update()).toBe('merge');
  const { data: files } = await repos.repoGetContentsList('ada', 'copy');
  expect((files as unknown as { name: string }[]).map(({ name }) => name)).toEqual(['README.md', 'a', 'b', 'c']);
  await write('origin', 'd', 'b25l');
  await write('copy', 'd', 'dHdv');
  await expect(update()).rejects.toMatchObject({ status: 409 });
  expect((await fixture.api('POST', '/repos/ada/copy/merge-upstream', { branch: 'main' }, bob)).status).toBe(403);
  await expect(repos.repoMergeUpstream('ada', 'origin', { branch: 'main' })).rejects.toMatchObject({ status: 404 });
});

it('returns the note of a commit and the issue templates', async () => {
  const { repos } = api;
  await fixture.create('noted');
  const cwd = await fixture.work('noted');
  const bug =
    '---\nname: Bug\nabout: Something is wrong\ntitle: "[bug] "\nlabels: bug, urgent\n---\n\nWhat happened?\n';
  const form =
    'name: Idea\ndescription: Something new\nbody:\n  - type: textarea\n    id: what\n    attributes:\n      label: What?\n';
  const config =
    'blank_issues_enabled: false\ncontact_links:\n  - name: Forum\n    url: https://forum.example.org\n    about: Ask there\n';
  for (const [name, text] of Object.entries({
    'bug.md': bug,
    'idea.yaml': form,
    'config.yml': config,
    'broken.yaml': '{',
  })) {
    await fixture.run('sh', ['-c', `mkdir -p .gitea/ISSUE_TEMPLATE && cat > ".gitea/ISSUE_TEMPLATE/${name}"`], {
      cwd,
      input: text,
    });
  }
  await fixture.run('sh', ['-c', 'git add . && git commit -qm templates && git notes add -m "looked at"'], { cwd });
  await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/noted.git`, 'main', 'refs/notes/*'], { cwd });
  const { stdout } = await fixture.git(['rev-parse', 'HEAD'], { cwd: join(fixture.folder, 'noted') });
  const { data: note } = await repos.repoGetNote('ada', 'noted', stdout.trim());
  expect(note).toMatchObject({ message: 'looked at\n', commit: { sha: stdout.trim() } });
  await expect(repos.repoGetNote('ada', 'noted', 'HEAD~1')).rejects.toMatchObject({ status: 404 });
  const { data: templates } = await repos.repoGetIssueTemplates('ada', 'noted');
  expect(templates).toMatchObject([
    {
      name: 'Bug',
      title: '[bug] ',
      labels: ['bug', 'urgent'],
      content: '\nWhat happened?\n',
      file_name: '.gitea/ISSUE_TEMPLATE/bug.md',
    },
    { name: 'Idea', about: 'Something new', body: [{ type: 'textarea', id: 'what' }] },
  ]);
  expect((await repos.repoGetIssueConfig('ada', 'noted')).data).toMatchObject({
    blank_issues_enabled: false,
    contact_links: [{ name: 'Forum' }],
  });
  expect((await repos.repoValidateIssueConfig('ada', 'noted')).data).toEqual({ valid: true, message: '' });
});
