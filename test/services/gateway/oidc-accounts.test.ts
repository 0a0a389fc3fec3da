import * as problems from '#messages/gateway-problems';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Account } from '../../../services/contracts/control/accounts.ts';
import { control } from '../../../services/control/index.ts';
import { gateway } from '../../../services/gateway/index.ts';
import { api } from '../../support/api.ts';
import { fixtureService } from '../../support/fixture-service.ts';
import { openHome, type Answer, type Home } from '../../support/gateway/phone.ts';
import { openProvider, type TestProvider } from '../../support/gateway/provider.ts';

const password = 'velvet-otter-93-lantern';
const services = [fixtureService('lamp'), control, gateway];
const serviceUrl = 'https://lamp.nas.local';
const lampGrant = { service: 'lamp', resource: '*', permission: 'read' };
/** Claims of the users, which a test may change between two sign-ins. */
let people: Record<string, Record<string, unknown>>;
let home: Home;
let provider: TestProvider;
beforeEach(async () => {
  people = {
    'sub-kim': { preferred_username: 'kim', groups: ['family'] },
    'sub-other-kim': { preferred_username: 'kim', groups: ['family'] },
    'sub-grace': { preferred_username: 'grace', groups: ['family'] },
    'sub-ada': { preferred_username: 'ada', groups: ['family', 'owners'] },
  };
  home = await openHome({ services, settings: { shared: ['lamp'] } });
  provider = await openProvider([`https://lamp.nas.local:${home.port}/.homeport/oidc/callback`], people);
  await home.change({
    ...{ oidcIssuer: provider.issuer, oidcClientId: provider.client.id, oidcClientSecret: provider.client.secret },
    ...{ oidcVerify: false, oidcName: 'Harbour', oidcScopes: 'openid profile email groups', oidcGroups: ['family'] },
    ...{ oidcCreateAccounts: true, oidcGroupGrants: ['family=lamp read *'], oidcAdminGroups: ['owners'] },
  });
});
afterEach(async () => {
  await home[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

const getCookies = ({ headers }: Answer): string =>
  (headers['set-cookie'] ?? []).map((entry) => entry.split(';')[0] ?? '').join('; ');

async function signIn(subject: string): Promise<Answer> {
  const first = await home.ask(`${serviceUrl}/.homeport/oidc?to=/`);
  const returned = new URL(await provider.signIn(first.headers.location ?? '', subject));
  const headers = { Cookie: getCookies(first) };
  return home.ask(`${serviceUrl}${returned.pathname}${returned.search}`, { headers });
}
const list = async (): Promise<readonly Account[]> =>
  (await api<{ accounts: Account[] }>(home.host.url('control'), '/api/accounts')).accounts;
const find = async (name: string): Promise<Account | undefined> =>
  (await list()).find((account) => account.name === name);
const create = (account: object): Promise<unknown> =>
  api(home.host.url('control'), '/api/accounts', { method: 'POST', body: JSON.stringify(account) });
const change = (name: string, fields: object): Promise<unknown> =>
  api(home.host.url('control'), `/api/accounts/${name}`, { method: 'PATCH', body: JSON.stringify(fields) });
const decode = ({ body }: Answer): string => body.replaceAll('&#39;', "'");

describe('accounts that OpenID sign-ins create', () => {
  it('gives accounts the grants of the groups, which open the services', async () => {
    const response = await signIn('sub-kim');
    expect(response.status).toBe(303);
    expect(await find('kim')).toMatchObject({ role: 'user', kind: 'person', hasPassword: false, grants: [lampGrant] });
    const Cookie = getCookies(response).split('; ')[0] ?? '';
    expect((await home.ask(`${serviceUrl}/`, { headers: { Cookie } })).body).toBe('lamp');
    expect((await signIn('sub-kim')).status).toBe(303);
    expect((await list()).filter(({ name }) => name === 'kim')).toHaveLength(1);
    expect(home.host.log.filter((line) => line.includes('account created') && line.includes('kim'))).toHaveLength(1);
  });

  it('creates one account for concurrent sign-ins', async () => {
    const responses = await Promise.all([signIn('sub-kim'), signIn('sub-kim'), signIn('sub-kim')]);
    expect(responses.map(({ status }) => status)).toEqual([303, 303, 303]);
    expect((await list()).filter(({ name }) => name === 'kim')).toHaveLength(1);
  });

  it('keeps accounts for their subject, whatever name another one reports', async () => {
    await signIn('sub-kim');
    const other = await signIn('sub-other-kim');
    const names = { provider: 'Harbour', subject: 'sub-other-kim', account: 'kim' };
    expect([other.status, decode(other)]).toEqual([403, expect.stringContaining(problems.subjectNameTaken(names))]);
    // The name at the provider counts only for the first sign-in.
    people['sub-kim'] = { preferred_username: 'renamed', groups: ['family'] };
    expect((await signIn('sub-kim')).status).toBe(303);
    expect(await find('renamed')).toBeUndefined();
  });

  it('creates no accounts without the setting, or for users who are not allowed', async () => {
    people['sub-kim'] = { preferred_username: 'kim', groups: ['guests'] };
    expect((await signIn('sub-kim')).status).toBe(403);
    people['sub-kim'] = { preferred_username: 'kim', groups: ['family'] };
    await home.change({ oidcCreateAccounts: false });
    const names = { provider: 'Harbour', subject: 'sub-kim', account: 'kim' };
    expect(decode(await signIn('sub-kim'))).toContain(problems.subjectAccountUnknown(names));
    people['sub-kim'] = { preferred_username: 'no valid name', groups: ['family'] };
    await home.change({ oidcCreateAccounts: true });
    expect((await signIn('sub-kim')).status).toBe(403);
    expect((await list()).map(({ name }) => name)).not.toContain('kim');
  });
});

describe('existing accounts', () => {
  it('refuses to link accounts by name when they have a password or a token', async () => {
    await create({ name: 'grace', password });
    const taken = { provider: 'Harbour', subject: 'sub-grace', account: 'grace' };
    expect(decode(await signIn('sub-grace'))).toContain(problems.subjectNameTaken(taken));
    await create({ name: 'kim' });
    await api(home.host.url('control'), '/api/accounts/kim/tokens', { method: 'POST', body: '{}' });
    expect((await signIn('sub-kim')).status).toBe(403);
    expect((await signIn('sub-ada')).status).toBe(403);
  });

  it('opens accounts whose subject the owner assigned, or that the owner created without a password', async () => {
    await create({ name: 'grace', password });
    await create({ name: 'kim' });
    await home.change({ oidcAccounts: ['sub-grace=grace'] });
    expect((await signIn('sub-grace')).status).toBe(303);
    expect((await signIn('sub-kim')).status).toBe(303);
    expect((await signIn('sub-other-kim')).status).toBe(403);
    // The assignment ends with the setting.
    await home.change({ oidcAccounts: [] });
    expect((await signIn('sub-grace')).status).toBe(403);
    expect((await signIn('sub-kim')).status).toBe(303);
  });

  it('links accounts to the first subject with their name when none are created automatically', async () => {
    await home.change({ oidcCreateAccounts: false });
    await create({ name: 'kim' });
    expect((await signIn('sub-kim')).status).toBe(303);
    expect((await signIn('sub-other-kim')).status).toBe(403);
    // The user keeps the account that was linked before it had a password.
    await change('kim', { password });
    expect((await signIn('sub-kim')).status).toBe(303);
    // A new account of the same name is another one.
    await api(home.host.url('control'), '/api/accounts/kim?data=delete', { method: 'DELETE' });
    await create({ name: 'kim' });
    expect((await signIn('sub-other-kim')).status).toBe(303);
  });

  it('refuses to link accounts that have credentials when none are created automatically', async () => {
    await home.change({ oidcCreateAccounts: false });
    await create({ name: 'grace', password });
    await create({ name: 'kim' });
    await api(home.host.url('control'), '/api/accounts/kim/tokens', { method: 'POST', body: '{}' });
    const taken = { provider: 'Harbour', subject: 'sub-grace', account: 'grace' };
    expect(decode(await signIn('sub-grace'))).toContain(problems.subjectNameTaken(taken));
    expect((await signIn('sub-kim')).status).toBe(403);
  });

  it.each([{ oidcCreateAccounts: true }, { oidcCreateAccounts: false }])(
    'refuses names of accounts that the owner assigned to others, with $oidcCreateAccounts',
    async (setting) => {
      await home.change({ ...setting, oidcAccounts: ['sub-kim=Kim', 'sub-ada=grace'] });
      await create({ name: 'grace' });
      await create({ name: 'Kim' });
      people['sub-other-kim'] = { preferred_username: 'Kim', groups: ['family'] };
      // The assigned users have not signed in yet.
      expect((await signIn('sub-other-kim')).status).toBe(403);
      expect((await signIn('sub-grace')).status).toBe(403);
      expect((await signIn('sub-kim')).status).toBe(303);
      // After the assignment ended, the account is still that of the user who signed in to it.
      await home.change({ oidcAccounts: [] });
      expect((await signIn('sub-other-kim')).status).toBe(403);
    },
  );

  it('creates no account with a name that the owner assigned to another subject', async () => {
    await home.change({ oidcAccounts: ['sub-kim=kim'] });
    const taken = { provider: 'Harbour', subject: 'sub-other-kim', account: 'kim' };
    expect(decode(await signIn('sub-other-kim'))).toContain(problems.subjectNameTaken(taken));
    expect(await find('kim')).toBeUndefined();
  });

  it('keeps the account of a user who is assigned to another one for some time', async () => {
    await signIn('sub-kim');
    await create({ name: 'grace', password });
    await home.change({ oidcAccounts: ['sub-kim=grace'] });
    expect((await signIn('sub-kim')).status).toBe(303);
    expect((await find('grace'))?.grants).toEqual([lampGrant]);
    expect((await signIn('sub-other-kim')).status).toBe(403);
    await home.change({ oidcAccounts: [] });
    const response = await signIn('sub-kim');
    expect(response.status).toBe(303);
    // The rights of the groups follow the user.
    expect((await find('grace'))?.grants).toEqual([]);
    expect((await find('kim'))?.grants).toEqual([lampGrant]);
    people['sub-kim'] = { preferred_username: 'kim', groups: [] };
    await home.change({ oidcSubjects: ['sub-kim'] });
    await signIn('sub-kim');
    expect((await find('kim'))?.grants).toEqual([]);
  });

  it('links an account to one of two users with the same name who sign in at the same time', async () => {
    await create({ name: 'kim' });
    const responses = await Promise.all([signIn('sub-kim'), signIn('sub-other-kim')]);
    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([303, 403]);
  });
});

describe('groups of the provider', () => {
  it('adds and removes grants at each sign-in, and keeps the grants that an administrator set', async () => {
    await home.change({ oidcGroupGrants: ['family=lamp read *', 'cn=media,ou=groups=downloads read-write a=b'] });
    people['sub-kim'] = { preferred_username: 'kim', groups: ['family', 'cn=media,ou=groups'] };
    await signIn('sub-kim');
    const media = { service: 'downloads', resource: 'a=b', permission: 'read-write' };
    expect((await find('kim'))?.grants).toEqual([lampGrant, media]);
    const own = { service: 'push', resource: 'kim-*', permission: 'read-write' };
    await change('kim', { grants: [lampGrant, media, own] });
    people['sub-kim'] = { preferred_username: 'kim', groups: ['family'] };
    await signIn('sub-kim');
    expect((await find('kim'))?.grants).toEqual([own, lampGrant]);
    // The administrator restricts what a group permits: the own grant takes precedence.
    await change('kim', { grants: [own, { ...lampGrant, permission: 'none' }] });
    await signIn('sub-kim');
    expect((await find('kim'))?.grants).toEqual([own, { ...lampGrant, permission: 'none' }]);
    await home.change({ oidcSubjects: ['sub-kim'] });
    people['sub-kim'] = { preferred_username: 'kim', groups: [] };
    await signIn('sub-kim');
    expect((await find('kim'))?.grants).toEqual([own, { ...lampGrant, permission: 'none' }]);
  });

  it('records no change when an administrator saves the grants in another order', async () => {
    await home.change({ oidcGroupGrants: ['family=lamp read *', 'family=lamp read b'] });
    await signIn('sub-kim');
    const [first, second] = (await find('kim'))?.grants ?? [];
    await change('kim', { grants: [second, first] });
    const countRecords = (): number => home.host.log.filter((line) => line.includes('grants changed')).length;
    const before = countRecords();
    expect(before).toBeGreaterThan(0);
    expect((await signIn('sub-kim')).status).toBe(303);
    expect(countRecords()).toBe(before);
    expect((await find('kim'))?.grants).toEqual([second, first]);
  });

  it('gives and takes the role of an administrator, but only where a group gave it', async () => {
    people['sub-kim'] = { preferred_username: 'kim', groups: ['family', 'owners'] };
    await signIn('sub-kim');
    expect((await find('kim'))?.role).toBe('admin');
    people['sub-kim'] = { preferred_username: 'kim', groups: ['family'] };
    expect((await signIn('sub-kim')).status).toBe(303);
    expect((await find('kim'))?.role).toBe('user');
    await change('kim', { role: 'admin' });
    expect((await signIn('sub-kim')).status).toBe(303);
    expect((await find('kim'))?.role).toBe('admin');
  });

  it('keeps the role of the last administrator', async () => {
    await home.change({ oidcAccounts: ['sub-ada=grace'] });
    await create({ name: 'grace', password });
    await signIn('sub-ada');
    expect((await find('grace'))?.role).toBe('admin');
    // The groups gave grace the role, and grace is the only administrator left who can sign in with a password.
    const basic = `Basic ${Buffer.from(`grace:${password}`).toString('base64')}`;
    await api(home.host.url('control'), '/api/accounts/ada', {
      method: 'PATCH',
      body: '{"role":"user"}',
      headers: { Authorization: basic },
    });
    people['sub-ada'] = { preferred_username: 'ada', groups: ['family'] };
    expect((await signIn('sub-ada')).status).toBe(303);
    const reply = await fetch(`${home.host.url('control')}/api/accounts`, { headers: { Authorization: basic } });
    const { accounts } = (await reply.json()) as { accounts: Account[] };
    expect(accounts.find(({ name }) => name === 'grace')).toMatchObject({ role: 'admin', grants: [lampGrant] });
  });

  it('reads groups from a nested claim, and from the user info', async () => {
    people['sub-kim'] = { preferred_username: 'kim', realm_access: { roles: ['family'] } };
    expect((await signIn('sub-kim')).status).toBe(403);
    await home.change({ oidcGroupsClaim: 'realm_access.roles' });
    expect((await signIn('sub-kim')).status).toBe(303);
  });
});

describe('email addresses of the provider', () => {
  it('admits users by domain only when the address is verified', async () => {
    await home.change({ oidcGroups: [], oidcEmailDomains: ['Example.org'] });
    const emails: readonly (readonly [Record<string, unknown>, number])[] = [
      [{ email: 'kim@example.org' }, 403],
      [{ email: 'kim@example.org', email_verified: false }, 403],
      [{ email: 'kim@example.org', email_verified: 'true' }, 403],
      [{ email: 'kim@example.org.evil.example', email_verified: true }, 403],
      [{ email: 'kim@evil.example@example.org', email_verified: true }, 403],
      [{ email: 'kim@sub.example.org', email_verified: true }, 403],
      [{ email: 'kim@EXAMPLE.org', email_verified: true }, 303],
    ];
    for (const [claims, status] of emails) {
      people['sub-kim'] = { preferred_username: 'kim', ...claims };
      expect([claims, (await signIn('sub-kim')).status]).toEqual([claims, status]);
    }
  });

  it('names accounts by addresses only when they are verified', async () => {
    await home.change({ oidcAccountClaim: 'email' });
    people['sub-kim'] = { email: 'kim@example.org', email_verified: false, groups: ['family'] };
    const names = { provider: 'Harbour', subject: 'sub-kim' };
    expect(decode(await signIn('sub-kim'))).toContain(problems.subjectEmailUnverified(names));
    people['sub-kim'] = { email: 'kim@example.org', email_verified: true, groups: ['family'] };
    expect((await signIn('sub-kim')).status).toBe(303);
    expect(await find('kim@example.org')).toMatchObject({ role: 'user' });
  });
});
