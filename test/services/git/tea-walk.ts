import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GitRoom } from './git-fixture.ts';

/** One command of tea, and what its output must have. */
export interface TeaStep {
  readonly words: readonly string[];
  readonly says: readonly (RegExp | string)[];
  /** As bob, who may write. */
  readonly asBob?: true;
  /** A branch `dev` with one commit more than `main` is pushed before. */
  readonly needsBranch?: true;
}

const repo = ['--repo', 'ada/lamp'];
const listed = [...repo, '--output', 'simple'];

/** What people use tea for, in an order in which each step has what it needs. */
export const teaWalk: readonly TeaStep[] = [
  {
    words: [
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
    says: ['ada/lamp'],
  },
  { words: ['repos', 'ls', '--output', 'simple'], says: ['lamp'] },
  { words: ['repos', 'search', 'lamp', '--output', 'simple'], says: ['lamp'] },
  { words: ['repos', 'fork', ...repo, '--owner', 'workshop'], says: ['workshop/lamp'] },
  { words: ['organizations', 'create', 'guild', '--description', 'of lamps'], says: ['guild'] },
  { words: ['organizations', 'ls', '--output', 'simple'], says: ['guild', 'workshop'] },
  { words: ['labels', 'create', '--name', 'urgent', '--color', '#ff0000', '--description', 'now', ...repo], says: [] },
  { words: ['labels', 'ls', ...listed], says: ['urgent', 'wontfix'] },
  { words: ['milestones', 'create', '--title', 'Winter', '--deadline', '2030-01-02', ...repo], says: ['Winter'] },
  { words: ['milestones', 'ls', ...listed], says: ['Winter'] },
  {
    words: [
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
    says: ['Flickers', '/ada/lamp/issues/1'],
  },
  { words: ['issues', 'create', '--title', 'Second', ...repo], says: ['Second'] },
  {
    words: ['issues', 'ls', '--fields', 'index,title,state,author,assignees,milestone,labels', ...listed],
    says: ['1 Flickers open ada bob Winter bug', '2 Second open ada'],
  },
  {
    words: ['issues', 'ls', '--assignee', 'bob', '--labels', 'bug', '--keyword', 'flickers', ...listed],
    says: ['Flickers'],
  },
  { words: ['issues', '1', '--comments=false', ...repo], says: ['Flickers', 'at night'] },
  {
    words: [
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
    says: ['It flickers'],
  },
  { words: ['comment', '1', 'I see it', ...repo], says: ['I see it'] },
  { words: ['issues', '1', '--comments', ...repo], says: ['I see it'] },
  { words: ['issues', 'close', '2', ...repo], says: ['closed'] },
  { words: ['issues', 'reopen', '2', ...repo], says: ['open'] },
  { words: ['milestones', 'issues', 'add', 'Winter', '2', ...repo], says: [] },
  { words: ['milestones', 'issues', 'Winter', ...listed], says: ['It flickers', 'Second'] },
  { words: ['milestones', 'issues', 'remove', 'Winter', '2', ...repo], says: [] },
  { words: ['milestones', 'close', 'Winter', ...repo], says: ['Winter'] },
  { words: ['milestones', 'reopen', 'Winter', ...repo], says: ['Winter'] },
  { words: ['times', 'add', '1', '1h25m', ...repo], says: [] },
  { words: ['times', 'ls', '#1', ...listed], says: ['1h25m'] },
  { words: ['times', 'ls', '--mine', '--total', ...listed], says: ['1h25m'] },
  { words: ['times', 'delete', '1', '1', ...repo], says: [] },
  { words: ['notifications', 'ls', '--mine', '--output', 'simple'], says: ['It flickers'], asBob: true },
  { words: ['notifications', 'read', '--mine'], says: [], asBob: true },
  { words: ['branches', 'ls', ...listed], says: ['main', 'dev'], needsBranch: true },
  { words: ['branches', 'protect', 'main', ...repo], says: [] },
  { words: ['branches', 'ls', '--fields', 'name,protected', ...listed], says: ['main true', 'dev false'] },
  { words: ['branches', 'unprotect', 'main', ...repo], says: [] },
  {
    words: [
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
    says: ['Brighter', '/ada/lamp/pulls/3'],
  },
  {
    words: ['pulls', 'ls', '--fields', 'index,title,state,author,mergeable,base,head', ...listed],
    says: ['3 Brighter open ada'],
  },
  { words: ['pulls', '3', '--comments=false', ...repo], says: ['Brighter'] },
  { words: ['pulls', 'reject', '3', 'not yet', ...repo], says: [], asBob: true },
  { words: ['pulls', 'approve', '3', 'good', ...repo], says: [], asBob: true },
  { words: ['pulls', 'close', '3', ...repo], says: ['closed'] },
  {
    words: ['pulls', 'ls', '--state', 'closed', '--fields', 'index,assignees,milestone,labels', ...listed],
    says: ['3 bob Winter enhancement'],
  },
  { words: ['pulls', 'reopen', '3', ...repo], says: ['open'] },
  {
    words: ['pulls', 'merge', '3', '--style', 'squash', '--title', 'Brighter (#3)', '--message', 'fixes #2', ...repo],
    says: [],
  },
  { words: ['issues', 'ls', '--state', 'closed', ...listed], says: ['Second'] },
  {
    words: ['releases', 'create', '--tag', 'v1', '--title', 'One', '--note', 'first', '--asset', 'asset.txt', ...repo],
    says: [],
  },
  { words: ['releases', 'ls', ...listed], says: ['v1'] },
  { words: ['releases', 'edit', 'v1', '--title', 'The first', ...repo], says: [] },
  { words: ['releases', 'assets', 'ls', 'v1', ...listed], says: ['asset.txt'] },
  { words: ['releases', 'assets', 'delete', '--confirm', 'v1', 'asset.txt', ...repo], says: [] },
  { words: ['releases', 'delete', '--confirm', '--delete-tag', 'v1', ...repo], says: [] },
  { words: ['admin', 'users', 'ls', '--output', 'simple'], says: ['ada', 'bob'] },
  { words: ['repos', 'delete', '--owner', 'workshop', '--name', 'lamp', '--force'], says: ['deleted'] },
];

/** Who and what is there before. */
export async function openWalk(room: GitRoom): Promise<{ readonly ada: string; readonly bob: string }> {
  const token = async (name: string, authorization?: string): Promise<string> => {
    const made = await room.api('POST', `/users/${name}/tokens`, { name: 'tea', scopes: ['all'] }, authorization);
    return ((await made.json()) as { sha1: string }).sha1;
  };
  const bob = await room.account('bob');
  await room.api('POST', '/orgs', { username: 'workshop' });
  writeFileSync(join(room.folder, 'asset.txt'), 'an asset\n');
  return { ada: await token('ada'), bob: await token('bob', bob) };
}

/** The branch that a pull request comes from. Answers the commit at its head. */
export async function pushBranch(room: GitRoom): Promise<string> {
  await room.api('PUT', '/repos/ada/lamp/collaborators/bob', { permission: 'write' });
  const cwd = join(room.folder, 'lamp');
  await room.git(['clone', '-q', `${room.signedUrl}/ada/lamp.git`, cwd]);
  await room.run('sh', ['-c', 'git checkout -q -b dev && echo n > n && git add . && git commit -qm brighter'], { cwd });
  await room.git(['push', '-q', 'origin', 'dev'], { cwd });
  return (await room.git(['rev-parse', 'dev'], { cwd })).stdout.trim();
}
