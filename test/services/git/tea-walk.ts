import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GitFixture } from './git-fixture.ts';

/** Command of tea and its expected output. */
export interface TeaStep {
  readonly args: readonly string[];
  readonly output: readonly (RegExp | string)[];
  /** Runs as bob, who has write access. */
  readonly asBob?: true;
  /** A branch `dev` with one commit more than `main` must exist. */
  readonly needsBranch?: true;
}

const repo = ['--repo', 'ada/lamp'];
const simpleOutput = [...repo, '--output', 'simple'];

/** Typical commands of tea, in an order in which each step has its prerequisites. */
export const teaWalk: readonly TeaStep[] = [
  {
    args: [
      'repos',
      'create',
      '--name',
      'lamp',
      '--description',
      'It shines',
      '--init',
      '--license',
      'MIT',
      '--gitignores',
      'Node',
      '--labels',
      'Default',
      '--readme',
      'Default',
    ],
    output: ['ada/lamp'],
  },
  { args: ['repos', 'ls', '--output', 'simple'], output: ['lamp'] },
  { args: ['repos', 'search', 'lamp', '--output', 'simple'], output: ['lamp'] },
  { args: ['repos', 'fork', ...repo, '--owner', 'workshop'], output: ['workshop/lamp'] },
  { args: ['organizations', 'create', 'guild', '--description', 'of lamps'], output: ['guild'] },
  { args: ['organizations', 'ls', '--output', 'simple'], output: ['guild', 'workshop'] },
  { args: ['labels', 'create', '--name', 'urgent', '--color', '#ff0000', '--description', 'now', ...repo], output: [] },
  { args: ['labels', 'ls', ...simpleOutput], output: ['urgent', 'wontfix'] },
  { args: ['milestones', 'create', '--title', 'Winter', '--deadline', '2030-01-02', ...repo], output: ['Winter'] },
  { args: ['milestones', 'ls', ...simpleOutput], output: ['Winter'] },
  {
    args: [
      'issues',
      'create',
      '--title',
      'Flickers',
      '--description',
      'at night',
      '--labels',
      'bug',
      '--assignees',
      'bob',
      '--milestone',
      'Winter',
      '--deadline',
      '2030-01-02',
      ...repo,
    ],
    output: ['Flickers', '/ada/lamp/issues/1'],
  },
  { args: ['issues', 'create', '--title', 'Second', ...repo], output: ['Second'] },
  {
    args: ['issues', 'ls', '--fields', 'index,title,state,author,assignees,milestone,labels', ...simpleOutput],
    output: ['1 Flickers open ada bob Winter bug', '2 Second open ada'],
  },
  {
    args: ['issues', 'ls', '--assignee', 'bob', '--labels', 'bug', '--keyword', 'flickers', ...simpleOutput],
    output: ['Flickers'],
  },
  { args: ['issues', '1', '--comments=false', ...repo], output: ['Flickers', 'at night'] },
  {
    args: [
      'issues',
      'edit',
      '1',
      '--title',
      'It flickers',
      '--add-labels',
      'urgent',
      '--remove-labels',
      'bug',
      '--add-assignees',
      'ada',
      ...repo,
    ],
    output: ['It flickers'],
  },
  { args: ['comment', '1', 'I see it', ...repo], output: ['I see it'] },
  { args: ['issues', '1', '--comments', ...repo], output: ['I see it'] },
  { args: ['issues', 'close', '2', ...repo], output: ['closed'] },
  { args: ['issues', 'reopen', '2', ...repo], output: ['open'] },
  { args: ['milestones', 'issues', 'add', 'Winter', '2', ...repo], output: [] },
  { args: ['milestones', 'issues', 'Winter', ...simpleOutput], output: ['It flickers', 'Second'] },
  { args: ['milestones', 'issues', 'remove', 'Winter', '2', ...repo], output: [] },
  { args: ['milestones', 'close', 'Winter', ...repo], output: ['Winter'] },
  { args: ['milestones', 'reopen', 'Winter', ...repo], output: ['Winter'] },
  { args: ['times', 'add', '1', '1h25m', ...repo], output: [] },
  { args: ['times', 'ls', '#1', ...simpleOutput], output: ['1h25m'] },
  { args: ['times', 'ls', '--mine', '--total', ...simpleOutput], output: ['1h25m'] },
  { args: ['times', 'delete', '1', '1', ...repo], output: [] },
  { args: ['notifications', 'ls', '--mine', '--output', 'simple'], output: ['It flickers'], asBob: true },
  { args: ['notifications', 'read', '--mine'], output: [], asBob: true },
  { args: ['branches', 'ls', ...simpleOutput], output: ['main', 'dev'], needsBranch: true },
  { args: ['branches', 'protect', 'main', ...repo], output: [] },
  { args: ['branches', 'ls', '--fields', 'name,protected', ...simpleOutput], output: ['main true', 'dev false'] },
  { args: ['branches', 'unprotect', 'main', ...repo], output: [] },
  {
    args: [
      'pulls',
      'create',
      '--head',
      'dev',
      '--base',
      'main',
      '--title',
      'Brighter',
      '--description',
      'fixes #2',
      '--labels',
      'enhancement',
      '--assignees',
      'bob',
      '--milestone',
      'Winter',
      ...repo,
    ],
    output: ['Brighter', '/ada/lamp/pulls/3'],
  },
  {
    args: ['pulls', 'ls', '--fields', 'index,title,state,author,mergeable,base,head', ...simpleOutput],
    output: ['3 Brighter open ada'],
  },
  { args: ['pulls', '3', '--comments=false', ...repo], output: ['Brighter'] },
  { args: ['pulls', 'reject', '3', 'not yet', ...repo], output: [], asBob: true },
  { args: ['pulls', 'approve', '3', 'good', ...repo], output: [], asBob: true },
  { args: ['pulls', 'close', '3', ...repo], output: ['closed'] },
  {
    args: ['pulls', 'ls', '--state', 'closed', '--fields', 'index,assignees,milestone,labels', ...simpleOutput],
    output: ['3 bob Winter enhancement'],
  },
  { args: ['pulls', 'reopen', '3', ...repo], output: ['open'] },
  {
    args: ['pulls', 'merge', '3', '--style', 'squash', '--title', 'Brighter (#3)', '--message', 'fixes #2', ...repo],
    output: [],
  },
  { args: ['issues', 'ls', '--state', 'closed', ...simpleOutput], output: ['Second'] },
  {
    args: ['releases', 'create', '--tag', 'v1', '--title', 'One', '--note', 'first', '--asset', 'asset.txt', ...repo],
    output: [],
  },
  { args: ['releases', 'ls', ...simpleOutput], output: ['v1'] },
  { args: ['releases', 'edit', 'v1', '--title', 'The first', ...repo], output: [] },
  { args: ['releases', 'assets', 'ls', 'v1', ...simpleOutput], output: ['asset.txt'] },
  { args: ['releases', 'assets', 'delete', '--confirm', 'v1', 'asset.txt', ...repo], output: [] },
  { args: ['releases', 'delete', '--confirm', '--delete-tag', 'v1', ...repo], output: [] },
  { args: ['admin', 'users', 'ls', '--output', 'simple'], output: ['ada', 'bob'] },
  { args: ['repos', 'delete', '--owner', 'workshop', '--name', 'lamp', '--force'], output: ['deleted'] },
];

/** Creates the accounts and repositories that the steps need. */
export async function openWalk(fixture: GitFixture): Promise<{ readonly ada: string; readonly bob: string }> {
  const token = async (name: string, authorization?: string): Promise<string> => {
    const response = await fixture.api(
      'POST',
      `/users/${name}/tokens`,
      { name: 'tea', scopes: ['all'] },
      authorization,
    );
    return ((await response.json()) as { sha1: string }).sha1;
  };
  const bob = await fixture.account('bob');
  await fixture.api('POST', '/orgs', { username: 'workshop' });
  writeFileSync(join(fixture.folder, 'asset.txt'), 'an asset\n');
  return { ada: await token('ada'), bob: await token('bob', bob) };
}

/** Pushes the head branch of a pull request and returns its commit. */
export async function pushBranch(fixture: GitFixture): Promise<string> {
  await fixture.api('PUT', '/repos/ada/lamp/collaborators/bob', { permission: 'write' });
  const cwd = join(fixture.folder, 'lamp');
  await fixture.git(['clone', '-q', `${fixture.signedUrl}/ada/lamp.git`, cwd]);
  await fixture.run('sh', ['-c', 'git checkout -q -b dev && echo n > n && git add . && git commit -qm brighter'], {
    cwd,
  });
  await fixture.git(['push', '-q', 'origin', 'dev'], { cwd });
  return (await fixture.git(['rev-parse', 'dev'], { cwd })).stdout.trim();
}
