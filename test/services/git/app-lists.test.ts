import { afterAll, beforeAll, expect, it } from 'vitest';
import { adminAuthorization } from '../../support/host.ts';
import { openGitRoom, type GitRoom } from './git-fixture.ts';

/** What the pages ask of lists: in which order, of which repository, and what checks say. */
let room: GitRoom;
beforeAll(async () => {
  room = await openGitRoom();
});
afterAll(() => room[Symbol.asyncDispose]());

const ask = async (path: string, method = 'GET', body?: object, authorization = adminAuthorization): Promise<any> => {
  const reply = await fetch(`${room.host.url('control')}/api/git${path}`, {
    method,
    headers: { authorization, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return reply.json();
};
const namesOf = ({ repositories }: any): string[] => repositories.map(({ name }: any) => name);

it('lists repositories by their last change or by their names', async () => {
  for (const name of ['apple', 'cherry', 'banana']) await room.create(name, { auto_init: true });
  await room.api('PATCH', '/repos/ada/apple', { description: 'The newest change' });
  expect(namesOf(await ask('/repositories'))[0]).toBe('apple');
  expect(namesOf(await ask('/repositories?sort=name'))).toEqual(['apple', 'banana', 'cherry']);
});

it('says what checks say of each commit', async () => {
  const { commits } = await ask('/repositories/ada/apple/commits');
  expect(commits[0].checks).toBeNull();
  for (const [context, state] of [
    ['build', 'pending'],
    ['build', 'success'],
    ['test', 'failure'],
  ] as const)
    await room.api('POST', `/repos/ada/apple/statuses/${String(commits[0].id)}`, { context, state });
  const again = await ask('/repositories/ada/apple/commits');
  expect(again.commits[0].checks).toEqual({ state: 'failure', passed: 1, total: 2 });
});

it('renames a repository, whose old address leads to it', async () => {
  const settings = '/repositories/ada/cherry/settings';
  expect((await ask(settings, 'PATCH', { name: 'no good' })).error.fields).toHaveProperty('name');
  expect((await ask(settings, 'PATCH', { name: 'banana' })).error.fields.name).toContain('There is one');
  expect(await ask(settings, 'PATCH', { name: 'sour-cherry' })).toEqual({ ok: true });
  expect(await ask('/repositories/ada/cherry')).toMatchObject({ owner: 'ada', name: 'sour-cherry' });
  const bob = await room.account('bob');
  await room.api('PATCH', '/repos/ada/sour-cherry', { private: true });
  expect((await ask('/repositories/ada/cherry', 'GET', undefined, bob)).error.code).toBe('git.unknown');
});

it('tells the history of one repository', async () => {
  await room.api('POST', '/repos/ada/apple/issues', { title: 'A worm' });
  await room.api('POST', '/repos/ada/banana/issues', { title: 'A bend' });
  const whatOf = async (repository: string): Promise<string[]> =>
    (await ask(`/history?repository=${repository}`)).events.map(({ what }: any) => what);
  expect(await whatOf('ada/banana')).toContain('A bend');
  expect(await whatOf('ada/banana')).not.toContain('A worm');
  expect(await whatOf('ada/nothing')).toEqual([]);
  expect(await whatOf('')).toEqual(expect.arrayContaining(['A bend', 'A worm']));
});

it('says how many more wait than are told, and tells all when asked', async () => {
  for (let at = 0; at < 22; at += 1)
    await room.api('POST', '/repos/ada/apple/issues', { title: `Worm ${at}`, assignees: ['ada'] });
  const few = await ask('/overview');
  expect([few.assigned.length, few.more]).toEqual([20, { reviews: 0, assigned: 2, pulls: 0 }]);
  const all = await ask('/overview?all=true');
  expect([all.assigned.length, all.more.assigned]).toEqual([22, 0]);
});
