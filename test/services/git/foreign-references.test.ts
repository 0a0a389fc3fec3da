import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GitThread } from '../../../services/contracts/git/issues.ts';
import { adminAuthorization } from '../../support/host.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';

let fixture: GitFixture;
let bob = '';
beforeAll(async () => {
  fixture = await openGitFixture();
  bob = await fixture.account('bob');
  await fixture.create('harbor');
  await fixture.create('workshop', { private: true });
  await json('POST', '/repos/ada/harbor/issues', { title: 'Lamp flickers' });
});
afterAll(() => fixture[Symbol.asyncDispose]());

async function json(method: string, path: string, body?: unknown, authorization?: string): Promise<any> {
  const reply = await fixture.api(method, path, body, authorization);
  if (!reply.ok) throw new Error(`${String(reply.status)} ${await reply.text()}`);
  return reply.json();
}

const readThread = async (authorization: string): Promise<GitThread> => {
  const url = `${fixture.host.url('control')}/api/git/repositories/ada/harbor/issues/1`;
  return (await fetch(url, { headers: { authorization } })).json() as Promise<GitThread>;
};
const listEvents = async (authorization: string) =>
  (await readThread(authorization)).entries.map(({ kind, reference, repository }) => [
    kind,
    repository,
    reference?.number ?? null,
  ]);

describe('a reference to an issue of another repository', () => {
  it('adds an event once, which only readers of the other repository see, and closes nothing', async () => {
    const body = 'Same bulb as Ada/Harbor#1, not `ada/harbor#1`. See ada/nowhere#4 and nobody/else#1.';
    await json('POST', '/repos/ada/workshop/issues', { title: 'Order bulbs', body });
    await json('POST', '/repos/ada/workshop/issues/1/comments', { body: 'closes ada/harbor#1' });
    await json('PATCH', '/repos/ada/workshop/issues/1', { body: `${body} Again: ada/harbor#1` });
    const cwd = await fixture.work('workshop');
    await fixture.git(['commit', '-q', '--allow-empty', '-m', 'Mount it\n\nfixes ada/harbor#1'], { cwd });
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/workshop.git`, 'main'], { cwd });
    const events = [
      ['issue_ref', 'ada/workshop', 1],
      ['comment_ref', 'ada/workshop', 1],
      ['commit_ref', 'ada/workshop', null],
    ];
    expect(await listEvents(adminAuthorization)).toEqual(events);
    expect(await listEvents(bob)).toEqual([]);
    const timeline = await json('GET', '/repos/ada/harbor/issues/1/timeline');
    expect(timeline[0]).toMatchObject({
      type: 'issue_ref',
      ref_issue: { number: 1, repository: { full_name: 'ada/workshop' } },
    });
    expect(timeline[2]).toMatchObject({ type: 'commit_ref', ref_commit_sha: expect.stringMatching(/^[0-9a-f]{40}$/) });
    const hidden = await fixture.api('GET', '/repos/ada/harbor/issues/1/timeline', undefined, bob);
    expect([hidden.headers.get('x-total-count'), await hidden.json()]).toEqual(['0', []]);
    expect((await json('GET', '/repos/ada/harbor/issues/1')).state).toBe('open');
  });

  it('adds nothing to a repository that its author cannot see', async () => {
    await json('POST', '/user/repos', { name: 'notes' }, bob);
    await json('POST', '/repos/bob/notes/issues', { title: 'Guess', body: 'ada/workshop#1, ada/harbor#1' }, bob);
    const hidden = await json('GET', '/repos/ada/workshop/issues/1/timeline');
    expect(hidden.filter(({ type }: { type: string }) => type === 'issue_ref')).toEqual([]);
    expect(await listEvents(bob)).toEqual([['issue_ref', 'bob/notes', 1]]);
  });
});
