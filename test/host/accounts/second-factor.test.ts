import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SecondFactorNeeded } from '../../../services/contracts/control/second-factor.ts';
import { eachDialect } from '../../support/database.ts';
import { readCode } from '../../support/second-factor.ts';
import { address, basic, openAccountsFixture, session, type AccountsFixture } from './accounts-fixture.ts';

const password = 'velvet-otter-93-lantern';
const client = { remoteAddress: address, userAgent: 'test' };

eachDialect((_name, open, createLocation) => {
  let fixture: AccountsFixture;
  beforeEach(async () => {
    const location = createLocation();
    fixture = await openAccountsFixture(() => open(location));
    await fixture.accounts.create({ name: 'mia', password });
  });
  afterEach(() => fixture[Symbol.asyncDispose]());

  const code = (secret: string): string => readCode(secret, 0, fixture.clock.now());
  async function enable(): Promise<{ secret: string; recoveryCodes: readonly string[] }> {
    const { secret } = await fixture.accounts.factors.begin('mia');
    const recoveryCodes = await fixture.accounts.factors.confirm('mia', code(secret), address);
    fixture.clock.advance(30_000);
    return { secret, recoveryCodes };
  }
  async function ticket(): Promise<string> {
    const refusal: unknown = await fixture.accounts.signIn('mia', password, client).catch((error: unknown) => error);
    if (refusal instanceof SecondFactorNeeded) return refusal.ticket;
    throw new Error('The sign-in did not ask for a second factor.');
  }
  const complete = async (secret: string) =>
    fixture.accounts.factors.complete(await ticket(), { code: secret }, client);
  const wrong = { code: 'accounts.wrong_code' };

  describe('a second factor', () => {
    it('accepts a code and a recovery code once, also at another host', async () => {
      const { secret, recoveryCodes } = await enable();
      const [first = '', second = ''] = recoveryCodes;
      const { secret: opened } = await complete(code(secret));
      expect(await fixture.accounts.authenticate(session(opened))).toMatchObject({ account: 'mia', via: 'session' });
      await expect(complete(code(secret))).rejects.toMatchObject(wrong);
      await complete(first);
      await expect(complete(first)).rejects.toMatchObject(wrong);
      const another = await fixture.another();
      await expect(another.factors.disable('mia', first, address)).rejects.toMatchObject(wrong);
      await another.factors.disable('mia', second, address);
      expect(await another.factors.status('mia')).toEqual({ on: false, recoveryLeft: 0, passkeys: [] });
    });

    it('has recovery codes that cannot be guessed from their stored fingerprints, and reads them in any form', async () => {
      const { recoveryCodes } = await enable();
      // 24 characters have more than the 112 bits that OWASP ASVS 6.5.2 requires without a password hash.
      for (const each of recoveryCodes) expect(each).toMatch(/^(?:[a-z0-9]{6}-){3}[a-z0-9]{6}$/);
      expect(new Set(recoveryCodes).size).toBe(10);
      const [first = '', second = ''] = recoveryCodes;
      await complete(first.replaceAll('-', ''));
      await complete(` ${second.replaceAll('-', ' ').toUpperCase()} `);
      expect(await fixture.accounts.factors.status('mia')).toMatchObject({ recoveryLeft: 8 });
    });

    it('replaces the recovery codes, so that the former ones no longer work', async () => {
      await fixture.accounts.factors.begin('mia');
      const renew = (proof: string) => fixture.accounts.factors.renewRecoveryCodes('mia', proof, address);
      await expect(renew('000000')).rejects.toMatchObject({ code: 'accounts.no_second_factor' });
      const { secret, recoveryCodes } = await enable();
      await complete(recoveryCodes[0] ?? '');
      await expect(renew('000000')).rejects.toMatchObject(wrong);
      expect(await fixture.accounts.factors.status('mia')).toMatchObject({ recoveryLeft: 9 });
      const [first = ''] = await renew(code(secret));
      expect(await fixture.accounts.factors.status('mia')).toMatchObject({ on: true, recoveryLeft: 10 });
      await expect(complete(recoveryCodes[1] ?? '')).rejects.toMatchObject(wrong);
      await complete(first);
      expect(fixture.logged.join('\n')).toContain('"event":"recovery_codes_replaced"');
    });

    it('is shown in the list of accounts once it is confirmed', async () => {
      await fixture.accounts.factors.begin('mia');
      expect((await fixture.accounts.find('mia'))?.secondFactor).toBeUndefined();
      await enable();
      expect((await fixture.accounts.find('mia'))?.secondFactor).toBe(true);
      expect((await (await fixture.another()).find('mia'))?.secondFactor).toBe(true);
    });

    it('is reset with its passkeys, its recovery codes and all sessions of the account', async () => {
      const { secret, recoveryCodes } = await enable();
      const { secret: opened } = await complete(code(secret));
      const row = { id: 'key', account: 'mia', label: 'Key', host: 'localhost', public_key: 'x' };
      await fixture.database.kysely
        .insertInto('passkeys')
        .values({ ...row, counter: 0, transports: '[]', created_at: 1, last_used_at: null })
        .execute();
      expect((await fixture.accounts.factors.status('mia')).passkeys).toHaveLength(1);
      const begun = await ticket();
      await fixture.accounts.factors.reset('mia');
      expect(await fixture.accounts.authenticate(session(opened))).toBeUndefined();
      expect(await fixture.accounts.sessions('mia')).toEqual([]);
      expect(await fixture.accounts.factors.status('mia')).toEqual({ on: false, recoveryLeft: 0, passkeys: [] });
      expect((await fixture.accounts.find('mia'))?.secondFactor).toBeUndefined();
      expect(await fixture.database.kysely.selectFrom('passkeys').selectAll().execute()).toEqual([]);
      const late = fixture.accounts.factors.complete(begun, { code: recoveryCodes[3] ?? '' }, client);
      await expect(late).rejects.toMatchObject(wrong);
      expect(await fixture.accounts.authenticate(basic('mia', password))).toMatchObject({ via: 'password' });
      await fixture.accounts.signIn('mia', password, client);
      expect(fixture.logged.join('\n')).toContain('"detail":"reset by an administrator"');
    });

    it('is reset without a record where there was none', async () => {
      await fixture.accounts.factors.begin('mia');
      await fixture.accounts.factors.reset('mia');
      expect(fixture.logged.join('\n')).not.toContain('second_factor_disabled');
    });
  });

  describe('all sessions of an account', () => {
    it('ends all sessions of the account and keeps its tokens and those of others', async () => {
      await fixture.accounts.create({ name: 'jo', password });
      const { text } = await fixture.accounts.createToken('mia', { label: 'phone', expiresAt: null });
      const recoveryCodes = [
        await fixture.accounts.signIn('mia', password, client),
        await fixture.accounts.signIn('mia', password, client),
      ];
      const other = await fixture.accounts.signIn('jo', password, client);
      expect(await fixture.accounts.endSessions('mia')).toBe(2);
      for (const { secret } of recoveryCodes)
        expect(await fixture.accounts.authenticate(session(secret))).toBeUndefined();
      expect(await fixture.accounts.authenticate(session(other.secret))).toMatchObject({ account: 'jo' });
      expect(await fixture.accounts.authenticate(basic('mia', text))).toMatchObject({ via: 'token' });
      expect(await fixture.accounts.endSessions('mia')).toBe(0);
      await expect(fixture.accounts.endSessions('nobody')).rejects.toMatchObject({ code: 'accounts.unknown' });
    });
  });
});
