import { scryptSync } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eachDialect } from '../../support/database.ts';
import { badCredentials, basic, openAccountsFixture, type AccountsFixture } from './accounts-fixture.ts';

const password = 'velvet-otter-93-lantern';

/** A hash as earlier versions stored it: N = 2^15. */
function hashAtOldCost(text: string): string {
  const salt = Buffer.alloc(16, 7);
  const hash = scryptSync(text, salt, 32, { N: 2 ** 15, r: 8, p: 1, maxmem: 128 * 1024 * 1024 });
  return `$scrypt$ln=15,r=8,p=1$${salt.toString('base64url')}$${hash.toString('base64url')}`;
}

eachDialect((_name, open, createLocation) => {
  let fixture: AccountsFixture;
  beforeEach(async () => {
    const location = createLocation();
    fixture = await openAccountsFixture(() => open(location), 17);
    await fixture.accounts.create({ name: 'mia', enabled: true });
    await fixture.database.kysely
      .updateTable('accounts')
      .set({ password_hash: hashAtOldCost(password) })
      .where('name', '=', 'mia')
      .execute();
    await fixture.accounts.change('mia', { description: 'read again' });
  });
  afterEach(() => fixture[Symbol.asyncDispose]());

  const stored = async (): Promise<string> => {
    const query = fixture.database.kysely.selectFrom('accounts').select('password_hash').where('name', '=', 'mia');
    return (await query.executeTakeFirstOrThrow()).password_hash ?? '';
  };

  describe('a password hash of a lower cost', () => {
    it('is replaced by one with N = 2^17 at the first successful sign-in, and is unchanged after a failed one', async () => {
      await expect(fixture.accounts.authenticate(basic('mia', 'not it'))).rejects.toMatchObject(badCredentials);
      expect(await stored()).toMatch(/^\$scrypt\$ln=15,r=8,p=1\$/);
      expect(await fixture.accounts.authenticate(basic('mia', password))).toMatchObject({ account: 'mia' });
      const renewed = await stored();
      expect(renewed).toMatch(/^\$scrypt\$ln=17,r=8,p=1\$/);
      const another = await fixture.another();
      expect(await another.authenticate(basic('mia', password))).toMatchObject({ account: 'mia' });
      expect(await stored()).toBe(renewed);
    });

    it('is replaced at a sign-in that opens a session, which stays open', async () => {
      const client = { remoteAddress: '192.0.2.7', userAgent: 'test' };
      const { secret, identity } = await fixture.accounts.signIn('mia', password, client);
      expect(await stored()).toMatch(/^\$scrypt\$ln=17,/);
      expect(await fixture.accounts.authenticate({ session: secret, remoteAddress: '192.0.2.7' })).toEqual(identity);
    });
  });
});
