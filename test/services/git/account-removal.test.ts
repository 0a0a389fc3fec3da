import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RemovalRequest } from '../../../services/contracts/control/account-data.ts';
import type { Accounts } from '../../../services/contracts/control/accounts.ts';
import { adminAuthorization } from '../../support/host.ts';
import { openGitFixture, type GitFixture } from './git-fixture.ts';
import { makeKey } from './ssh-key.ts';

let fixture: GitFixture;
let accounts: Accounts;
beforeAll(async () => {
  fixture = await openGitFixture({ onContext: (context) => (accounts = context.accounts) });
  await fixture.create('shared');
});
afterAll(() => fixture[Symbol.asyncDispose]());

const ask = (authorization: string, method: string, path: string, body?: unknown): Promise<Response> =>
  fixture.api(method, path, body, authorization);
const requestStatus = async (authorization: string, method: string, path: string, body?: unknown): Promise<number> =>
  (await ask(authorization, method, path, body)).status;
const remove = (name: string, request: RemovalRequest): Promise<void> => accounts.remove(name, request);

/** Creates an account with a repository, webhooks, a key, a token, an organization, a collaboration and an issue. */
async function populate(name: string): Promise<{ readonly authorization: string; readonly token: string }> {
  const authorization = await fixture.account(name);
  const hook = { type: 'gitea', active: true, config: { url: `https://${name}.example/`, content_type: 'json' } };
  const repository = { name: 'diary', private: true, auto_init: true };
  expect(await requestStatus(authorization, 'POST', '/user/repos', repository)).toBe(201);
  expect(await requestStatus(authorization, 'POST', '/user/hooks', hook)).toBe(201);
  expect(await requestStatus(authorization, 'POST', `/repos/${name}/diary/hooks`, hook)).toBe(201);
  const { text } = await makeKey(fixture, `id_${name}`);
  expect(await requestStatus(authorization, 'POST', '/user/keys', { title: 'k', key: text })).toBe(201);
  const response = await ask(authorization, 'POST', `/users/${name}/tokens`, { name: 't', scopes: ['all'] });
  const { sha1 } = (await response.json()) as { readonly sha1: string };
  expect(await requestStatus(authorization, 'POST', '/orgs', { username: `org-of-${name}` })).toBe(201);
  const collaboration = `/repos/ada/shared/collaborators/${name}`;
  expect(await requestStatus(adminAuthorization, 'PUT', collaboration, { permission: 'admin' })).toBe(204);
  expect(await requestStatus(authorization, 'POST', '/repos/ada/shared/issues', { title: `Of ${name}` })).toBe(201);
  return { authorization, token: `token ${sha1}` };
}

/** Returns the data that a new account with the same name would see. */
async function expectNoData(name: string, former: { readonly token: string }): Promise<void> {
  const authorization = await fixture.account(name);
  expect(await requestStatus(authorization, 'GET', `/repos/${name}/diary`)).toBe(404);
  for (const path of ['/user/hooks', '/user/keys', '/user/orgs', '/user/repos']) {
    expect.soft([path, await (await ask(authorization, 'GET', path)).json()]).toEqual([path, []]);
  }
  expect(await requestStatus(former.token, 'GET', '/user')).toBe(401);
  expect(await requestStatus(authorization, 'PATCH', '/repos/ada/shared', { description: 'x' })).toBe(403);
  const issues = (await (await ask(adminAuthorization, 'GET', '/repos/ada/shared/issues')).json()) as readonly {
    readonly number: number;
    readonly title: string;
    readonly user: { readonly login: string };
  }[];
  const issue = issues.find(({ title }) => title === `Of ${name}`);
  expect(issue?.user.login).not.toBe(name);
  expect(await requestStatus(authorization, 'PATCH', `/repos/ada/shared/issues/${issue?.number}`, { title: 'y' })).toBe(
    403,
  );
}

describe('a removed account', () => {
  it('leaves nothing to a new account with the same name when its data is deleted', async () => {
    const former = await populate('temp');
    await remove('temp', { action: 'delete' });
    await expectNoData('temp', former);
  });

  it('transfers its repositories to the selected account, without its webhooks', async () => {
    await fixture.account('heir');
    const former = await populate('donor');
    await remove('donor', { action: 'transfer', to: 'heir' });
    await expectNoData('donor', former);
    const repository = await ask(adminAuthorization, 'GET', '/repos/heir/diary');
    expect(await repository.json()).toMatchObject({ private: true, empty: false });
    expect(await (await ask(adminAuthorization, 'GET', '/repos/heir/diary/hooks')).json()).toEqual([]);
  });

  it('retains its repositories under a reserved name that administrators can access', async () => {
    const former = await populate('gone');
    await remove('gone', { action: 'keep' });
    await expectNoData('gone', former);
    expect(await requestStatus(adminAuthorization, 'GET', '/repos/gone.removed/diary')).toBe(200);
    const transferResponse = await ask(adminAuthorization, 'POST', '/repos/gone.removed/diary/transfer', {
      new_owner: 'ada',
    });
    expect(transferResponse.status).toBe(202);
  });

  it("requires purge in Gitea's API to delete an account with its repositories", async () => {
    const former = await populate('purged');
    expect(await requestStatus(adminAuthorization, 'DELETE', '/admin/users/purged')).toBe(422);
    expect(await requestStatus(adminAuthorization, 'DELETE', '/admin/users/purged?purge=true')).toBe(204);
    await expectNoData('purged', former);
  });
});

describe('the name of an organization', () => {
  it('cannot be taken by an account, in any case', async () => {
    const ann = await fixture.account('ann');
    expect(await requestStatus(ann, 'POST', '/orgs', { username: 'Guild' })).toBe(201);
    for (const name of ['Guild', 'guild', 'GUILD']) await expect(fixture.account(name)).rejects.toThrow();
    const body = { username: 'guild', password: 'a long password of guild' };
    expect(await requestStatus(adminAuthorization, 'POST', '/admin/users', body)).toBe(422);
  });

  it('is free for an account after the organization was renamed or deleted', async () => {
    const ann = (name: string): Promise<number> =>
      requestStatus(adminAuthorization, 'POST', '/orgs', { username: name });
    expect(await ann('before')).toBe(201);
    expect(await requestStatus(adminAuthorization, 'POST', '/orgs/before/rename', { new_name: 'after' })).toBe(204);
    await fixture.account('before');
    await expect(fixture.account('after')).rejects.toThrow();
    expect(await requestStatus(adminAuthorization, 'DELETE', '/orgs/after')).toBe(204);
    await fixture.account('after');
  });
});
