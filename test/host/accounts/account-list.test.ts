import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AccountChange } from '../../../services/contracts/control/accounts.ts';
import { eachDialect } from '../../support/database.ts';
import { badCredentials, basic, openAccountsFixture, type AccountsFixture } from './accounts-fixture.ts';

eachDialect((_name, open, createLocation) => {
  let fixture: AccountsFixture;
  beforeEach(async () => {
    const location = createLocation();
    fixture = await openAccountsFixture(() => open(location));
  });
  afterEach(() => fixture[Symbol.asyncDispose]());

  const password = 'correct horse';
  const lastAdmin = { code: 'accounts.last_admin', status: 409 };

  describe('accounts.create, change and remove', () => {
    test('stores an account as created across a restart', async () => {
      const grants = [
        { service: 'push', resource: 'b*', permission: 'read' as const },
        { service: 'push', resource: 'a', permission: 'none' as const },
      ];
      const created = await fixture.accounts.create({ name: 'mia', password, description: 'Mia', grants });
      expect(created).toEqual({
        name: 'mia',
        kind: 'person',
        role: 'user',
        enabled: true,
        description: 'Mia',
        hasPassword: true,
        grants,
        createdAt: fixture.clock.now(),
      });
      expect(await (await fixture.another()).find('mia')).toEqual(created);
      expect(await fixture.accounts.list()).toContainEqual(created);
    });

    test('stores the language that a person selected, and removes it for the language of the browser', async () => {
      await fixture.accounts.create({ name: 'mia', password });
      expect(await fixture.accounts.change('mia', { language: 'pt-BR' })).toMatchObject({ language: 'pt-BR' });
      expect(await (await fixture.another()).find('mia')).toMatchObject({ language: 'pt-BR' });
      expect(await fixture.accounts.change('mia', { language: '' })).not.toHaveProperty('language');
    });

    test('notifies services of a removed account once and of no other change', async () => {
      await fixture.accounts.create({ name: 'mia', password });
      await fixture.accounts.change('mia', { enabled: false });
      await expect(fixture.accounts.remove('nobody')).rejects.toMatchObject({ code: 'accounts.unknown' });
      await new Promise((resolve) => setImmediate(resolve));
      expect(fixture.removed).toEqual([]);
      await fixture.accounts.remove('mia');
      await new Promise((resolve) => setImmediate(resolve));
      expect(fixture.removed).toEqual(['mia']);
    });

    test('stores the password as scrypt with its parameters', async () => {
      await fixture.accounts.create({ name: 'mia', password });
      const row = await fixture.database.kysely
        .selectFrom('accounts')
        .selectAll()
        .where('name', '=', 'mia')
        .executeTakeFirst();
      expect(row?.password_hash).toMatch(/^\$scrypt\$ln=8,r=8,p=1\$[\w-]{22}\$[\w-]{43}$/);
    });

    test.each(['', 'a b', 'ü', '*', 'a\0', '../x', 'x'.repeat(65), "a' or 1=1 --"])(
      'rejects the name %j',
      async (name) => {
        await expect(fixture.accounts.create({ name })).rejects.toMatchObject({
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
      await fixture.accounts.create({ name: 'mia' });
      const refusal = { code: 'accounts.invalid', fields: { [field]: expect.any(String) as string } };
      await expect(fixture.accounts.change('mia', change)).rejects.toMatchObject(refusal);
      await expect(fixture.accounts.create({ name: 'jo', ...change })).rejects.toMatchObject(refusal);
    });

    test('assigns a name only once for concurrent calls', async () => {
      const results = await Promise.allSettled(
        Array.from({ length: 5 }, () => fixture.accounts.create({ name: 'mia', password })),
      );
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      await expect(fixture.accounts.create({ name: 'mia' })).rejects.toMatchObject({
        code: 'accounts.exists',
        status: 409,
      });
      await expect(fixture.accounts.create({ name: 'monitoring' })).rejects.toMatchObject({ code: 'accounts.exists' });
    });

    test('rejects changing or removing an unknown account', async () => {
      const refusal = { code: 'accounts.unknown', status: 404 };
      await expect(fixture.accounts.change('nobody', {})).rejects.toMatchObject(refusal);
      await expect(fixture.accounts.remove('nobody')).rejects.toMatchObject(refusal);
      expect(await fixture.accounts.find('nobody')).toBeUndefined();
      expect(await fixture.accounts.find('\0')).toBeUndefined();
    });

    test('removes everything that belongs to an account', async () => {
      await fixture.accounts.create({
        name: 'mia',
        password,
        grants: [{ service: 'push', resource: '*', permission: 'read' }],
      });
      await fixture.accounts.createToken('mia', { label: '', expiresAt: null });
      await fixture.accounts.signIn('mia', password, { remoteAddress: '::1', userAgent: '' });
      await fixture.accounts.remove('mia');
      for (const table of ['grants', 'tokens', 'sessions']) {
        expect(
          await fixture.database.kysely.selectFrom(table).selectAll().where('account', '=', 'mia').execute(),
        ).toEqual([]);
      }
      await fixture.accounts.create({ name: 'mia' });
      await expect(fixture.accounts.authenticate(basic('mia', password))).rejects.toMatchObject(badCredentials);
    });

    test('publishes every change', async () => {
      await fixture.accounts.create({ name: 'mia', password });
      await fixture.accounts.change('mia', { description: 'x' });
      const { token } = await fixture.accounts.createToken('mia', { label: '', expiresAt: null });
      await fixture.accounts.removeToken('mia', token.id);
      const { identity } = await fixture.accounts.signIn('mia', password, { remoteAddress: '::1', userAgent: '' });
      await fixture.accounts.signOut(identity);
      await fixture.accounts.remove('mia');
      await expect.poll(() => fixture.changed).toEqual(Array<string>(7).fill('mia'));
    });

    test('publishes nothing for a rejected change', async () => {
      await fixture.accounts.create({ name: 'root', password, role: 'admin' });
      await fixture.accounts.remove('root').catch(() => {});
      await fixture.accounts.create({ name: 'mia' });
      await expect.poll(() => fixture.changed).toEqual(['root', 'mia']);
    });
  });

  describe('everyone', () => {
    test('is not listed as an account, but its grants can be read and changed', async () => {
      expect((await fixture.accounts.list()).map(({ name }) => name)).not.toContain('*');
      const grants = [{ service: 'push', resource: 'public-*', permission: 'read' as const }];
      expect(await fixture.accounts.change('*', { grants })).toMatchObject({ name: '*', grants });
      expect(await fixture.accounts.find('*')).toMatchObject({ grants });
    });

    test.each([{ password }, { enabled: false }, { role: 'admin' as const }])('rejects %j', async (change) => {
      await expect(fixture.accounts.change('*', change)).rejects.toMatchObject({ code: 'accounts.reserved' });
    });

    test('cannot be removed or created', async () => {
      await expect(fixture.accounts.remove('*')).rejects.toMatchObject({ code: 'accounts.reserved' });
      await expect(fixture.accounts.create({ name: '*' })).rejects.toMatchObject({ code: 'accounts.invalid' });
    });
  });

  describe('last administrator', () => {
    beforeEach(() => fixture.accounts.create({ name: 'root', password, role: 'admin' }));

    test('cannot be removed, disabled or demoted', async () => {
      await expect(fixture.accounts.remove('root')).rejects.toMatchObject(lastAdmin);
      await expect(fixture.accounts.change('root', { enabled: false })).rejects.toMatchObject(lastAdmin);
      await expect(fixture.accounts.change('root', { role: 'user', description: 'gone' })).rejects.toMatchObject(
        lastAdmin,
      );
      expect(await fixture.accounts.find('root')).toMatchObject({ enabled: true, role: 'admin', description: '' });
      expect(await fixture.accounts.authenticate(basic('root', password))).toMatchObject({ role: 'admin' });
    });

    test('does not count service accounts and users who cannot sign in', async () => {
      await fixture.accounts.change('administration', { enabled: true, password });
      await fixture.accounts.create({ name: 'locked-out', role: 'admin' });
      await fixture.accounts.create({ name: 'disabled', role: 'admin', password, enabled: false });
      await expect(fixture.accounts.remove('root')).rejects.toMatchObject(lastAdmin);
    });

    test('keeps one of two concurrently removed administrators, on one host or two', async () => {
      const other = await fixture.another();
      await fixture.accounts.create({ name: 'second', password, role: 'admin' });
      fixture.clock.advance(30_000);
      await expect.poll(() => other.find('second')).toBeDefined();
      const results = await Promise.allSettled([
        fixture.accounts.remove('root'),
        other.change('second', { role: 'user' }),
      ]);
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    });

    test('can be removed when there is another one', async () => {
      await fixture.accounts.create({ name: 'second', password, role: 'admin' });
      await fixture.accounts.remove('root');
      expect(await fixture.accounts.find('root')).toBeUndefined();
    });
  });
});
