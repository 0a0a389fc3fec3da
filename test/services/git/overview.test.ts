import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { gitOverviewApi, type GitOverview } from '../../../services/contracts/git/overview-api.ts';
import { createFakeClock } from '../../support/clock.ts';
import { adminAuthorization } from '../../support/host.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';

const clock = createFakeClock(Date.now());
let fixture: GitFixture;
beforeAll(async () => {
  fixture = await openGitFixture({ clock });
});
afterAll(() => fixture[Symbol.asyncDispose]());

const overview = async (authorization: string): Promise<GitOverview> => {
  const reply = await fetch(`${fixture.host.url('control')}${gitOverviewApi.overview.path}`, {
    headers: { authorization },
  });
  return z.parse(gitOverviewApi.overview.reply, await reply.json());
};
const sendEvent = async (path: string, body: object, method = 'POST'): Promise<void> => {
  clock.advance(1000);
  expect((await fixture.api(method, `/repos/ada/${path}`, body)).status).toBe(201);
};
/** Creates a repository with `main` and branches that each add a file. */
const project = async (
  name: string,
  branches: readonly string[],
  overrides: Record<string, unknown> = {},
): Promise<void> => {
  await fixture.create(name, { ...overrides, auto_init: true });
  for (const branch of branches) {
    await sendEvent(`${name}/contents/${branch}.txt`, { content: '', message: branch, new_branch: branch });
    await sendEvent(`${name}/pulls`, { title: `${name}: ${branch}`, head: branch, base: 'main' });
  }
};
const titles = (tasks: GitOverview['pulls']): readonly string[] => tasks.map(({ title }) => title);

it('lists other open pull requests beside newer assigned ones, and no hidden ones', async () => {
  const bob = await fixture.account('bob');
  const branches = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  await project('lamp', branches);
  for (let number = 2; number <= branches.length - 1; number += 1)
    await sendEvent(`lamp/pulls/${number}/requested_reviewers`, { reviewers: ['bob'] });
  await sendEvent(`lamp/issues/${branches.length}`, { assignees: ['bob'] }, 'PATCH');
  await project('secret', ['x'], { private: true });
  const { reviews, assigned, pulls } = await overview(bob);
  expect(titles(reviews).toSorted()).toEqual(['b', 'c', 'd', 'e', 'f'].map((branch) => `lamp: ${branch}`));
  expect(titles(assigned)).toEqual(['lamp: g']);
  expect(titles(pulls)).toEqual(['lamp: a']);
  expect(titles((await overview(adminAuthorization)).pulls)).toContain('secret: x');
});
