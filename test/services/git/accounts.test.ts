import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { giteaClient, openGitFixture, type Gitea, type GitFixture } from './git-fixture.ts';
import { makeKey } from './ssh-key.ts';

let fixture: GitFixture;
let api: Gitea;
let bob = '';

beforeAll(async () => {
  fixture = await openGitFixture();
  bob = await fixture.account('bob');
  api = await giteaClient(fixture);
});
afterAll(() => fixture[Symbol.asyncDispose]());

const logins = (all: readonly { login?: string }[]) => all.map(({ login }) => login);

it('follows and unfollows accounts', async () => {
  const { user, users } = api;
  expect((await user.userCurrentPutFollow('BOB')).status).toBe(204);
  await user.userCurrentPutFollow('bob');
  expect(logins((await user.userCurrentListFollowing()).data)).toEqual(['bob']);
  expect(logins((await users.userListFollowers('bob')).data)).toEqual(['ada']);
  expect((await users.userCheckFollowing('ada', 'bob')).status).toBe(204);
  await expect(users.userCheckFollowing('bob', 'ada')).rejects.toMatchObject({ status: 404 });
  expect((await users.userGet('bob')).data).toMatchObject({ followers_count: 1, following_count: 0 });
  expect((await user.userGetCurrent()).data).toMatchObject({ followers_count: 0, following_count: 1 });
  await expect(user.userCurrentPutFollow('ada')).rejects.toMatchObject({ status: 403 });
  await expect(user.userCurrentPutFollow('nobody')).rejects.toMatchObject({ status: 404 });
  await user.userCurrentDeleteFollow('bob');
  expect((await user.userCurrentListFollowing()).data).toEqual([]);
  await expect(user.userCurrentCheckFollowing('bob')).rejects.toMatchObject({ status: 404 });
});

it('updates the profile of an account and of an organization', async () => {
  const { orgs, user, users } = api;
  const { data: before } = await user.getUserSettings();
  expect(before).toMatchObject({ full_name: '', website: '', hide_email: false });
  await user.updateUserSettings({ full_name: 'Ada L.', website: 'https://ada.example.org', hide_email: true });
  const { data: after } = await user.updateUserSettings({ location: 'London' });
  expect(after).toMatchObject({
    full_name: 'Ada L.',
    website: 'https://ada.example.org',
    location: 'London',
    hide_email: true,
  });
  expect((await users.userGet('ada')).data).toMatchObject({ full_name: 'Ada L.', location: 'London' });
  const { data: org } = await orgs.orgCreate({ username: 'looms', website: 'https://looms.example.org' });
  expect(org).toMatchObject({ website: 'https://looms.example.org', location: '' });
  expect((await orgs.orgEdit('looms', { location: 'Leeds' })).data).toMatchObject({
    website: 'https://looms.example.org',
    location: 'Leeds',
  });
  const { data: emails } = await user.userListEmails();
  expect(emails).toMatchObject([{ username: 'ada', primary: true, verified: true }]);
  expect(emails[0]?.email).toBe((await user.userGetCurrent()).data.email);
});

describe('administration of accounts', () => {
  const password = 'a long password of a user';
  const authorize = (name: string) => `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
  const create = (username: string, more: object = {}) =>
    api.admin.adminCreateUser({ username, email: `${username}@example.org`, password, ...more });

  it('creates an account, changes it and prohibits its sign-in', async () => {
    const { admin } = api;
    const created = await create('eve', { full_name: 'Eve', must_change_password: false });
    expect([created.status, created.data]).toMatchObject([
      201,
      { login: 'eve', full_name: 'Eve', is_admin: false, active: true },
    ]);
    expect((await fixture.api('GET', '/user', undefined, authorize('eve'))).status).toBe(200);
    const identity = { login_name: 'eve', source_id: 0 };
    const { data: changed } = await admin.adminEditUser('eve', { ...identity, admin: true, location: 'Eden' });
    expect(changed).toMatchObject({ is_admin: true, location: 'Eden' });
    await admin.adminEditUser('eve', { ...identity, admin: false, prohibit_login: true });
    expect((await fixture.api('GET', '/user', undefined, authorize('eve'))).status).toBe(401);
  });

  it.each([
    ['a name in use', { username: 'BOB', email: '', password }, 422],
    ['an invalid name', { username: 'a b', email: '', password }, 422],
    ['a short password', { username: 'fred', email: '', password: 'short' }, 400],
  ])('rejects a new account with %s', async (_reason, account, status) => {
    await expect(api.admin.adminCreateUser(account)).rejects.toMatchObject({ status });
  });

  it('adds and deletes the public keys of an account', async () => {
    await create('keys');
    const { text } = await makeKey(fixture, 'keys');
    const { data: key } = await api.admin.adminCreatePublicKey('keys', { title: 'laptop', key: text });
    expect(key).toMatchObject({ title: 'laptop', user: { login: 'keys' } });
    expect((await api.admin.adminDeleteUserPublicKey('keys', key.id!)).status).toBe(204);
  });

  it('deletes an account with repositories only when they are purged, and never the own account', async () => {
    await create('owner', { must_change_password: false });
    const reply = await fixture.api('POST', '/user/repos', { name: 'tools' }, authorize('owner'));
    expect(reply.status).toBe(201);
    await expect(api.admin.adminDeleteUser('owner')).rejects.toMatchObject({ status: 422 });
    await expect(api.admin.adminDeleteUser('ada')).rejects.toMatchObject({ status: 422 });
    expect((await api.admin.adminDeleteUser('owner', { purge: true })).status).toBe(204);
    expect((await fixture.api('GET', '/repos/owner/tools')).status).toBe(404);
  });

  it.each([
    ['POST', '/admin/users'],
    ['PATCH', '/admin/users/ada'],
    ['DELETE', '/admin/users/ada'],
    ['POST', '/admin/users/ada/keys'],
  ])('is refused to other accounts: %s %s', async (method, path) => {
    const { text } = await makeKey(fixture, `refused-${method}${path.replaceAll('/', '-')}`);
    const body = { username: 'mallory', password, title: 'k', key: text };
    expect((await fixture.api(method, path, body, bob)).status).toBe(403);
  });
});

describe('transfer of a repository to an account', () => {
  const send = async (authorization: string | undefined, method: string, path: string, body?: unknown) =>
    (await fixture.api(method, path, body, authorization)).status;
  /** Creates a private repository of bob and offers it to an account. */
  const offer = async (name: string, recipient: string): Promise<string> => {
    await fixture.api('POST', '/user/repos', { name, private: true }, bob);
    const path = `/repos/bob/${name}/transfer`;
    expect(await send(bob, 'POST', path, { new_owner: recipient })).toBe(201);
    return path;
  };

  it('waits until the recipient accepts it', async () => {
    const carl = await fixture.account('carl');
    const dora = await fixture.account('dora');
    const path = await offer('gift', 'carl');
    // The repository still belongs to the former owner, who cannot accept the transfer.
    expect(await send(bob, 'POST', `${path}/accept`)).toBe(403);
    expect(await send(carl, 'GET', '/repos/bob/gift')).toBe(404);
    expect(await send(dora, 'POST', `${path}/accept`)).toBe(404);
    expect(await send(carl, 'POST', `${path}/accept`)).toBe(202);
    expect(await send(carl, 'GET', '/repos/carl/gift')).toBe(200);
    expect(await send(bob, 'GET', '/repos/carl/gift')).toBe(404);
    // Administrators transfer without an acceptance.
    expect(await send(undefined, 'POST', '/repos/carl/gift/transfer', { new_owner: 'ada' })).toBe(202);
  });

  it('is offered again after it was rejected', async () => {
    const erik = await fixture.account('erik');
    const path = await offer('returned', 'erik');
    expect(await send(erik, 'POST', `${path}/reject`)).toBe(200);
    expect(await send(erik, 'POST', `${path}/accept`)).toBe(404);
    expect(await send(bob, 'POST', path, { new_owner: 'erik' })).toBe(201);
  });

  it('is refused without an offer, to unknown accounts and twice', async () => {
    await fixture.account('fern');
    await fixture.api('POST', '/user/repos', { name: 'single', private: true }, bob);
    const path = '/repos/bob/single/transfer';
    expect(await send(bob, 'POST', `${path}/accept`)).toBe(404);
    expect(await send(bob, 'POST', path, { new_owner: 'nobody' })).toBe(422);
    expect(await send(bob, 'POST', path, { new_owner: 'fern' })).toBe(201);
    expect(await send(bob, 'POST', path, { new_owner: 'fern' })).toBe(409);
  });

  it('is withdrawn when the recipient is deleted, also for a new account with the same name', async () => {
    await fixture.account('gina');
    const path = await offer('other', 'gina');
    expect((await api.admin.adminDeleteUser('gina')).status).toBe(204);
    await expect.poll(() => send(bob, 'POST', `${path}/reject`), { timeout: 20_000 }).toBe(404);
  });
});

it('does not let repository administrators accept a transfer or delete the repository', async () => {
  await fixture.create('shared', { auto_init: true });
  expect((await fixture.api('PUT', '/repos/ada/shared/collaborators/bob', { permission: 'admin' })).status).toBe(204);
  expect((await fixture.api('PATCH', '/repos/ada/shared', { description: 'Ours' }, bob)).status).toBe(200);
  expect((await fixture.api('POST', '/repos/ada/shared/transfer', { new_owner: 'bob' }, bob)).status).toBe(403);
  expect((await fixture.api('DELETE', '/repos/ada/shared', undefined, bob)).status).toBe(403);
  const page = `${fixture.host.url('control')}/api/git/repositories/ada/shared`;
  expect((await fetch(page, { method: 'DELETE', headers: { authorization: bob } })).status).toBe(403);
  expect((await fixture.api('GET', '/repos/ada/shared')).status).toBe(200);
  expect((await fixture.api('DELETE', '/repos/ada/shared')).status).toBe(204);
});
