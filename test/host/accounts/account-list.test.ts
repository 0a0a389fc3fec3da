import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AccountChange } from '../../../services/contracts/control/accounts.ts';
import { eachDialect } from '../../support/database.ts';
import { badCredentials, basic, openHouse, type House } from './accounts-fixture.ts';

eachDialect((_name, open, createLocation) => {
  let house: House;
  beforeEach(async () => {
    const location = createLocation();
    house = await openHouse(() => open(location));
  });
  afterEach(() => house[Symbol.asyncDispose]());

  const password = 'correct horse';
  const lastAdmin = { code: 'accounts.last_admin', status: 409 };

  describe('accounts.create, change and remove', () => {
    test('stores an account as created across a restart', async () => {
      const grants = [
        { service: 'push', resource: 'b*', permission: 'read' as const },
        { service: 'push', resource: 'a', permission: 'none' as const },
      ];
      const created = await house.accounts.create({ name: 'mia', password, description: 'Mia', grants });
      expect(created).toEqual({
        name: 'mia',
        kind: 'person',
        role: 'user',
        enabled: true,
        description: 'Mia',
        hasPassword: true,
        grants,
        createdAt: house.clock.now(),
      });
      expect(await (await house.another()).find('mia')).toEqual(created);
      expect(await house.accounts.list()).toContainEqual(created);
    });

    test('notifies services of a removed account once and of no other change', async () => {
      await house.accounts.create({ name: 'mia', password });
      await house.accounts.change('mia', { enabled: false });
      await expect(house.accounts.remove('nobody')).rejects.toMatchObject({ code: 'accounts.unknown' });
      await new Promise((resolve) => setImmediate(resolve));
      expect(house.removed).toEqual([]);
      await house.accounts.remove('mia');
      await new Promise((resolve) => setImmediate(resolve));
      expect(house.removed).toEqual(['mia']);
    });

    test('stores the password as scrypt with its parameters', async () => {
      await house.accounts.create({ name: 'mia', password });
      const row = await house.database.kysely
        .selectFrom('accounts')
        .selectAll()
        .where('name', '=', 'mia')
        .executeTakeFirst();
      expect(row?.password_hash).toMatch(/^\$scrypt\$ln=8,r=8,p=1\$[\w-]{22}\$[\w-]{43}$/);
    });

    test.each(['', 'a b', 'ü', '*', 'a\0', '../x', 'x'.repeat(65), "a' or 1=1 --"])(
      'rejects the name %j',
      async (name) => {
        await expect(house.accounts.create({ name })).rejects.toMatchObject({
          code: 'accounts.invalid',
          status: 400,
          fields: { name: expect.any(String) as string },
        });
      },
    );

    test.each<[string, AccountChange]>([
      ['password', { password: '' }],
      ['password', { password: 'x'.repeat(1025) }],
      ['password', { password: `tk_${'a'.repeat(29)}` }],
      ['description', { description: 'x'.repeat(1001) }],
      ['description', { description: '\0' }],
      ['grants.0', { grants: [{ service: 'push', resource: '', permission: 'read' }] }],
      ['grants.0', { grants: [{ service: '*', resource: 'a', permission: 'read' }] }],
      ['grants.0', { grants: [{ service: 'push', resource: 'a\0', permission: 'read' }] }],
      ['grants.0', { grants: [{ service: 'push', resource: 'x'.repeat(129), permission: 'read' }] }],
    ])('rejects an invalid %s in create and change', async (field, change) => {
      await house.accounts.create({ name: 'mia' });
      const refusal = { code: 'accounts.invalid', fields: { [field]: expect.any(String) as string } };
      await expect(house.accounts.change('mia', change)).rejects.toMatchObject(refusal);
      await expect(house.accounts.create({ name: 'jo', ...change })).rejects.toMatchObject(refusal);
    });

    test('assigns a name only once for concurrent calls', async () => {
      const results = await Promise.allSettled(
        Array.from({ length: 5 }, () => house.accounts.create({ name: 'mia', password })),
      );
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      await expect(house.accounts.create({ name: 'mia' })).rejects.toMatchObject({
        code: 'accounts.exists',
        status: 409,
      });
      await expect(house.accounts.create({ name: 'monitoring' })).rejects.toMatchObject({ code: 'accounts.exists' });
    });

    test('rejects changing or removing an unknown account', async () => {
      const refusal = { code: 'accounts.unknown', status: 404 };
      await expect(house.accounts.change('nobody', {})).rejects.toMatchObject(refusal);
      await expect(house.accounts.remove('nobody')).rejects.toMatchObject(refusal);
      expect(await house.accounts.find('nobody')).toBeUndefined();
      expect(await house.accounts.find('\0')).toBeUndefined();
    });

    test('removes everything that belongs to an account', async () => {
      await house.accounts.create({
        name: 'mia',
        password,
        grants: [{ service: 'push', resource: '*', permission: 'read' }],
      });
      await house.accounts.createToken('mia', { label: '', expiresAt: null });
      await house.accounts.signIn('mia', password, { remoteAddress: '::1', userAgent: '' });
      await house.accounts.remove('mia');
      for (const table of ['grants', 'tokens', 'sessions']) {
        expect(
          await house.database.kysely.selectFrom(table).selectAll().where('account', '=', 'mia').execute(),
        ).toEqual([]);
      }
      await house.accounts.create({ name: 'mia' });
      await expect(house.accounts.authenticate(basic('mia', password))).rejects.toMatchObject(badCredentials);
    });

    test('publishes every change', async () => {
      await house.accounts.create({ name: 'mia', password });
      await house.accounts.change('mia', { description: 'x' });
      const { token } = await house.accounts.createToken('mia', { label: '', expiresAt: null });
      await house.accounts.removeToken('mia', token.id);
      const { identity } = await house.accounts.signIn('mia', password, { remoteAddress: '::1', userAgent: '' });
      await house.accounts.signOut(identity);
      await house.accounts.remove('mia');
      await expect.poll(() => house.changed).toEqual(Array<string>(7).fill('mia'));
    });

    test('publishes nothing for a rejected change', async () => {
      await house.accounts.create({ name: 'root', password, role: 'admin' });
      await house.accounts.remove('root').catch(() => {});
      await house.accounts.create({ name: 'mia' });
      await expect.poll(() => house.changed).toEqual(['root', 'mia']);
    });
  });

  describe('everyone', () => {
    test('is not listed as an account, but its grants can be read and changed', async () => {
      expect((await house.accounts.list()).map(({ name }) => name)).not.toContain('*');
      const grants = [{ service: 'push', resource: 'public-*', permission: 'read' as const }];
      expect(await house.accounts.change('*', { grants })).toMatchObject({ name: '*', grants });
      expect(await house.accounts.find('*')).toMatchObject({ grants });
    });

    test.each([{ password }, { enabled: false }, { role: 'admin' as const }])('rejects %j', async (change) => {
      await expect(house.accounts.change('*', change)).rejects.toMatchObject({ code: 'accounts.reserved' });
    });

    test('cannot be removed or created', async () => {
      await expect(house.accounts.remove('*')).rejects.toMatchObject({ code: 'accounts.reserved' });
      await expect(house.accounts.create({ name: '*' })).rejects.toMatchObject({ code: 'accounts.invalid' });
    });
  });

  describe('last administrator', () => {
    beforeEach(() => house.accounts.create({ name: 'root', password, role: 'admin' }));

    test('cannot be removed, disabled or demoted', async () => {
      await expect(house.accounts.remove('root')).rejects.toMatchObject(lastAdmin);
      await expect(house.accounts.change('root', { enabled: false })).rejects.toMatchObject(lastAdmin);
      await expect(house.accounts.change('root', { role: 'user', description: 'gone' })).rejects.toMatchObject(
        lastAdmin,
      );
      expect(await house.accounts.find('root')).toMatchObject({ enabled: true, role: 'admin', description: '' });
      expect(await house.accounts.authenticate(basic('root', password))).toMatchObject({ role: 'admin' });
    });

    test('does not count service accounts and users who cannot sign in', async () => {
      await house.accounts.change('administration', { enabled: true, password });
      await house.accounts.create({ name: 'locked-out', role: 'admin' });
      await house.accounts.create({ name: 'disabled', role: 'admin', password, enabled: false });
      await expect(house.accounts.remove('root')).rejects.toMatchObject(lastAdmin);
    });

    test('keeps one of two concurrently removed administrators, on one host or two', async () => {
      const other = await house.another();
      await house.accounts.create({ name: 'second', password, role: 'admin' });
      house.clock.advance(30_000);
      await expect.poll(() => other.find('second')).toBeDefined();
      const results = await Promise.allSettled([
        house.accounts.remove('root'),
        other.change('second', { role: 'user' }),
      ]);
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    });

    test('can be removed when there is another one', async () => {
      await house.accounts.create({ name: 'second', password, role: 'admin' });
      await house.accounts.remove('root');
      expect(await house.accounts.find('root')).toBeUndefined();
    });
  });
});
