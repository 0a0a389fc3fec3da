import * as gitProblems from '#messages/git-problems';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { adminAuthorization } from '../../support/host.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';

/** Lists of the app API: order, repository filter and check results. */
let fixture: GitFixture;
beforeAll(async () => {
  fixture = await openGitFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const ask = async (path: string, method = 'GET', body?: object, authorization = adminAuthorization): Promise<any> => {
  const reply = await fetch(`${fixture.host.url('control')}/api/git${path}`, {
    method,
    headers: { authorization, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return reply.json();
};
const toNames = ({ repositories }: any): string[] => repositories.map(({ name }: any) => name);

it('lists repositories by last change or by name', async () => {
  for (const name of ['apple', 'cherry', 'banana']) await fixture.create(name, { auto_init: true });
  await fixture.api('PATCH', '/repos/ada/apple', { description: 'The newest change' });
  expect(toNames(await ask('/repositories'))[0]).toBe('apple');
  expect(toNames(await ask('/repositories?sort=name'))).toEqual(['apple', 'banana', 'cherry']);
});

it('returns the check results of each commit', async () => {
  const { commits } = await ask('/repositories/ada/apple/commits');
  expect(commits[0].checks).toBeNull();
  for (const [context, state] of [
    ['build', 'pending'],
    ['build', 'success'],
    ['test', 'failure'],
  ] as const)
    await fixture.api('POST', `/repos/ada/apple/statuses/${String(commits[0].id)}`, { context, state });
  const secondList = await ask('/repositories/ada/apple/commits');
  expect(secondList.commits[0].checks).toEqual({ state: 'failure', passed: 1, total: 2 });
});

it('renames a repository and redirects its former address', async () => {
  const settings = '/repositories/ada/cherry/settings';
  expect((await ask(settings, 'PATCH', { name: 'no good' })).error.fields).toHaveProperty('name');
  expect((await ask(settings, 'PATCH', { name: 'banana' })).error.fields.name).toBe(
    gitProblems.ownerRepositoryExists(),
  );
  expect(await ask(settings, 'PATCH', { name: 'sour-cherry' })).toEqual({ ok: true });
  expect(await ask('/repositories/ada/cherry')).toMatchObject({ owner: 'ada', name: 'sour-cherry' });
  const bob = await fixture.account('bob');
  await fixture.api('PATCH', '/repos/ada/sour-cherry', { private: true });
  expect((await ask('/repositories/ada/cherry', 'GET', undefined, bob)).error.code).toBe('git.unknown');
});

it('lists the history of one repository', async () => {
  await fixture.api('POST', '/repos/ada/apple/issues', { title: 'A worm' });
  await fixture.api('POST', '/repos/ada/banana/issues', { title: 'A bend' });
  const listSubjects = async (repository: string): Promise<string[]> =>
    (await ask(`/history?repository=${repository}`)).events.map(({ what }: any) => what);
  expect(await listSubjects('ada/banana')).toContain('A bend');
  expect(await listSubjects('ada/banana')).not.toContain('A worm');
  expect(await listSubjects('ada/nothing')).toEqual([]);
  expect(await listSubjects('')).toEqual(expect.arrayContaining(['A bend', 'A worm']));
});

it('returns the number of further tasks, and all tasks on request', async () => {
  for (let index = 0; index < 22; index += 1)
    await fixture.api('POST', '/repos/ada/apple/issues', { title: `Worm ${index}`, assignees: ['ada'] });
  const few = await ask('/overview');
  expect([few.assigned.length, few.more]).toEqual([20, { reviews: 0, assigned: 2, pulls: 0 }]);
  const all = await ask('/overview?all=true');
  expect([all.assigned.length, all.more.assigned]).toEqual([22, 0]);
});
