import bcrypt from 'bcryptjs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { badCredentials, basic, openAccountsFixture, type AccountsFixture } from './accounts-fixture.ts';

let fixture: AccountsFixture;
beforeEach(async () => {
  fixture = await openAccountsFixture();
});
afterEach(() => fixture[Symbol.asyncDispose]());

/** Hash of `userpass12` as an ntfy server stored it. */
const passwordHash = '$2a$10$B7epPN738kNYPBtxG65ks.PJ6w1l44RtG7vapyUaRpmUYt72A4doC';

const stored = async (name: string): Promise<unknown> => {
  const [account] = await fixture.database.kysely.selectFrom('accounts').selectAll().where('name', '=', name).execute();
  return account?.password_hash;
};

test('accepts a password with the hash of another program until its owner signs in', async () => {
  await fixture.accounts.create({ name: 'ben', passwordHash });
  expect(await fixture.accounts.find('ben')).toMatchObject({ hasPassword: true });
  await expect(fixture.accounts.authenticate(basic('ben', 'userpass1'))).rejects.toMatchObject(badCredentials);
  expect(await stored('ben')).toBe(passwordHash);
  const identity = await fixture.accounts.authenticate(basic('ben', 'userpass12'));
  expect(identity).toMatchObject({ account: 'ben', via: 'password' });
  expect(await stored('ben')).toMatch(/^\$scrypt\$/);
  expect(identity !== undefined && fixture.accounts.isStillValid(identity)).toBe(true);
  expect(await fixture.accounts.authenticate(basic('ben', 'userpass12'))).toBe(identity);
  await expect(fixture.accounts.authenticate(basic('ben', 'userpass1'))).rejects.toMatchObject(badCredentials);
});

test.each(['a', 'b', 'y'])('accepts the format $2%s$', async (letter) => {
  const hash = (await bcrypt.hash('pässwörd', 4)).replace(/^\$2.\$/, `$2${letter}$`);
  await fixture.accounts.create({ name: 'jo', passwordHash: hash });
  expect(await fixture.accounts.authenticate(basic('jo', 'pässwörd'))).toMatchObject({ account: 'jo' });
});

test('hashes once and updates the account once for many concurrent requests', async () => {
  await fixture.accounts.create({ name: 'ben', passwordHash });
  fixture.changed.length = 0;
  const all = await Promise.all(
    Array.from({ length: 20 }, () => fixture.accounts.authenticate(basic('ben', 'userpass12'))),
  );
  expect(new Set(all).size).toBe(1);
  expect(fixture.changed).toEqual(['ben']);
});

test.each([
  '',
  'plain',
  '$2a$10$abc',
  '$2x$10$' + 'a'.repeat(53),
  '$2a$03$' + 'a'.repeat(53),
  '$2a$14$' + 'a'.repeat(53),
  '$2a$31$' + 'a'.repeat(53),
  '$2a$10$' + 'a'.repeat(54),
  '$scrypt$ln=8,r=8,p=1$' + 'a'.repeat(22) + '$' + 'a'.repeat(43),
])('rejects the hash %j', async (hash) => {
  const refused = { code: 'accounts.invalid', status: 400 };
  await expect(fixture.accounts.create({ name: 'jo', passwordHash: hash })).rejects.toMatchObject(refused);
  await fixture.accounts.create({ name: 'mia', password: 'correct horse' });
  await expect(fixture.accounts.change('mia', { passwordHash: hash })).rejects.toMatchObject(refused);
  await expect(fixture.accounts.change('*', { passwordHash })).rejects.toMatchObject({ code: 'accounts.reserved' });
});

test('limits passwords to the length that bcrypt uses', async () => {
  await fixture.accounts.create({ name: 'jo', passwordHash: await bcrypt.hash('x'.repeat(72), 4) });
  await expect(fixture.accounts.authenticate(basic('jo', 'x'.repeat(73)))).rejects.toMatchObject(badCredentials);
  expect(await fixture.accounts.authenticate(basic('jo', 'x'.repeat(72)))).toMatchObject({ account: 'jo' });
});

test('signs in although the new hash cannot be stored', async () => {
  await fixture.accounts.create({ name: 'ben', passwordHash });
  await fixture.database.kysely.schema.alterTable('revision').renameTo('gone').execute();
  expect(await fixture.accounts.authenticate(basic('ben', 'userpass12'))).toMatchObject({ account: 'ben' });
  await fixture.database.kysely.schema.alterTable('gone').renameTo('revision').execute();
  expect(fixture.logged.join('\n')).toContain('password hash renewal failed');
  expect(fixture.logged.join('\n')).not.toContain('userpass12');
  fixture.clock.advance(61_000);
  expect(await fixture.accounts.authenticate(basic('ben', 'userpass12'))).toMatchObject({ account: 'ben' });
  expect(await stored('ben')).toMatch(/^\$scrypt\$/);
});

test('preserves the hash in an export and import', async () => {
  await fixture.accounts.create({ name: 'ben', passwordHash });
  const exported = await fixture.accounts.exportAccounts({ secrets: true });
  await using otherFixture = await openAccountsFixture();
  await otherFixture.accounts.importAccounts(exported);
  expect(await otherFixture.accounts.authenticate(basic('ben', 'userpass12'))).toMatchObject({ account: 'ben' });
});

test('lets other checks run while a hash is verified', async () => {
  await fixture.accounts.create({ name: 'jo', passwordHash: await bcrypt.hash('correct horse', 12) });
  const turns = vi.fn();
  const entry = setInterval(turns, 1);
  await fixture.accounts.authenticate(basic('jo', 'correct horse'));
  clearInterval(entry);
  expect(turns).toHaveBeenCalled();
});
