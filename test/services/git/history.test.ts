import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { gitOverviewApi, type GitEvent } from '../../../services/contracts/git/overview-api.ts';
import { createFakeClock } from '../../support/clock.ts';
import { adminAuthorization } from '../../support/host.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';

const clock = createFakeClock(Date.now());
let fixture: GitFixture;
beforeAll(async () => {
  fixture = await openGitFixture({ clock });
});
afterAll(() => fixture[Symbol.asyncDispose]());

const page = async (last?: GitEvent): Promise<{ readonly events: readonly GitEvent[]; readonly more: boolean }> => {
  const query = last === undefined ? '' : `?before=${last.time}&beforeId=${last.id}`;
  const reply = await fetch(`${fixture.host.url('control')}${gitOverviewApi.history.path}${query}`, {
    headers: { authorization: adminAuthorization },
  });
  return z.parse(gitOverviewApi.history.reply, await reply.json());
};
const post = async (path: string, body: object): Promise<void> =>
  expect((await fixture.api('POST', `/repos/ada/${path}`, body)).status).toBe(201);

it('pages through the complete history by time, also for equal times and unordered IDs', async () => {
  await fixture.create('lamp', { auto_init: true });
  await post('lamp/issues', { title: 'Flickers' });
  for (let number = 0; number < 60; number += 1) await post('lamp/issues/1/comments', { body: 'still' });
  for (let number = 0; number < 45; number += 1) await post('lamp/issues', { title: `At once ${number}` });
  await post('lamp/releases', { tag_name: 'v1' });
  const collected: GitEvent[] = [];
  for (let next = await page(); ; next = await page(collected.at(-1))) {
    collected.push(...next.events);
    if (!next.more) break;
  }
  expect(new Set(collected.map(({ id }) => id)).size).toBe(collected.length);
  const count = (kind: GitEvent['kind']): number => collected.filter((event) => event.kind === kind).length;
  expect([count('commented'), count('opened'), count('released')]).toEqual([60, 46, 1]);
  // A push event has the time of the push.
  expect(collected.find(({ kind, tag }) => kind === 'created' && !tag)).toMatchObject({
    what: 'main',
    title: 'Initial commit',
  });

  const backup = await (await fixture.api('GET', '/repos/ada/lamp/backup')).arrayBuffer();
  clock.advance(60_000);
  await fixture.create('other');
  await post('other/issues', { title: 'Later' });
  await post('other/issues/1/comments', { body: 'the newest' });
  clock.advance(60_000);
  const headers = { authorization: adminAuthorization, 'content-type': 'application/x-tar' };
  const response = await fetch(`${fixture.url}/api/v1/repos/restore?name=again`, {
    method: 'POST',
    headers,
    body: backup,
  });
  expect(response.status).toBe(201);
  const { events } = await page();
  expect(events.slice(0, 2)).toMatchObject([
    { kind: 'commented', name: 'other' },
    { kind: 'opened', name: 'other' },
  ]);
});
