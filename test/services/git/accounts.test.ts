import { afterAll, beforeAll, expect, it } from 'vitest';
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

it('creates, changes and deletes accounts with their data for administrators', async () => {
  const { admin } = api;
  const password = 'a long password of eve';
  const eve = `Basic ${Buffer.from(`eve:${password}`).toString('base64')}`;
  const created = await admin.adminCreateUser({
    username: 'eve',
    email: 'eve@example.org',
    password,
    full_name: 'Eve',
    must_change_password: false,
  });
  expect([created.status, created.data]).toMatchObject([
    201,
    { login: 'eve', full_name: 'Eve', is_admin: false, active: true },
  ]);
  expect((await fixture.api('POST', '/user/repos', { name: 'hers' }, eve)).status).toBe(201);
  await expect(admin.adminCreateUser({ username: 'Eve', email: '', password })).rejects.toMatchObject({ status: 422 });
  await expect(admin.adminCreateUser({ username: 'a b', email: '', password })).rejects.toMatchObject({ status: 422 });
  await expect(admin.adminCreateUser({ username: 'fred', email: '', password: 'short' })).rejects.toMatchObject({
    status: 400,
  });
  const { data: changed } = await admin.adminEditUser('eve', {
    login_name: 'eve',
    source_id: 0,
    admin: true,
    location: 'Eden',
  });
  expect(changed).toMatchObject({ is_admin: true, location: 'Eden' });
  await admin.adminEditUser('eve', { login_name: 'eve', source_id: 0, admin: false, prohibit_login: true });
  expect((await fixture.api('GET', '/user', undefined, eve)).status).toBe(401);
  const { text } = await makeKey(fixture, 'eve');
  const { data: key } = await admin.adminCreatePublicKey('eve', { title: 'eve', key: text });
  expect(key).toMatchObject({ title: 'eve', user: { login: 'eve' } });
  expect((await admin.adminDeleteUserPublicKey('eve', key.id!)).status).toBe(204);
  await expect(admin.adminDeleteUser('eve')).rejects.toMatchObject({ status: 422 });
  await expect(admin.adminDeleteUser('ada')).rejects.toMatchObject({ status: 422 });
  expect((await admin.adminDeleteUser('eve', { purge: true })).status).toBe(204);
  expect((await fixture.api('GET', '/repos/eve/hers')).status).toBe(404);
  for (const [method, path] of [
    ['POST', '/admin/users'],
    ['PATCH', '/admin/users/ada'],
    ['DELETE', '/admin/users/ada'],
    ['POST', '/admin/users/ada/keys'],
  ] as const) {
    const response = await fixture.api(method, path, { username: 'mallory', password, title: 'k', key: text }, bob);
    expect([path, response.status]).toEqual([path, 403]);
  }
});

it('transfers a repository to an account that accepts or rejects it', async () => {
  const asBob = async (method: string, path: string, body?: unknown) =>
    (await fixture.api(method, path, body, bob)).status;
  const carl = await fixture.account('carl');
  const asCarl = async (method: string, path: string) => (await fixture.api(method, path, undefined, carl)).status;
  await fixture.api('POST', '/user/repos', { name: 'gift', private: true }, bob);
  const transferPath = '/repos/bob/gift/transfer';
  expect(await asBob('POST', `${transferPath}/accept`)).toBe(404);
  expect(await asBob('POST', transferPath, { new_owner: 'nobody' })).toBe(422);
  expect(await asBob('POST', transferPath, { new_owner: 'carl' })).toBe(201);
  expect(await asBob('POST', transferPath, { new_owner: 'carl' })).toBe(409);
  // The repository still belongs to the former owner, who cannot accept the transfer.
  expect(await asBob('POST', `${transferPath}/accept`)).toBe(403);
  expect([await asCarl('GET', '/repos/bob/gift'), await asCarl('POST', `${transferPath}/reject`)]).toEqual([404, 200]);
  expect(await asCarl('POST', `${transferPath}/accept`)).toBe(404);
  expect(await asBob('POST', transferPath, { new_owner: 'carl' })).toBe(201);
  const dora = await fixture.account('dora');
  expect((await fixture.api('POST', `${transferPath}/accept`, undefined, dora)).status).toBe(404);
  expect(await asCarl('POST', `${transferPath}/accept`)).toBe(202);
  expect([await asCarl('GET', '/repos/carl/gift'), await asBob('GET', '/repos/carl/gift')]).toEqual([200, 404]);
  // A transfer to a deleted account is not offered to a new account with the same name.
  await fixture.api('POST', '/user/repos', { name: 'other' }, bob);
  expect(await asBob('POST', '/repos/bob/other/transfer', { new_owner: 'dora' })).toBe(201);
  expect((await api.admin.adminDeleteUser('dora')).status).toBe(204);
  const offer = () => asBob('POST', '/repos/bob/other/transfer/reject');
  await expect.poll(offer, { timeout: 20_000 }).toBe(404);
  // Administrators may accept and reject.
  expect((await fixture.api('POST', '/repos/carl/gift/transfer', { new_owner: 'ada' })).status).toBe(202);
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
