import * as accountProblems from '#messages/account-problems';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eachDialect } from '../../support/database.ts';
import { openAccountsFixture, type AccountsFixture } from './accounts-fixture.ts';

eachDialect((_name, open, createLocation) => {
  let fixture: AccountsFixture;
  beforeEach(async () => {
    const location = createLocation();
    fixture = await openAccountsFixture(() => open(location));
  });
  afterEach(() => fixture[Symbol.asyncDispose]());

  describe('account names', () => {
    it('rejects a name that differs from another only in case', async () => {
      await fixture.accounts.create({ name: 'victim' });
      await expect(fixture.accounts.create({ name: 'Victim' })).rejects.toMatchObject({ code: 'accounts.exists' });
    });

    it('rejects the name of an organization, ignoring case', async () => {
      await fixture.accounts.reserveName('git', { name: 'Acme', kind: 'organization' });
      await expect(fixture.accounts.create({ name: 'acme' })).rejects.toMatchObject({
        code: 'accounts.name_reserved',
        detail: accountProblems.nameReservedIn({ name: 'Acme', service: 'git', kind: 'organization' }),
      });
    });

    it('rejects an organization with the name of an account, ignoring case', async () => {
      await fixture.accounts.create({ name: 'mia' });
      const reservation = { name: 'MIA', kind: 'organization' };
      await expect(fixture.accounts.reserveName('git', reservation)).rejects.toMatchObject({ code: 'accounts.exists' });
    });

    it('can be used again after their release', async () => {
      await fixture.accounts.reserveName('git', { name: 'acme', kind: 'organization' });
      await fixture.accounts.releaseName('git', 'Acme');
      await expect(fixture.accounts.create({ name: 'acme' })).resolves.toMatchObject({ name: 'acme' });
    });

    it('gives the name to one of an account and an organization created concurrently', async () => {
      const results = await Promise.allSettled([
        fixture.accounts.create({ name: 'acme' }),
        fixture.accounts.reserveName('git', { name: 'ACME', kind: 'organization' }),
      ]);
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });

    it('reports colliding reservations, and replaces those of the service', async () => {
      await fixture.accounts.create({ name: 'mia' });
      await fixture.accounts.reserveName('git', { name: 'gone', kind: 'organization' });
      const collisions = await fixture.accounts.synchronizeNames('git', [
        { name: 'Mia', kind: 'organization' },
        { name: 'acme', kind: 'organization' },
      ]);
      expect(collisions).toEqual(['Mia']);
      await expect(fixture.accounts.create({ name: 'gone' })).resolves.toMatchObject({ name: 'gone' });
      await expect(fixture.accounts.create({ name: 'ACME' })).rejects.toMatchObject({ code: 'accounts.name_reserved' });
      expect((await fixture.another()).collisions).toEqual([['mia', 'Mia (organization)']]);
    });

    it('rejects declared accounts, imports and a first administrator that differ only in case', async () => {
      await fixture.accounts.create({ name: 'mia' });
      const user = { name: 'Mia', passwordHash: `$2b$10$${'a'.repeat(53)}`, role: 'user' as const };
      await fixture.accounts.declare({ authUsers: [user], authAccess: [], authTokens: [] });
      expect(await fixture.accounts.find('Mia')).toBeUndefined();
      expect(await fixture.accounts.firstRun.ensureAdministrator('MIA', 'a password of some length')).toBe(false);
      const exported = (await fixture.accounts.exportAccounts({ secrets: true })) as { name: string }[];
      const twin = exported.filter(({ name }) => name === 'mia').map((account) => ({ ...account, name: 'mIA' }));
      await expect(fixture.accounts.importAccounts([...exported, ...twin])).rejects.toMatchObject({
        code: 'accounts.invalid',
      });
      const code = await fixture.accounts.firstRun.code();
      await expect(fixture.accounts.firstRun.complete(code, 'miA', 'a password of some length')).rejects.toMatchObject({
        code: 'accounts.exists',
      });
    });
  });

  describe('removal of an account', () => {
    it('lets each service release the data, immediately or at its next start', async () => {
      const { accounts } = fixture;
      const released: unknown[] = [];
      const data = {
        summary: () => Promise.resolve([{ kind: 'repositories', count: 2 }]),
        release: (...args: unknown[]) => Promise.resolve(void released.push(args)),
      };
      using _git = await accounts.releases.attach('git', data);
      for (const name of ['mia', 'jo', 'temp']) await accounts.create({ name });
      expect(await accounts.releases.summary('temp')).toEqual([{ service: 'git', kind: 'repositories', count: 2 }]);
      await accounts.remove('temp', { action: 'transfer', to: 'mia' });
      await accounts.remove('jo', { action: 'delete' });
      await accounts.remove('mia');
      const expected = [
        ['temp', { action: 'transfer', to: 'mia' }],
        ['jo', { action: 'delete' }],
        ['mia', { action: 'keep', as: 'mia.removed' }],
      ];
      expect(released.splice(0)).toEqual(expected);
      using _sync = await accounts.releases.attach('sync', data);
      expect(released.splice(0)).toEqual(expected);
      using _again = await (await fixture.another()).releases.attach('sync', data);
      expect(released).toEqual([]);
      await expect(accounts.create({ name: 'Mia.removed' })).rejects.toMatchObject({ code: 'accounts.name_reserved' });
    });

    it('reserves the name while a service cannot release the data, and retries at its start', async () => {
      const { accounts } = fixture;
      await accounts.create({ name: 'temp' });
      const summary = () => Promise.resolve([]);
      const broken = { summary, release: () => Promise.reject(new Error('disk full')) };
      (await accounts.releases.attach('git', broken))[Symbol.dispose]();
      const attached = await accounts.releases.attach('git', broken);
      await accounts.remove('temp', { action: 'delete' });
      await expect(accounts.create({ name: 'temp' })).rejects.toMatchObject({ code: 'accounts.data_pending' });
      attached[Symbol.dispose]();
      using _ = await accounts.releases.attach('git', { summary, release: () => Promise.resolve() });
      await expect(accounts.create({ name: 'temp' })).resolves.toMatchObject({ name: 'temp' });
    });

    it('rejects a recipient that does not exist or is the account itself', async () => {
      await fixture.accounts.create({ name: 'temp' });
      for (const to of ['nobody', 'temp', '*']) {
        await expect(fixture.accounts.remove('temp', { action: 'transfer', to })).rejects.toMatchObject({
          code: 'accounts.bad_recipient',
        });
      }
      expect(await fixture.accounts.find('temp')).toBeDefined();
    });
  });
});
