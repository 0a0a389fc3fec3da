import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eachDialect } from '../../support/database.ts';
import {
  badCredentials,
  basic,
  bearer,
  session,
  openAccountsFixture,
  type AccountsFixture,
} from './accounts-fixture.ts';

eachDialect((_name, open, createLocation) => {
  let fixture: AccountsFixture;
  beforeEach(async () => {
    const location = createLocation();
    fixture = await openAccountsFixture(() => open(location));
  });
  afterEach(() => fixture[Symbol.asyncDispose]());

  const password = 'correct horse';
  const from = { remoteAddress: '::1', userAgent: '' };

  async function fill(): Promise<string> {
    const grants = [{ service: 'push', resource: 'b*', permission: 'read' as const }];
    await fixture.accounts.create({ name: 'root', password, role: 'admin' });
    await fixture.accounts.create({ name: 'mia', password, description: 'Mia', grants });
    await fixture.accounts.change('*', { grants });
    await fixture.accounts.change('mia', { language: 'de' });
    return (await fixture.accounts.createToken('mia', { label: 'phone', expiresAt: null })).text;
  }

  /** Returns the content of an export file. */
  const written = async (secrets: boolean) =>
    JSON.parse(JSON.stringify(await fixture.accounts.exportAccounts({ secrets }))) as Record<string, unknown>[];

  describe('account export and import', () => {
    test('restores accounts, grants, passwords and tokens on another host', async () => {
      const token = await fill();
      await using other = await openAccountsFixture();
      await other.accounts.importAccounts(await written(true));
      expect(await other.accounts.list()).toEqual(await fixture.accounts.list());
      expect(await other.accounts.find('*')).toEqual(await fixture.accounts.find('*'));
      expect(await other.accounts.authenticate(basic('mia', password))).toMatchObject({ account: 'mia' });
      expect(await other.accounts.authenticate(bearer(token))).toMatchObject({ account: 'mia' });
      expect(await other.accounts.exportAccounts({ secrets: true })).toEqual(
        await fixture.accounts.exportAccounts({ secrets: true }),
      );
    });

    test('contains no hash when sealed, and requires the same vault', async () => {
      const token = await fill();
      const data = await written(false);
      expect(JSON.stringify(data)).not.toMatch(/scrypt|[0-9a-f]{64}/);
      await fixture.accounts.remove('mia');
      await fixture.accounts.importAccounts(data);
      expect(await fixture.accounts.authenticate(bearer(token))).toMatchObject({ account: 'mia' });
      await using other = await openAccountsFixture();
      const before = await other.accounts.list();
      await expect(other.accounts.importAccounts(data)).rejects.toMatchObject({
        code: 'accounts.sealed_elsewhere',
        status: 400,
      });
      expect(await other.accounts.list()).toEqual(before);
    });

    test('replaces existing accounts and preserves sessions of unchanged ones', async () => {
      await fill();
      const data = await written(true);
      await fixture.accounts.create({ name: 'late', password });
      const stays = await fixture.accounts.signIn('mia', password, from);
      await fixture.accounts.change('root', { password: 'battery staple' });
      const ends = await fixture.accounts.signIn('root', 'battery staple', from);
      await fixture.accounts.importAccounts(data);
      expect(await fixture.accounts.find('late')).toBeUndefined();
      expect(await fixture.accounts.authenticate(session(stays.secret))).toMatchObject({ account: 'mia' });
      expect(await fixture.accounts.authenticate(session(ends.secret))).toBeUndefined();
      await expect(fixture.accounts.authenticate(basic('root', 'battery staple'))).rejects.toMatchObject(
        badCredentials,
      );
    });

    test('keeps the existing password for an entry without secrets', async () => {
      await fill();
      const data = (await written(true)).map(({ secrets: _, ...entry }) => entry);
      await fixture.accounts.importAccounts(data);
      expect(await fixture.accounts.authenticate(basic('mia', password))).toMatchObject({ account: 'mia' });
      expect(await fixture.accounts.tokens('mia')).toHaveLength(1);
    });

    test('does not change everyone into another account', async () => {
      await fill();
      const data = (await written(true)).map((entry) =>
        entry['name'] === '*' ? { ...entry, role: 'admin', kind: 'person', enabled: false } : entry,
      );
      await fixture.accounts.importAccounts(data);
      expect(await fixture.accounts.find('*')).toMatchObject({
        kind: 'service',
        role: 'user',
        enabled: true,
        hasPassword: false,
      });
      await fixture.accounts.importAccounts(data.filter((entry) => entry['name'] !== '*'));
      expect(await fixture.accounts.find('*')).toBeDefined();
    });

    test('is rejected without an administrator', async () => {
      await fill();
      const data = (await written(true)).filter((entry) => entry['name'] !== 'root');
      await expect(fixture.accounts.importAccounts(data)).rejects.toMatchObject({ code: 'accounts.last_admin' });
      expect(await fixture.accounts.find('root')).toBeDefined();
    });

    test.each<[string, (data: Record<string, unknown>[]) => unknown]>([
      ['no list', () => ({})],
      ['nothing', () => null],
      ['a bad name', ([first]) => [{ ...first, name: '../x' }]],
      ['a name twice', ([first]) => [first, first]],
      [
        'a hash of another kind',
        ([first]) => [{ ...first, name: 'x', secrets: { passwordHash: '$2a$10$abc', tokens: [] } }],
      ],
      [
        'a hash that would eat the machine',
        ([first]) => [
          {
            ...first,
            name: 'x',
            secrets: { passwordHash: `$scrypt$ln=31,r=32,p=1$${'a'.repeat(22)}$${'a'.repeat(43)}`, tokens: [] },
          },
        ],
      ],
      [
        'a token in plain text',
        ([first]) => [
          {
            ...first,
            name: 'x',
            secrets: {
              passwordHash: null,
              tokens: [{ id: 'a', hash: `tk_${'a'.repeat(29)}`, label: '', createdAt: 1, expiresAt: null }],
            },
          },
        ],
      ],
      [
        'a token twice',
        ([first]) => {
          const token = { id: 'a', hash: 'a'.repeat(64), label: '', createdAt: 1, expiresAt: null };
          return [{ ...first, name: 'x', secrets: { passwordHash: null, tokens: [token, token] } }];
        },
      ],
    ])('rejects %s and changes nothing', async (_case, corrupt) => {
      await fill();
      const before = await fixture.accounts.exportAccounts({ secrets: true });
      await expect(fixture.accounts.importAccounts(corrupt(await written(true)))).rejects.toMatchObject({
        code: 'accounts.invalid',
        status: 400,
      });
      expect(await fixture.accounts.exportAccounts({ secrets: true })).toEqual(before);
    });
  });
});
