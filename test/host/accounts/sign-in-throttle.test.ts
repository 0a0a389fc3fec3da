import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { SignInThrottle } from '../../../main/host/accounts/sign-in-throttle.ts';
import type { Credentials } from '../../../services/contracts/control/accounts.ts';
import { createFakeClock } from '../../support/clock.ts';
import {
  address,
  badCredentials,
  basic,
  bearer,
  openAccountsFixture,
  tooMany,
  type AccountsFixture,
} from './accounts-fixture.ts';

const minute = 60_000;
const right = 'correct horse';

let fixture: AccountsFixture;
beforeEach(async () => {
  fixture = await openAccountsFixture();
  await fixture.accounts.create({ name: 'mia', password: right });
  await fixture.accounts.create({ name: 'jo', password: right });
});
afterEach(() => fixture[Symbol.asyncDispose]());

const authenticate = (...args: Parameters<AccountsFixture['accounts']['authenticate']>) =>
  fixture.accounts.authenticate(...args);

let guesses = 0;
/** Returns a password that was not tried before, since a repeated one does not count as another guess. */
const guess = (name: string, from = address): Credentials => basic(name, `guess ${String(guesses++)}`, from);
const foreign = (credentials: Credentials): Credentials => ({ ...credentials, isCrossSite: true });
const strangers = (count: number) => Array.from({ length: count }, (_, index) => `stranger-${index}`);

type Outcome = 'in' | 'wrong' | 'slowed';
const getOutcome = (work: Promise<unknown>): Promise<Outcome> =>
  work.then(
    () => 'in',
    (error: unknown) => {
      const { code } = error as { code: string };
      if (code === badCredentials.code) return 'wrong';
      if (code === tooMany.code) return 'slowed';
      throw error;
    },
  );

/** Authenticates and advances the clock by the throttle's maximum wait. */
function signInAfterDelay(credentials: Credentials): Promise<Outcome> {
  const attempt = getOutcome(authenticate(credentials));
  fixture.clock.advance(20_000);
  return attempt;
}

/** Returns the wait of the throttle in ms, and the outcome. The wait begins before anything else. */
function measureWait(credentials: Credentials): { readonly ms: number; readonly outcome: Promise<Outcome> } {
  using after = vi.spyOn(fixture.clock, 'after');
  const outcome = getOutcome(authenticate(credentials));
  return { ms: after.mock.calls[0]?.[0] ?? 0, outcome };
}

/** Runs more guesses than the throttle accepts, without awaiting them. */
function attemptMany(attempts: readonly Credentials[]): Promise<Outcome[]> {
  return Promise.all(attempts.map((credentials) => getOutcome(authenticate(credentials))));
}

async function allAtOnce(attempts: readonly Credentials[]): Promise<Readonly<Record<Outcome, number>>> {
  const attempt = attempts.map((credentials) => getOutcome(authenticate(credentials)));
  fixture.clock.advance(minute);
  const outcomes = await Promise.all(attempt);
  const count = (outcome: Outcome) => outcomes.filter((entry) => entry === outcome).length;
  return { in: count('in'), wrong: count('wrong'), slowed: count('slowed') };
}

async function fiveWrong(name: string, from = address): Promise<void> {
  for (let count = 0; count < 5; count += 1) expect(await getOutcome(authenticate(guess(name, from)))).toBe('wrong');
}

describe('throttle of one account from one source', () => {
  test('delays attempts after five wrong passwords, up to ten seconds, and accepts the right one', async () => {
    await fiveWrong('mia');
    const waits: number[] = [];
    for (let count = 0; count < 8; count += 1) {
      const { ms, outcome } = measureWait(guess('mia'));
      waits.push(ms);
      fixture.clock.advance(ms);
      expect(await outcome).toBe('slowed');
    }
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 10_000, 10_000, 10_000]);
    const { ms, outcome } = measureWait(basic('mia', right));
    fixture.clock.advance(ms);
    expect([ms, await outcome]).toEqual([10_000, 'in']);
    expect(measureWait(guess('mia'))).toMatchObject({ ms: 0 });
  });

  test('reports when the next attempt is allowed', async () => {
    await fiveWrong('mia');
    const attempt = authenticate(guess('mia')).catch((error: unknown) => error);
    fixture.clock.advance(500);
    expect(await attempt).toMatchObject({ ...tooMany, headers: { 'Retry-After': '1' }, retryAfterMs: 1000 });
  });

  test('resets after the right password', async () => {
    for (let round = 0; round < 3; round += 1) {
      for (let count = 0; count < 4; count += 1) {
        expect(await getOutcome(authenticate(guess('mia')))).toBe('wrong');
      }
      // Changes the password each time: a cached password does not reset the throttle, as the next test shows.
      await fixture.accounts.change('mia', { password: `${right} ${String(round)}` });
      expect(await getOutcome(authenticate(basic('mia', `${right} ${String(round)}`)))).toBe('in');
    }
  });

  test('does not allow more guesses beside a busy client with the right password', async () => {
    await authenticate(basic('mia', right));
    for (let count = 0; count < 5; count += 1) {
      expect(await getOutcome(authenticate(guess('mia')))).toBe('wrong');
      expect(await getOutcome(authenticate(basic('mia', right)))).toBe('in');
    }
    expect(measureWait(guess('mia')).ms).toBe(500);
  });

  test('does not delay other accounts or the same account elsewhere', async () => {
    await fiveWrong('mia');
    expect(await getOutcome(authenticate(basic('jo', right)))).toBe('in');
    expect(await getOutcome(authenticate(basic('mia', right, '198.51.100.1')))).toBe('in');
  });

  test('limits concurrent guesses like sequential ones', async () => {
    const attempt = Array.from({ length: 50 }, () => measureWait(guess('mia')));
    // Five immediately, five queued, and no more: further ones would exceed the maximum wait.
    expect(attempt.map(({ ms }) => ms).filter((ms) => ms > 0)).toEqual([500, 1500, 3500, 7500, 15_500]);
    fixture.clock.advance(minute);
    const outcomes = await Promise.all(attempt.map(({ outcome }) => outcome));
    expect(outcomes.filter((outcome) => outcome === 'wrong')).toHaveLength(5);
    expect(outcomes.filter((outcome) => outcome === 'slowed')).toHaveLength(45);
  });

  test('counts the same wrong password once', async () => {
    await Promise.allSettled(Array.from({ length: 20 }, () => authenticate(basic('mia', 'old password'))));
    for (let count = 0; count < 200; count += 1) {
      expect(await getOutcome(authenticate(basic('mia', 'old password')))).toBe('wrong');
    }
    expect(await getOutcome(authenticate(basic('mia', right)))).toBe('in');
  });

  test('checks a formerly wrong password again once it is the right one', async () => {
    expect(await getOutcome(authenticate(basic('mia', 'battery staple')))).toBe('wrong');
    await fixture.accounts.change('mia', { password: 'battery staple' });
    expect(await getOutcome(authenticate(basic('mia', 'battery staple')))).toBe('in');
  });

  test('delays sign-ins on the page as well', async () => {
    await fiveWrong('mia');
    using after = vi.spyOn(fixture.clock, 'after');
    const signedIn = fixture.accounts.signIn('mia', right, { remoteAddress: address, userAgent: '' });
    expect(after).toHaveBeenCalledWith(500, expect.anything());
    fixture.clock.advance(500);
    expect(await signedIn).toMatchObject({ identity: { account: 'mia' } });
  });
});

describe('recently verified credentials', () => {
  test('are accepted first during concurrent guesses', async () => {
    await authenticate(basic('mia', right));
    const guessing = Array.from({ length: 200 }, () => getOutcome(authenticate(guess('mia'))));
    for (let count = 0; count < 20; count += 1) expect(await getOutcome(authenticate(basic('mia', right)))).toBe('in');
    // Also hours later, when the password must be hashed again, and after an unrelated change of the account.
    fixture.clock.advance(6 * 60 * minute);
    const more = Array.from({ length: 60 }, () => getOutcome(authenticate(guess('mia'))));
    expect(await getOutcome(authenticate(basic('mia', right)))).toBe('in');
    await fixture.accounts.change('mia', { description: 'changed' });
    expect(await getOutcome(authenticate(basic('mia', right)))).toBe('in');
    fixture.clock.advance(minute);
    expect(await Promise.all([...guessing, ...more])).not.toContain('in');
  });

  test('do not allow faster guesses', async () => {
    await authenticate(basic('mia', right));
    const guessing = attemptMany(Array.from({ length: 400 }, () => guess('mia')));
    // From here on it waits like any other, or is refused; otherwise it would confirm a guess.
    expect(await getOutcome(authenticate(basic('mia', right)))).toBe('slowed');
    fixture.clock.advance(minute);
    await guessing;
    expect(await signInAfterDelay(basic('mia', right))).toBe('in');
  });

  test('do not help guesses from another address', async () => {
    await authenticate(basic('mia', right));
    const otherAddress = '198.51.100.9';
    const guessing = attemptMany(Array.from({ length: 50 }, () => guess('mia', otherAddress)));
    expect(await getOutcome(authenticate(basic('mia', right, otherAddress)))).toBe('slowed');
    expect(await getOutcome(authenticate(foreign(basic('mia', right))))).toBe('in');
    fixture.clock.advance(minute);
    await guessing;
  });

  test('accepts tokens and sessions at any time', async () => {
    const { text } = await fixture.accounts.createToken('mia', { label: '', expiresAt: null });
    const { secret } = await fixture.accounts.signIn('mia', right, { remoteAddress: address, userAgent: '' });
    await allAtOnce([...strangers(60), ...Array<string>(400).fill('mia')].map((name) => guess(name)));
    for (let count = 0; count < 40; count += 1) await authenticate(bearer('tk_wrong')).catch(() => {});
    expect(await authenticate(bearer(text))).toMatchObject({ account: 'mia' });
    expect(await authenticate(basic('', text))).toMatchObject({ account: 'mia' });
    expect(await authenticate({ session: secret, remoteAddress: address })).toMatchObject({ account: 'mia' });
  });
});

describe('throttle of cross-site requests', () => {
  test('does not delay other clients at their address', async () => {
    const { wrong, slowed } = await allAtOnce(Array.from({ length: 100 }, () => foreign(guess('mia'))));
    expect([wrong, slowed]).toEqual([5, 95]);
    await allAtOnce(strangers(60).map((name) => foreign(guess(name))));
    for (let count = 0; count < 40; count += 1) await authenticate(foreign(bearer('tk_wrong'))).catch(() => {});
    expect(await getOutcome(authenticate(basic('mia', right)))).toBe('in');
    expect(await getOutcome(authenticate(basic('jo', right)))).toBe('in');
    expect(await getOutcome(authenticate(bearer('tk_wrong')))).toBe('wrong');
  });

  test('limits them as a whole', async () => {
    const { wrong } = await allAtOnce(strangers(60).map((name) => foreign(guess(name))));
    expect(wrong).toBe(30);
  });
});

describe('throttle of one source', () => {
  test('delays it after thirty names, but not for accounts that signed in from there', async () => {
    await authenticate(basic('jo', right));
    const { wrong, slowed } = await allAtOnce(strangers(60).map((name) => guess(name)));
    expect([wrong, slowed]).toEqual([30, 30]);
    expect(await getOutcome(authenticate(guess('jo')))).toBe('wrong');
    await fixture.accounts.change('jo', { password: 'battery staple' });
    expect(await getOutcome(authenticate(basic('jo', 'battery staple')))).toBe('in');
    // An account without an earlier sign-in from this address is accepted as well, after its wait.
    expect(await signInAfterDelay(basic('mia', right))).toBe('in');
  });

  test('recognizes accounts by sessions and tokens, also after a restart', async () => {
    await fixture.accounts.signIn('jo', right, { remoteAddress: address, userAgent: '' });
    const { text } = await fixture.accounts.createToken('mia', { label: '', expiresAt: null });
    await authenticate(bearer(text));
    fixture.clock.advance(10_000);
    await expect
      .poll(
        async () => (await fixture.database.kysely.selectFrom('tokens').selectAll().execute())[0]?.['last_used_from'],
      )
      .toBe(address);
    const later = await fixture.another();
    const sendRequest = (credentials: Credentials) => getOutcome(later.authenticate(credentials));
    await Promise.all(
      [...strangers(60).map((name) => sendRequest(guess(name)))].map(async (attempt) => {
        fixture.clock.advance(minute);
        await attempt;
      }),
    );
    expect(await sendRequest(basic('jo', right))).toBe('in');
    expect(await sendRequest(basic('mia', right))).toBe('in');
  });

  test('limits wrong tokens separately from passwords', async () => {
    for (let count = 0; count < 30; count += 1) {
      await expect(authenticate(bearer(`tk_${'a'.repeat(29)}`))).rejects.toMatchObject(badCredentials);
    }
    await expect(authenticate(bearer(`tk_${'a'.repeat(29)}`))).rejects.toMatchObject(tooMany);
    expect(await authenticate(basic('mia', right))).toMatchObject({ account: 'mia' });
  });

  test('counts impossible passwords with tokens and never hashes them', async () => {
    for (const password of ['', 'x'.repeat(1025)]) {
      expect(await getOutcome(authenticate(basic('mia', password)))).toBe('wrong');
    }
    for (const name of strangers(28)) expect(await getOutcome(authenticate(basic(name, '')))).toBe('wrong');
    expect(await getOutcome(authenticate(basic('mia', '')))).toBe('slowed');
    expect(await getOutcome(authenticate(basic('mia', right)))).toBe('in');
  });

  test('groups IPv6 addresses by /64 in any notation', async () => {
    void attemptMany(strangers(15).map((name) => guess(name, '2001:db8:0:1::1')));
    void attemptMany(
      strangers(30)
        .slice(15)
        .map((name) => guess(name, '2001:0db8:0000:0001:ffff:ffff:ffff:ffff')),
    );
    expect(measureWait(basic('mia', right, '2001:db8:0:1:2::3%eth0')).ms).toBe(500);
    expect(measureWait(basic('mia', right, '2001:db8:0:2::1')).ms).toBe(0);
    void attemptMany(strangers(30).map((name) => guess(name, '::ffff:203.0.113.9')));
    expect(measureWait(basic('jo', right, '203.0.113.9')).ms).toBe(500);
  });
});

test('limits guesses at one account from all sources without delaying its owner', async () => {
  await authenticate(basic('mia', right));
  const guesses = Array.from({ length: 100 }, (_, index) => guess('mia', `198.51.100.${String(index)}`));
  const { wrong, slowed } = await allAtOnce(guesses);
  expect([wrong, slowed]).toEqual([50, 50]);
  await fixture.accounts.change('mia', { password: 'battery staple' });
  expect(await getOutcome(authenticate(basic('mia', 'battery staple')))).toBe('in');
  expect(await getOutcome(authenticate(basic('jo', right, '198.51.100.1')))).toBe('in');
  // From a new address the account waits.
  expect(await signInAfterDelay(basic('mia', 'battery staple', '203.0.113.1'))).toBe('in');
});

describe('throttle limits', () => {
  test('bounds memory for any number of names and sources', async () => {
    const throttle = new SignInThrottle(createFakeClock(), () => false);
    for (let index = 0; index < 30_000; index += 1) {
      const source = `10.${String(index >> 16)}.${String((index >> 8) & 255)}.${String(index & 255)}`;
      using check = await throttle.begin({ source, name: `name-${String(index)}` });
      check.fail();
      throttle.failInvalidToken(source);
    }
    expect(throttle.size).toBeLessThanOrEqual(40_000);
  });

  test('rejects ten thousand names without hashing or evicting other entries', async () => {
    await authenticate(basic('jo', right));
    await fiveWrong('jo');
    const guessing = attemptMany(Array.from({ length: 10_050 }, (_, index) => guess(`name-${String(index)}`)));
    expect(measureWait(guess('jo')).ms).toBe(500);
    expect(await getOutcome(authenticate(guess('mia')))).toBe('slowed');
    fixture.clock.advance(minute);
    const outcomes = await guessing;
    expect(outcomes.filter((outcome) => outcome === 'wrong')).toHaveLength(30);
    expect(outcomes.filter((outcome) => outcome === 'slowed')).toHaveLength(10_020);
    expect(await authenticate(basic('mia', right, '198.51.100.1'))).toMatchObject({ account: 'mia' });
  });

  test('postpones excess concurrent checks and accepts the next ones', async () => {
    const guesses = Array.from({ length: 400 }, (_, index) =>
      authenticate(
        basic(`name-${String(index % 200)}`, 'guess', `203.0.${String(113 + (index >> 8))}.${String(index & 255)}`),
      ),
    );
    const codes = (await Promise.allSettled(guesses)).map((result) =>
      result.status === 'rejected' ? (result.reason as { code: string }).code : '',
    );
    expect(codes).toContain('accounts.busy');
    expect(await authenticate(basic('mia', right))).toMatchObject({ account: 'mia' });
  });

  test('recovers when the clock is set back', async () => {
    await fiveWrong('mia');
    fixture.clock.set(fixture.clock.now() - 24 * 60 * minute);
    expect(await signInAfterDelay(basic('mia', right))).toBe('in');
  });
});

describe('secret of a service', () => {
  const check = (secret: string, remoteAddress = address) =>
    getOutcome(
      fixture.accounts
        .checkSecret({ service: 'mail', name: 'nas', secret, remoteAddress }, () => secret === right)
        .then((isRight) => (isRight ? undefined : Promise.reject(Object.assign(new Error('no'), badCredentials)))),
    );

  test('is throttled like a password and accepted first where verified before', async () => {
    expect(await check(right)).toBe('in');
    for (let count = 0; count < 5; count += 1) expect(await check(`guess ${String(count)}`)).toBe('wrong');
    const many = Array.from({ length: 50 }, (_, index) => check(`another ${String(index)}`));
    expect(await check(right)).toBe('in');
    expect(await check('guess 1')).toBe('wrong');
    fixture.clock.advance(minute);
    expect(await Promise.all(many)).toEqual(Array(50).fill('slowed'));
  });

  test('is independent of an account with the same name', async () => {
    await fixture.accounts.create({ name: 'nas', password: right });
    await fiveWrong('nas');
    expect(await check(right)).toBe('in');
  });
});
