import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { eachDialect } from '../../support/database.ts';
import {
  address,
  badCredentials,
  basic,
  bearer,
  openAccountsFixture,
  session,
  type AccountsFixture,
} from './accounts-fixture.ts';

eachDialect((_name, open, createLocation) => {
  let fixture: AccountsFixture;
  beforeEach(async () => {
    const location = createLocation();
    fixture = await openAccountsFixture(() => open(location));
    await fixture.accounts.create({ name: 'mia', password: 'correct horse' });
  });
  afterEach(() => fixture[Symbol.asyncDispose]());

  const authenticate = (...invalidCredentials: Parameters<AccountsFixture['accounts']['authenticate']>) =>
    fixture.accounts.authenticate(...invalidCredentials);
  const tokenFor = async (account: string, expiresAt: number | null = null) =>
    (await fixture.accounts.createToken(account, { label: 'test', expiresAt })).text;

  describe('access tokens', () => {
    test('are found by their text and their own account only', async () => {
      const text = await tokenFor('mia');
      await fixture.accounts.create({ name: 'jo', password: 'another one' });
      const [token] = await fixture.accounts.tokens('mia');
      expect(await fixture.accounts.findToken('mia', text)).toEqual(token);
      expect(await fixture.accounts.findToken('jo', text)).toBeUndefined();
      expect(await fixture.accounts.findToken('mia', `${text.slice(0, -1)}_`)).toBeUndefined();
    });

    test('changes label and expiry and publishes the change', async () => {
      const text = await tokenFor('mia', fixture.clock.now() + 1000);
      const token = await fixture.accounts.findToken('mia', text);
      const later = fixture.clock.now() + 60_000;
      const changed = await fixture.accounts.changeToken('mia', token?.id ?? '', { label: 'phone', expiresAt: later });
      expect(changed).toEqual({ ...token, label: 'phone', expiresAt: later });
      fixture.clock.advance(2000);
      expect(await authenticate(bearer(text))).toMatchObject({ account: 'mia' });
      expect(await fixture.accounts.changeToken('mia', token?.id ?? '', { expiresAt: null })).toMatchObject({
        label: 'phone',
        expiresAt: null,
      });
      await vi.waitFor(() => expect(fixture.changed).toContain('mia'));
      await expect(fixture.accounts.changeToken('mia', 'nope', { label: 'x' })).rejects.toMatchObject({
        code: 'accounts.unknown_token',
      });
    });

    test('are imported from another server once', async () => {
      const text = `tk_${'a1'.repeat(14)}z`;
      const options = { label: 'old phone', expiresAt: null, text };
      expect((await fixture.accounts.createToken('mia', options)).text).toBe(text);
      expect(await authenticate(bearer(text))).toMatchObject({ account: 'mia', via: 'token' });
      await expect(fixture.accounts.createToken('mia', options)).rejects.toMatchObject({
        code: 'accounts.token_exists',
      });
      await expect(fixture.accounts.createToken('mia', { ...options, text: 'tk_short' })).rejects.toMatchObject({
        code: 'accounts.invalid',
      });
    });

    test('have the format of ntfy and are stored as hashes', async () => {
      const text = await tokenFor('mia');
      expect(text).toMatch(/^tk_[a-z0-9]{29}$/);
      const rows = JSON.stringify(await fixture.database.kysely.selectFrom('tokens').selectAll().execute());
      expect(rows).not.toContain(text);
      expect(rows).not.toContain(text.slice(3));
    });

    test('are accepted as Bearer, and as Basic with an empty or matching name', async () => {
      const text = await tokenFor('mia');
      const [token] = await fixture.accounts.tokens('mia');
      const expected = { account: 'mia', via: 'token', credentialId: token?.id };
      expect(await authenticate(bearer(text))).toMatchObject(expected);
      expect(await authenticate(basic('', text))).toMatchObject(expected);
      expect(await authenticate(basic('mia', text))).toMatchObject(expected);
    });

    test('are rejected under another name, modified, truncated or as a session', async () => {
      await fixture.accounts.create({ name: 'jo', password: 'another one' });
      const text = await tokenFor('mia');
      const other = text.endsWith('a') ? 'b' : 'a';
      for (const invalidCredentials of [
        basic('jo', text),
        bearer(text.slice(0, -1) + other),
        bearer(text.slice(0, -1)),
        bearer(`${text}a`),
        bearer(text.toUpperCase()),
      ]) {
        await expect(authenticate(invalidCredentials)).rejects.toMatchObject(badCredentials);
      }
      expect(await authenticate(session(text))).toBeUndefined();
    });

    test('are rejected after their expiry', async () => {
      const text = await tokenFor('mia', fixture.clock.now() + 1000);
      fixture.clock.advance(999);
      expect(await authenticate(bearer(text))).toMatchObject({ account: 'mia' });
      fixture.clock.advance(1);
      await expect(authenticate(bearer(text))).rejects.toMatchObject(badCredentials);
    });

    test.each([0, -1, Number.NaN, 1.5, Date.UTC(2026, 0, 1)])(
      'cannot be created with an expiry of %d',
      async (expiresAt) => {
        await expect(tokenFor('mia', expiresAt)).rejects.toMatchObject({ code: 'accounts.invalid' });
      },
    );

    test('are rejected after their removal, or the disabling or removal of their account', async () => {
      const [first, second] = [await tokenFor('mia'), await tokenFor('mia')];
      const [one] = await fixture.accounts.tokens('mia');
      await fixture.accounts.removeToken('mia', one?.id ?? '');
      const states = await Promise.allSettled([authenticate(bearer(first)), authenticate(bearer(second))]);
      expect(states.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      await fixture.accounts.change('mia', { enabled: false });
      await fixture.accounts.change('mia', { enabled: true });
      await expect(authenticate(bearer(second))).rejects.toMatchObject(badCredentials);
      const third = await tokenFor('mia');
      await fixture.accounts.remove('mia');
      await expect(authenticate(bearer(third))).rejects.toMatchObject(badCredentials);
    });

    test('accepts tokens of a disabled account again when it is enabled', async () => {
      const text = await tokenFor('metrics-alerts');
      await expect(authenticate(bearer(text))).rejects.toMatchObject(badCredentials);
      await fixture.accounts.change('metrics-alerts', { enabled: true });
      expect(await authenticate(bearer(text))).toMatchObject({ account: 'metrics-alerts', kind: 'service' });
    });

    test('keeps tokens valid when the password changes', async () => {
      const text = await tokenFor('mia');
      await fixture.accounts.change('mia', { password: 'battery staple' });
      expect(await authenticate(bearer(text))).toMatchObject({ account: 'mia' });
    });

    test('are limited to sixty; the oldest is replaced', async () => {
      const texts: string[] = [];
      for (let count = 0; count < 62; count += 1) {
        texts.push(await tokenFor('mia'));
        fixture.clock.advance(1);
      }
      expect(await fixture.accounts.tokens('mia')).toHaveLength(60);
      await expect(authenticate(bearer(texts[1] ?? ''))).rejects.toMatchObject(badCredentials);
      expect(await authenticate(bearer(texts[2] ?? ''))).toMatchObject({ account: 'mia' });
      expect(await authenticate(bearer(texts[61] ?? ''))).toMatchObject({ account: 'mia' });
    });

    test('records time and address of the last use in batches', async () => {
      const text = await tokenFor('mia');
      await authenticate(bearer(text, '192.0.2.1'));
      fixture.clock.advance(1000);
      await authenticate(bearer(text, '192.0.2.2'));
      const stored = async () => (await fixture.database.kysely.selectFrom('tokens').selectAll().execute())[0];
      expect(await stored()).toMatchObject({ last_used_at: null });
      expect(await fixture.accounts.tokens('mia')).toMatchObject([
        { lastUsedAt: fixture.clock.now(), lastUsedFrom: '192.0.2.2' },
      ]);
      const used = fixture.clock.now();
      fixture.clock.advance(4000);
      await expect.poll(stored).toMatchObject({ last_used_at: used, last_used_from: '192.0.2.2' });
    });

    test('preserves the last use when the account changes before it is written', async () => {
      const text = await tokenFor('mia');
      await authenticate(bearer(text));
      await fixture.accounts.change('mia', { description: 'changed' });
      expect(await fixture.accounts.tokens('mia')).toMatchObject([{ lastUsedFrom: address }]);
    });

    test('have single-line labels, and unknown tokens or accounts are reported', async () => {
      const { token } = await fixture.accounts.createToken('mia', { label: 'a\0b\nc', expiresAt: null });
      expect(token.label).toBe('a b c');
      await expect(
        fixture.accounts.createToken('mia', { label: 'x'.repeat(129), expiresAt: null }),
      ).rejects.toMatchObject({
        status: 400,
      });
      await expect(fixture.accounts.removeToken('mia', 'nope')).rejects.toMatchObject({
        code: 'accounts.unknown_token',
        status: 404,
      });
      await expect(tokenFor('nobody')).rejects.toMatchObject({ code: 'accounts.unknown', status: 404 });
      await expect(tokenFor('*')).rejects.toMatchObject({ code: 'accounts.reserved' });
      await expect(fixture.accounts.tokens('nobody')).rejects.toMatchObject({ code: 'accounts.unknown' });
    });
  });

  describe('sessions', () => {
    const signIn = () =>
      fixture.accounts.signIn('mia', 'correct horse', { remoteAddress: address, userAgent: 'Test\0\nBrowser' });
    const day = 24 * 60 * 60 * 1000;

    test('are opened by a sign-in, accepted, and ended by a sign-out', async () => {
      const { identity, secret: value } = await signIn();
      expect(value).toMatch(/^[\w-]{43}$/);
      expect(identity).toMatchObject({ account: 'mia', via: 'session' });
      expect(await authenticate(session(value))).toEqual(identity);
      expect(JSON.stringify(await fixture.database.kysely.selectFrom('sessions').selectAll().execute())).not.toContain(
        value,
      );
      await fixture.accounts.signOut(identity);
      expect(await authenticate(session(value))).toBeUndefined();
      await fixture.accounts.signOut(identity);
    });

    test('are not opened with a wrong password', async () => {
      await expect(
        fixture.accounts.signIn('mia', 'wrong', { remoteAddress: address, userAgent: '' }),
      ).rejects.toMatchObject(badCredentials);
    });

    test('requires the complete secret', async () => {
      const { secret } = await signIn();
      for (const text of [
        '',
        secret.slice(1),
        `${secret} `,
        ` ${secret}`,
        `${secret}, ${secret}`,
        'x'.repeat(100_000),
      ]) {
        expect(await authenticate(session(text))).toBeUndefined();
      }
      expect(await authenticate(session(Buffer.alloc(32).toString('base64url')))).toBeUndefined();
      await expect(authenticate(bearer(secret))).rejects.toMatchObject(badCredentials);
      await expect(authenticate(basic('mia', secret))).rejects.toMatchObject(badCredentials);
    });

    test('prefers the Authorization header unless its scheme is unknown', async () => {
      const { secret: value } = await signIn();
      await expect(authenticate({ ...basic('mia', 'wrong'), ...{ session: value } })).rejects.toMatchObject(
        badCredentials,
      );
      const unknown = { authorization: 'vapid x', session: value, remoteAddress: address };
      expect(await authenticate(unknown)).toMatchObject({ account: 'mia' });
    });

    test('expires sessions thirty days after their last use', async () => {
      const { secret: value } = await signIn();
      for (let month = 0; month < 3; month += 1) {
        fixture.clock.advance(29 * day);
        expect(await authenticate(session(value))).toMatchObject({ account: 'mia' });
      }
      fixture.clock.advance(30 * day + 1);
      expect(await authenticate(session(value))).toBeUndefined();
    });

    test('are written at most once an hour', async () => {
      const { secret: value } = await signIn();
      const stored = async () => (await fixture.database.kysely.selectFrom('sessions').select('used_at').execute())[0];
      const opened = fixture.clock.now();
      fixture.clock.advance(59 * 60_000);
      await authenticate(session(value));
      fixture.clock.advance(10_000);
      await fixture.accounts.sessions('mia');
      expect(await stored()).toEqual({ used_at: opened });
      fixture.clock.advance(60_000);
      await authenticate(session(value));
      const used = fixture.clock.now();
      fixture.clock.advance(10_000);
      await expect.poll(stored).toEqual({ used_at: used });
    });

    test('are listed and ended individually', async () => {
      const first = await signIn();
      const second = await signIn();
      const [listed] = await fixture.accounts.sessions('mia');
      expect(listed).toMatchObject({ account: 'mia', address, userAgent: 'Test  Browser' });
      await fixture.accounts.endSession('mia', first.identity.credentialId ?? '');
      expect(await authenticate(session(first.secret))).toBeUndefined();
      expect(await authenticate(session(second.secret))).toMatchObject({ account: 'mia' });
      await expect(fixture.accounts.endSession('mia', 'nope')).rejects.toMatchObject({
        code: 'accounts.unknown_session',
      });
    });

    test.each([{ enabled: false }, { password: 'battery staple' }])(
      'ends sessions when the account changes to %j',
      async (change) => {
        const { secret: value } = await signIn();
        await fixture.accounts.change('mia', change);
        await fixture.accounts.change('mia', { enabled: true });
        expect(await authenticate(session(value))).toBeUndefined();
      },
    );

    test('are not opened with a password that changes at the same time', async () => {
      await Promise.allSettled([signIn(), fixture.accounts.change('mia', { password: 'battery staple' })]);
      const sessions = await fixture.accounts.sessions('mia');
      await fixture.accounts.change('mia', { description: 'looked at again' });
      const remainingSessions = await fixture.accounts.sessions('mia');
      // A session opened before the change is ended by it, and one opened after is refused.
      expect([...sessions, ...remainingSessions]).toEqual([]);
    });

    test('are deleted from the database when expired', async () => {
      await signIn();
      await tokenFor('mia', fixture.clock.now() + 1000);
      fixture.clock.advance(31 * day);
      const readRemaining = async () => [
        ...(await fixture.database.kysely.selectFrom('sessions').selectAll().execute()),
        ...(await fixture.database.kysely.selectFrom('tokens').selectAll().execute()),
      ];
      await expect.poll(readRemaining).toEqual([]);
    });
  });

  describe('session links', () => {
    const path = '/api/downloads/a/file';
    const signIn = () => fixture.accounts.signIn('mia', 'correct horse', { remoteAddress: address, userAgent: '' });
    const follow = (text: string, to = path) => authenticate({ link: { path: to, text }, remoteAddress: address });
    const day = 24 * 60 * 60_000;

    test('allows reading one path for a day', async () => {
      const { identity } = await signIn();
      const link = fixture.accounts.link(identity, path);
      expect(await follow(link)).toEqual(identity);
      fixture.clock.advance(day - 1);
      expect(await follow(link)).toEqual(identity);
      fixture.clock.advance(1);
      expect(await follow(link)).toBeUndefined();
      fixture.clock.advance(-3 * day);
      expect(await follow(link)).toBeUndefined();
    });

    test('are valid for nothing else and cannot be forged', async () => {
      const { identity, secret } = await signIn();
      const link = fixture.accounts.link(identity, path);
      for (const other of ['/api/downloads/b/file', `${path}/`, '/api/downloads/a', '/api/account', '']) {
        expect(await follow(link, other)).toBeUndefined();
      }
      const until = String(fixture.clock.now() + 1000);
      const record = `${until} mia ${identity.credentialId ?? ''} ${path}`;
      const sealed = fixture.vault.seal(record, 'something else');
      for (const text of ['', record, secret, sealed, link.slice(0, -1), `${link}A`, 'x'.repeat(100_000)]) {
        expect(await follow(text)).toBeUndefined();
      }
      expect(await authenticate(session(link))).toBeUndefined();
      expect(link).not.toContain(secret);
    });

    test('ends links with their session and account', async () => {
      const { identity } = await signIn();
      const link = fixture.accounts.link(identity, path);
      await fixture.accounts.change('mia', { enabled: false });
      expect(await follow(link)).toBeUndefined();
      await fixture.accounts.change('mia', { enabled: true });
      const second = await signIn();
      const another = fixture.accounts.link(second.identity, path);
      expect(await follow(another)).toEqual(second.identity);
      await fixture.accounts.signOut(second.identity);
      expect(await follow(another)).toBeUndefined();
    });

    test('returns the same link for half a day, so that browsers can cache', async () => {
      const { identity } = await signIn();
      const link = fixture.accounts.link(identity, path);
      fixture.clock.advance(day / 2 - 1);
      expect(fixture.accounts.link(identity, path)).toBe(link);
      fixture.clock.advance(1);
      const next = fixture.accounts.link(identity, path);
      expect(next).not.toBe(link);
      fixture.clock.advance(day / 2);
      expect(await follow(next)).toEqual(identity);
    });

    test('are created only for sessions of the pages', async () => {
      const { text } = await fixture.accounts.createToken('mia', { label: '', expiresAt: null });
      for (const credentials of [bearer(text), basic('mia', 'correct horse')]) {
        const identity = await authenticate(credentials);
        expect(() => identity && fixture.accounts.link(identity, path)).toThrow(
          expect.objectContaining({ code: 'accounts.session_needed', status: 403 }),
        );
      }
    });
  });

  describe('several hosts on one database', () => {
    test('applies changes of other hosts', async () => {
      const other = await fixture.another();
      const token = await tokenFor('mia');
      const { secret: value } = await fixture.accounts.signIn('mia', 'correct horse', {
        remoteAddress: address,
        userAgent: '',
      });
      expect(await other.authenticate(bearer(token))).toMatchObject({ account: 'mia' });
      expect(await other.authenticate(session(value))).toMatchObject({ account: 'mia' });
      await fixture.accounts.change('mia', { enabled: false });
      fixture.clock.advance(30_000);
      await vi.waitFor(() => expect(other.authenticate(bearer(token))).rejects.toMatchObject(badCredentials));
      expect(await other.authenticate(session(value))).toBeUndefined();
    });
  });
});
