import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { isMissing, needs } from '../../support/requirements.ts';
import { openGitFixture } from './git-fixture.ts';

needs('py-gitea', 'python3');

const client = fileURLToPath(new URL('../../../.cache/tools/py-gitea', import.meta.url));
const script = fileURLToPath(new URL('py-gitea.py', import.meta.url));

it.skipIf(isMissing(existsSync(client)))('works with py-gitea', async () => {
  await using fixture = await openGitFixture();
  await fixture.account('bob');
  const { sha1 } = (await (await fixture.api('POST', '/users/ada/tokens', { name: 'py' })).json()) as { sha1: string };
  const environment = { PYTHONPATH: client, PYTHONDONTWRITEBYTECODE: '1' };
  const { stdout } = await fixture.run('python3', [script, fixture.url, sha1, 'http://127.0.0.1:9/hook'], {
    environment,
  });
  expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toEqual({
    version: '1',
    me: ['ada', true],
    users: ['ada', 'administration', 'bob'],
    repo: ['ada/py', true, 'main'],
    changed: 'changed',
    readme: true,
    commits: 2,
    branches: ['dev', 'main'],
    topics: ['python'],
    hooks: ['http://127.0.0.1:9/hook'],
    // py-gitea expects this for an empty list.
    left: {},
    collaborator: false,
    permission: 'read',
    access: ['ada', 'bob'],
    orgs: ['pyorg'],
    members: ['ada'],
    team: ['ada', 'bob'],
    'org repos': ['tool'],
    'team repos': ['tool'],
    gone: true,
  });
});

it.skipIf(isMissing(existsSync(client)))('works with issues and pull requests of py-gitea', async () => {
  await using fixture = await openGitFixture();
  await fixture.account('bob');
  await fixture.create('py');
  const cwd = await fixture.work('py');
  await fixture.run('sh', ['-c', 'git checkout -q -b dev && echo n > n && git add . && git commit -qm n'], { cwd });
  await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/py.git`, '--all'], { cwd });
  const { sha1 } = (await (await fixture.api('POST', '/users/ada/tokens', { name: 'py' })).json()) as { sha1: string };
  const environment = { PYTHONPATH: client, PYTHONDONTWRITEBYTECODE: '1' };
  const issues = fileURLToPath(new URL('py-gitea-issues.py', import.meta.url));
  const { stdout } = await fixture.run('python3', [issues, fixture.url, sha1], { environment });
  expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toEqual({
    milestone: ['soon', 'open'],
    all: 42,
    first: ['First', 'by py-gitea', 'bob', ['bob']],
    changed: ['Changed', 'soon', 'closed'],
    comments: ['said'],
    pull: [43, true],
    merged: true,
  });
});
