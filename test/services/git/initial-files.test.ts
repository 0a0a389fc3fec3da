import { afterAll, beforeAll, expect, it } from 'vitest';
import { giteaClient, openGitFixture, type Gitea, type GitFixture } from './git-fixture.ts';

let fixture: GitFixture;
let api: Gitea;

beforeAll(async () => {
  fixture = await openGitFixture();
  api = await giteaClient(fixture);
});
afterAll(() => fixture[Symbol.asyncDispose]());

const readFileText = async (repo: string, path: string): Promise<string> =>
  (await fixture.api('GET', `/repos/ada/${repo}/raw/${path}`)).text();

it('creates a repository with license, gitignore and labels', async () => {
  const { gitignore, label, licenses, repos, user } = api;
  const { data: templates } = await licenses.listLicenseTemplates();
  expect(templates.map(({ key }) => key)).toContain('MIT');
  const { data: mit } = await licenses.getLicenseTemplateInfo('MIT');
  expect(mit).toMatchObject({ key: 'MIT', name: 'MIT License' });
  expect(mit.body).toContain('Permission is hereby granted, free of charge');
  expect((await gitignore.listGitignoresTemplates()).data).toContain('Node');
  const { data: node } = await gitignore.getGitignoreTemplateInfo('Node');
  expect(node.source).toContain('node_modules/');
  expect((await label.listLabelTemplates()).data).toContain('Default');
  const { data: set } = await label.getLabelTemplateInfo('Default');
  expect(set).toContainEqual({
    name: 'bug',
    color: 'ee0701',
    description: 'Something is not working',
    exclusive: false,
  });

  await user.createCurrentUserRepo({
    name: 'begun',
    auto_init: true,
    license: 'MIT',
    gitignores: 'Node, Linux',
    issue_labels: 'Default',
    readme: 'Default',
  });
  expect(await readFileText('begun', 'LICENSE')).toMatch(/^MIT License\n\nCopyright \(c\) \d{4} ada\n/);
  const ignored = await readFileText('begun', '.gitignore');
  expect([ignored.includes('# Node\nnode_modules/'), ignored.includes('# Linux\n*~')]).toEqual([true, true]);
  expect(await readFileText('begun', 'README.md')).toBe('# begun\n');
  const { data: labels } = await repos.issueListLabels('ada', 'begun');
  expect(labels.map(({ name }) => name).toSorted()).toEqual(set.map(({ name }) => name).toSorted());
});

it('rejects unknown templates and creates no repository', async () => {
  for (const wrong of [{ license: 'GPL-9' }, { gitignores: 'Node,Nothing' }, { issue_labels: 'toString' }]) {
    expect((await fixture.api('POST', '/user/repos', { name: 'wrong', auto_init: true, ...wrong })).status).toBe(422);
  }
  expect((await fixture.api('GET', '/repos/ada/wrong')).status).toBe(404);
  for (const path of ['/licenses/GPL-9', '/gitignore/templates/Nothing', '/label/templates/constructor']) {
    expect([path, (await fixture.api('GET', path)).status]).toEqual([path, 404]);
  }
});
