import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { accountsMigrations } from '../../../main/host/accounts/tables.ts';
import type { ProviderUser } from '../../../services/contracts/control/provider-users.ts';
import { eachDialect } from '../../support/database.ts';
import { openAccountsFixture, type AccountsFixture } from './accounts-fixture.ts';

const password = 'velvet-otter-93-lantern';
const homeGrant = { service: 'push', resource: 'home-*', permission: 'read' as const };
const kim: ProviderUser = {
  issuer: 'https://auth.example',
  subject: 'sub-kim',
  assignedAccount: undefined,
  assignedToOthers: [],
  name: 'kim',
  mayCreate: false,
  isAdministrator: false,
  grants: [],
};

eachDialect((_name, open, createLocation) => {
  let fixture: AccountsFixture;
  beforeEach(async () => {
    const location = createLocation();
    fixture = await openAccountsFixture(() => open(location));
    await fixture.accounts.create({ name: 'ada', password, role: 'admin' });
  });
  afterEach(() => fixture[Symbol.asyncDispose]());

  const resolve = (user: Partial<ProviderUser>) => fixture.accounts.providerAccounts.resolve({ ...kim, ...user });

  describe('accounts of users of an OpenID provider', () => {
    it('links an account to one of two users who report its name at the same time on two hosts', async () => {
      await fixture.accounts.create({ name: 'kim' });
      const other = await fixture.another();
      const results = await Promise.all([
        resolve({}),
        other.providerAccounts.resolve({ ...kim, subject: 'sub-other-kim' }),
      ]);
      expect(results.map((result) => result.is).toSorted()).toEqual(['account', 'name-taken']);
    });

    it('opens no account that another host removed', async () => {
      await fixture.accounts.create({ name: 'kim' });
      const { kysely } = fixture.database;
      // The removal is not published, so this host still has the account in memory.
      await kysely.deleteFrom('accounts').where('name', '=', 'kim').execute();
      expect(await resolve({ grants: [homeGrant] })).toEqual({ is: 'unknown', name: 'kim' });
      expect(await kysely.selectFrom('grants').selectAll().where('account', '=', 'kim').execute()).toEqual([]);
    });

    it('links no account by its name when it has a second factor', async () => {
      await fixture.accounts.create({ name: 'kim' });
      const factor = { account: 'kim', secret: 'sealed', confirmed: 1, recovery: '[]', last_step: 0 };
      await fixture.database.kysely.insertInto('second_factors').values(factor).execute();
      expect(await resolve({})).toEqual({ is: 'name-taken', name: 'kim' });
      expect(await resolve({ assignedAccount: 'kim' })).toEqual({ is: 'account', name: 'kim' });
    });

    it('takes away the role and the grants of groups when the user is assigned to another account', async () => {
      await fixture.accounts.create({ name: 'grace', password });
      await fixture.accounts.create({ name: 'mia', password });
      const groups = { isAdministrator: true, grants: [homeGrant] };
      await resolve({ assignedAccount: 'grace', ...groups });
      expect(await fixture.accounts.find('grace')).toMatchObject({ role: 'admin', grants: [homeGrant] });
      await resolve({ assignedAccount: 'mia', ...groups });
      expect(await fixture.accounts.find('mia')).toMatchObject({ role: 'admin', grants: [homeGrant] });
      expect(await fixture.accounts.find('grace')).toMatchObject({ role: 'user', grants: [] });
    });

    it('keeps a grant that the settings declare when the user leaves the group with the same grant', async () => {
      await fixture.accounts.create({ name: 'kim' });
      await resolve({ grants: [homeGrant] });
      const entry = { user: 'kim', service: 'push', pattern: 'home-*', permission: 'read' as const };
      await fixture.accounts.declare({ authUsers: [], authAccess: [entry], authTokens: [] });
      await resolve({ grants: [] });
      expect((await fixture.accounts.find('kim'))?.grants).toEqual([homeGrant]);
    });
  });

  describe('the migration of provider identities', () => {
    it('keeps the accounts of users', async () => {
      const database = await open(createLocation());
      await database.migrate(accountsMigrations.filter(({ name }) => name < '011'));
      const row = { issuer: 'https://auth.example', subject: 'sub-kim', account: 'kim', link: 'name' };
      const values = { ...row, role: '', grants: '[]', created_at: 1 };
      await database.kysely.insertInto('provider_identities').values(values).execute();
      await database.migrate(accountsMigrations);
      expect(await database.kysely.selectFrom('provider_identities').selectAll().execute()).toMatchObject([row]);
      const assigned = { ...values, account: 'grace', link: 'assigned' };
      await database.kysely.insertInto('provider_identities').values(assigned).execute();
    });
  });
});
