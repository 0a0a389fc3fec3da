import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openGitFixture, type GitFixture, type RunOptions } from './git-fixture.ts';
import { makeKey } from './ssh-key.ts';

let fixture: GitFixture;
let overSsh: RunOptions;
const remotes: Record<'HTTP' | 'SSH', (name: string) => string> = {
  HTTP: (name) => `${fixture.signedUrl}/ada/${name}.git`,
  SSH: (name) => `${ssh}/ada/${name}.git`,
};
let ssh = '';

beforeAll(async () => {
  fixture = await openGitFixture();
  const key = await makeKey(fixture, 'id_ada');
  expect((await fixture.api('POST', '/user/keys', { title: 'k', key: key.text })).status).toBe(201);
  overSsh = { environment: { GIT_SSH_COMMAND: key.command } };
});
afterAll(() => fixture[Symbol.asyncDispose]());

describe.each(['HTTP', 'SSH'] as const)('a push over %s', (way) => {
  const name = `demo-${way.toLowerCase()}`;
  let cwd = '';
  const push = (...args: readonly string[]) =>
    fixture.git(['push', ...args], { cwd, mayFail: true, ...(way === 'SSH' ? overSsh : {}) });

  beforeAll(async () => {
    const { ssh_url } = await fixture.create(name);
    ssh = String(ssh_url).replace(`/ada/${name}.git`, '');
    cwd = await fixture.work(name);
    await fixture.git(['push', '-q', remotes[way](name), 'main', 'main:topic'], { cwd, ...overSsh });
  });

  it.each([[[':main']], [['--delete', 'main']], [['--force', ':main', 'main:other']], [[':refs/heads/main']]])(
    'does not delete the default branch by %j',
    async (refs) => {
      const options = refs.filter((ref) => ref.startsWith('--'));
      const rest = refs.filter((ref) => !ref.startsWith('--'));
      const result = await push(...options, remotes[way](name), ...rest);
      expect(result.code).not.toBe(0);
      expect(result.stderr).toContain('branch main is the default branch and cannot be deleted');
      const reply = await fixture.api('GET', `/repos/ada/${name}/contents`);
      expect(((await reply.json()) as readonly unknown[]).length).toBe(1);
    },
  );

  it('deletes the former default branch after another one was selected', async () => {
    expect((await fixture.api('PATCH', `/repos/ada/${name}`, { default_branch: 'topic' })).status).toBe(200);
    expect((await push(remotes[way](name), ':main')).code).toBe(0);
    expect((await push(remotes[way](name), ':topic')).stderr).toContain('branch topic is the default branch');
  });

  it.each(['refs/for/topic', 'refs/for/topic/my-change', 'refs/for-review/topic', 'refs/drafts/topic'])(
    'reports that %s does not open a pull request',
    async (ref) => {
      const result = await push(remotes[way](name), `HEAD:${ref}`);
      expect(result.code).not.toBe(0);
      expect(result.stderr).toContain('pull requests cannot be created by a push');
      const { stdout } = await fixture.git(['ls-remote', remotes[way](name)], { cwd, ...overSsh });
      expect(stdout).not.toContain('refs/for');
    },
  );

  it('does not write references of pull requests', async () => {
    expect((await push(remotes[way](name), 'HEAD:refs/pull/1/head')).code).not.toBe(0);
  });
});
