import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eachDialect } from '../../support/database.ts';
import { basic, openAccountsFixture, type AccountsFixture } from './accounts-fixture.ts';

eachDialect((_name, open, createLocation) => {
  let fixture: AccountsFixture;
  beforeEach(async () => {
    const location = createLocation();
    fixture = await openAccountsFixture(() => open(location));
  });
  afterEach(() => fixture[Symbol.asyncDispose]());

  const password = 'correct horse';
  const done = { code: 'accounts.setup_done', status: 409 };
  const badCode = { code: 'accounts.bad_setup_code', status: 403 };

  describe('set-up code', () => {
    test('is required until there is an administrator', async () => {
      const { firstRun } = fixture.accounts;
      expect(firstRun.needed()).toBe(true);
      const code = await firstRun.code();
      expect(await firstRun.code()).toBe(code);
      expect(JSON.stringify(await fixture.database.kysely.selectFrom('setup').selectAll().execute())).not.toContain(
        code,
      );
      expect(await firstRun.complete(code, 'mia', password)).toMatchObject({
        name: 'mia',
        role: 'admin',
        kind: 'person',
      });
      expect(firstRun.needed()).toBe(false);
      expect(await fixture.accounts.authenticate(basic('mia', password))).toMatchObject({ role: 'admin' });
      await expect(firstRun.code()).rejects.toMatchObject(done);
      await expect(firstRun.complete(code, 'jo', password)).rejects.toMatchObject(done);
      expect(await fixture.database.kysely.selectFrom('setup').selectAll().execute()).toEqual([]);
    });

    test('is invalid after the next start', async () => {
      const old = await fixture.accounts.firstRun.code();
      const { firstRun } = await fixture.another();
      const code = await firstRun.code();
      expect(code).not.toBe(old);
      await expect(firstRun.complete(old, 'mia', password)).rejects.toMatchObject(badCode);
      await firstRun.complete(code, 'mia', password);
    });

    test('creates one administrator for concurrent calls on several hosts', async () => {
      const other = await fixture.another();
      const code = await fixture.accounts.firstRun.code();
      const names = Array.from({ length: 10 }, (_, index) => `person-${index}`);
      const results = await Promise.allSettled(
        names.map((name, index) =>
          (index % 2 === 0 ? fixture.accounts : other).firstRun.complete(code, name, password),
        ),
      );
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      const codes = results.map((result) =>
        result.status === 'rejected' ? (result.reason as { code: string }).code : 'made',
      );
      expect(new Set(codes)).toEqual(new Set(['made', done.code]));
      const people = await fixture.database.kysely
        .selectFrom('accounts')
        .selectAll()
        .where('kind', '=', 'person')
        .execute();
      expect(people).toHaveLength(1);
    });

    test('is throttled after wrong attempts without locking out the right code', async () => {
      const { firstRun } = fixture.accounts;
      const code = await firstRun.code();
      for (let count = 0; count < 10; count += 1)
        await expect(firstRun.complete('guess', 'mia', password)).rejects.toMatchObject(badCode);
      await expect(firstRun.complete('', 'mia', password)).rejects.toMatchObject({
        code: 'accounts.too_many_attempts',
        status: 429,
      });
      fixture.clock.advance(10_000);
      await expect(firstRun.complete('\0', 'mia', password)).rejects.toMatchObject(badCode);
      await expect(firstRun.complete('x'.repeat(100_000), 'mia', password)).rejects.toMatchObject({ status: 429 });
      await firstRun.complete(code, 'mia', password);
    });

    test('is rejected before one was created', async () => {
      await expect(fixture.accounts.firstRun.complete('', 'mia', password)).rejects.toMatchObject(badCode);
    });

    test('remains valid when name or password are invalid', async () => {
      const { firstRun } = fixture.accounts;
      const code = await firstRun.code();
      await expect(firstRun.complete(code, 'mia', 'short')).rejects.toMatchObject({
        fields: { password: expect.any(String) as string },
      });
      await expect(firstRun.complete(code, 'm i a', password)).rejects.toMatchObject({
        fields: { name: expect.any(String) as string },
      });
      await expect(firstRun.complete(code, 'monitoring', password)).rejects.toMatchObject({ code: 'accounts.exists' });
      await firstRun.complete(code, 'mia', password);
    });
  });

  describe('administrator from the environment', () => {
    test('is created at the first start and ends the set-up', async () => {
      const code = await fixture.accounts.firstRun.code();
      expect(await fixture.accounts.firstRun.ensureAdministrator('root', password)).toBe(true);
      expect(fixture.accounts.firstRun.needed()).toBe(false);
      await expect(fixture.accounts.firstRun.complete(code, 'mia', password)).rejects.toMatchObject(done);
    });

    test('is unchanged afterwards, with a password changed since', async () => {
      await fixture.accounts.firstRun.ensureAdministrator('root', password);
      await fixture.accounts.change('root', { password: 'battery staple' });
      const { firstRun } = await fixture.another();
      expect(await firstRun.ensureAdministrator('root', password)).toBe(false);
      expect(await firstRun.ensureAdministrator('other', password)).toBe(false);
      expect(await fixture.accounts.authenticate(basic('root', 'battery staple'))).toMatchObject({ account: 'root' });
    });

    test('does not take over an existing account with this name', async () => {
      await fixture.accounts.create({ name: 'mia', password });
      expect(await fixture.accounts.firstRun.ensureAdministrator('mia', 'battery staple')).toBe(false);
      expect(await fixture.accounts.find('mia')).toMatchObject({ role: 'user' });
      expect(fixture.accounts.firstRun.needed()).toBe(true);
    });

    test('is created once by two concurrent starts', async () => {
      const other = await fixture.another();
      const both = await Promise.all(
        [fixture.accounts, other].map(({ firstRun }) => firstRun.ensureAdministrator('root', password)),
      );
      expect(both.sort()).toEqual([false, true]);
    });
  });
});
