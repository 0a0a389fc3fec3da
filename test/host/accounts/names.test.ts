import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eachDialect } from '../../support/database.ts';
import { openHouse, type House } from './accounts-fixture.ts';

eachDialect((_name, open, createLocation) => {
  let house: House;
  beforeEach(async () => {
    const location = createLocation();
    house = await openHouse(() => open(location));
  });
  afterEach(() => house[Symbol.asyncDispose]());

  describe('account names', () => {
    it('rejects a name that differs from another only in case', async () => {
      await house.accounts.create({ name: 'victim' });
      await expect(house.accounts.create({ name: 'Victim' })).rejects.toMatchObject({ code: 'accounts.exists' });
    });

    it('rejects the name of an organization, ignoring case', async () => {
      await house.accounts.reserveName('git', { name: 'Acme', kind: 'organization' });
      await expect(house.accounts.create({ name: 'acme' })).rejects.toMatchObject({
        code: 'accounts.name_reserved',
        detail: 'The name "Acme" belongs to an organization in git already.',
      });
    });

    it('rejects an organization with the name of an account, ignoring case', async () => {
      await house.accounts.create({ name: 'mia' });
      const reservation = { name: 'MIA', kind: 'organization' };
      await expect(house.accounts.reserveName('git', reservation)).rejects.toMatchObject({ code: 'accounts.exists' });
    });

    it('can be used again after their release', async () => {
      await house.accounts.reserveName('git', { name: 'acme', kind: 'organization' });
      await house.accounts.releaseName('git', 'Acme');
      await expect(house.accounts.create({ name: 'acme' })).resolves.toMatchObject({ name: 'acme' });
    });

    it('gives the name to one of an account and an organization created concurrently', async () => {
      const results = await Promise.allSettled([
        house.accounts.create({ name: 'acme' }),
        house.accounts.reserveName('git', { name: 'ACME', kind: 'organization' }),
      ]);
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });

    it('reports colliding reservations, and replaces those of the service', async () => {
      await house.accounts.create({ name: 'mia' });
      await house.accounts.reserveName('git', { name: 'gone', kind: 'organization' });
      const collisions = await house.accounts.synchronizeNames('git', [
        { name: 'Mia', kind: 'organization' },
        { name: 'acme', kind: 'organization' },
      ]);
      expect(collisions).toEqual(['Mia']);
      await expect(house.accounts.create({ name: 'gone' })).resolves.toMatchObject({ name: 'gone' });
      await expect(house.accounts.create({ name: 'ACME' })).rejects.toMatchObject({ code: 'accounts.name_reserved' });
      expect((await house.another()).collisions).toEqual([['mia', 'Mia (organization)']]);
    });

    it('rejects declared accounts, imports and a first administrator that differ only in case', async () => {
      await house.accounts.create({ name: 'mia' });
      const user = { name: 'Mia', passwordHash: `$2b$10$${'a'.repeat(53)}`, role: 'user' as const };
      await house.accounts.declare({ authUsers: [user], authAccess: [], authTokens: [] });
      expect(await house.accounts.find('Mia')).toBeUndefined();
      expect(await house.accounts.firstRun.ensureAdministrator('MIA', 'a password of some length')).toBe(false);
      const exported = (await house.accounts.exportAccounts({ secrets: true })) as { name: string }[];
      const twin = exported.filter(({ name }) => name === 'mia').map((account) => ({ ...account, name: 'mIA' }));
      await expect(house.accounts.importAccounts([...exported, ...twin])).rejects.toMatchObject({
        code: 'accounts.invalid',
      });
      const code = await house.accounts.firstRun.code();
      await expect(house.accounts.firstRun.complete(code, 'miA', 'a password of some length')).rejects.toMatchObject({
        code: 'accounts.exists',
      });
    });
  });

  describe('removal of an account', () => {
    it('lets each service release the data, immediately or at its next start', async () => {
      const { accounts } = house;
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
      using _again = await (await house.another()).releases.attach('sync', data);
      expect(released).toEqual([]);
      await expect(accounts.create({ name: 'Mia.removed' })).rejects.toMatchObject({ code: 'accounts.name_reserved' });
    });

    it('reserves the name while a service cannot release the data, and retries at its start', async () => {
      const { accounts } = house;
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
      await house.accounts.create({ name: 'temp' });
      for (const to of ['nobody', 'temp', '*']) {
        await expect(house.accounts.remove('temp', { action: 'transfer', to })).rejects.toMatchObject({
          code: 'accounts.bad_recipient',
        });
      }
      expect(await house.accounts.find('temp')).toBeDefined();
    });
  });
});
