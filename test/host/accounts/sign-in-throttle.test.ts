import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { SignInThrottle } from '../../../main/host/accounts/sign-in-throttle.ts';
import type { Credentials } from '../../../services/contracts/control/accounts.ts';
import { createFakeClock } from '../../support/clock.ts';
import { address, badCredentials, basic, bearer, openHouse, tooMany, type House } from './house.ts';

const minute = 60_000;
const right = 'correct horse';

let house: House;
beforeEach(async () => {
  house = await openHouse();
  await house.accounts.create({ name: 'mia', password: right });
  await house.accounts.create({ name: 'jo', password: right });
});
afterEach(() => house[Symbol.asyncDispose]());

const authenticate = (...given: Parameters<House['accounts']['authenticate']>) => house.accounts.authenticate(...given);

let guesses = 0;
/** A password that nobody tried before: the same one again is no other guess. */
const guess = (name: string, from = address): Credentials => basic(name, `guess ${String(guesses++)}`, from);
const foreign = (credentials: Credentials): Credentials => ({ ...credentials, isCrossSite: true });
const strangers = (count: number) => Array.from({ length: count }, (_, at) => `stranger-${at}`);

type Outcome = 'in' | 'wrong' | 'slowed';
const outcomeOf = (work: Promise<unknown>): Promise<Outcome> =>
  work.then(
    () => 'in',
    (error: unknown) => {
      const { code } = error as { code: string };
      if (code === badCredentials.code) return 'wrong';
      if (code === tooMany.code) return 'slowed';
      throw error;
    },
  );

/** Asks, and lets the time pass that the brake may take. */
function patiently(credentials: Credentials): Promise<Outcome> {
  const asked = outcomeOf(authenticate(credentials));
  house.clock.advance(20_000);
  return asked;
}

/** For how long the brake holds it, ms, and what comes of it. The wait begins before anything else is done. */
function held(credentials: Credentials): { readonly ms: number; readonly outcome: Promise<Outcome> } {
  using after = vi.spyOn(house.clock, 'after');
  const outcome = outcomeOf(authenticate(credentials));
  return { ms: after.mock.calls[0]?.[0] ?? 0, outcome };
}

/** Many guesses, more than the brake takes, that are not over yet. */
function flood(attempts: readonly Credentials[]): Promise<Outcome[]> {
  return Promise.all(attempts.map((credentials) => outcomeOf(authenticate(credentials))));
}

async function allAtOnce(attempts: readonly Credentials[]): Promise<Readonly<Record<Outcome, number>>> {
  const asked = attempts.map((credentials) => outcomeOf(authenticate(credentials)));
  house.clock.advance(minute);
  const told = await Promise.all(asked);
  const count = (outcome: Outcome) => told.filter((each) => each === outcome).length;
  return { in: count('in'), wrong: count('wrong'), slowed: count('slowed') };
}

async function fiveWrong(name: string, from = address): Promise<void> {
  for (let count = 0; count < 5; count += 1) expect(await outcomeOf(authenticate(guess(name, from)))).toBe('wrong');
}

describe('one account from one source', () => {
  test('after five wrong passwords each takes longer, up to ten seconds, and the right one passes in its turn', async () => {
    await fiveWrong('mia');
    const waits: number[] = [];
    for (let count = 0; count < 8; count += 1) {
      const { ms, outcome } = held(guess('mia'));
      waits.push(ms);
      house.clock.advance(ms);
      expect(await outcome).toBe('slowed');
    }
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 10_000, 10_000, 10_000]);
    const { ms, outcome } = held(basic('mia', right));
    house.clock.advance(ms);
    expect([ms, await outcome]).toEqual([10_000, 'in']);
    expect(held(guess('mia'))).toMatchObject({ ms: 0 });
  });

  test('a wrong one that was slowed says when the next may come', async () => {
    await fiveWrong('mia');
    const asked = authenticate(guess('mia')).catch((error: unknown) => error);
    house.clock.advance(500);
    expect(await asked).toMatchObject({ ...tooMany, headers: { 'Retry-After': '1' }, retryAfterMs: 1000 });
  });

  test('the right password forgives the wrong ones before it', async () => {
    for (let round = 0; round < 3; round += 1) {
      for (let count = 0; count < 4; count += 1) {
        expect(await outcomeOf(authenticate(guess('mia')))).toBe('wrong');
      }
      // Anew each time: a password that is remembered forgives nothing, as the next test has it.
      await house.accounts.change('mia', { password: `${right} ${String(round)}` });
      expect(await outcomeOf(authenticate(basic('mia', `${right} ${String(round)}`)))).toBe('in');
    }
  });

  test('a busy client with the right password does not buy guesses for others beside it', async () => {
    await authenticate(basic('mia', right));
    for (let count = 0; count < 5; count += 1) {
      expect(await outcomeOf(authenticate(guess('mia')))).toBe('wrong');
      expect(await outcomeOf(authenticate(basic('mia', right)))).toBe('in');
    }
    expect(held(guess('mia')).ms).toBe(500);
  });

  test('others, and the same account elsewhere, are not held up', async () => {
    await fiveWrong('mia');
    expect(await outcomeOf(authenticate(basic('jo', right)))).toBe('in');
    expect(await outcomeOf(authenticate(basic('mia', right, '198.51.100.1')))).toBe('in');
  });

  test('guesses at the same moment get no further than guesses in turn', async () => {
    const asked = Array.from({ length: 50 }, () => held(guess('mia')));
    // Five at once, five in line, and no more: who comes last would have to wait longer than anyone may.
    expect(asked.map(({ ms }) => ms).filter((ms) => ms > 0)).toEqual([500, 1500, 3500, 7500, 15_500]);
    house.clock.advance(minute);
    const outcomes = await Promise.all(asked.map(({ outcome }) => outcome));
    expect(outcomes.filter((outcome) => outcome === 'wrong')).toHaveLength(5);
    expect(outcomes.filter((outcome) => outcome === 'slowed')).toHaveLength(45);
  });

  test('one wrong password again, at the same moment or later, is no other guess', async () => {
    await Promise.allSettled(Array.from({ length: 20 }, () => authenticate(basic('mia', 'old password'))));
    for (let count = 0; count < 200; count += 1) {
      expect(await outcomeOf(authenticate(basic('mia', 'old password')))).toBe('wrong');
    }
    expect(await outcomeOf(authenticate(basic('mia', right)))).toBe('in');
  });

  test('a password that was wrong is asked for anew once it is the right one', async () => {
    expect(await outcomeOf(authenticate(basic('mia', 'battery staple')))).toBe('wrong');
    await house.accounts.change('mia', { password: 'battery staple' });
    expect(await outcomeOf(authenticate(basic('mia', 'battery staple')))).toBe('in');
  });

  test('sign-in on the page is slowed down alike', async () => {
    await fiveWrong('mia');
    using after = vi.spyOn(house.clock, 'after');
    const signedIn = house.accounts.signIn('mia', right, { remoteAddress: address, userAgent: '' });
    expect(after).toHaveBeenCalledWith(500, expect.anything());
    house.clock.advance(500);
    expect(await signedIn).toMatchObject({ identity: { account: 'mia' } });
  });
});

describe('what was just proven', () => {
  test('passes first, however many guesses are under way beside it', async () => {
    await authenticate(basic('mia', right));
    const guessing = Array.from({ length: 200 }, () => outcomeOf(authenticate(guess('mia'))));
    for (let count = 0; count < 20; count += 1) expect(await outcomeOf(authenticate(basic('mia', right)))).toBe('in');
    // Hours later too, when the password has to be hashed again; and after a change that is not one of the password.
    house.clock.advance(6 * 60 * minute);
    const more = Array.from({ length: 60 }, () => outcomeOf(authenticate(guess('mia'))));
    expect(await outcomeOf(authenticate(basic('mia', right)))).toBe('in');
    await house.accounts.change('mia', { description: 'changed' });
    expect(await outcomeOf(authenticate(basic('mia', right)))).toBe('in');
    house.clock.advance(minute);
    expect(await Promise.all([...guessing, ...more])).not.toContain('in');
  });

  test('is no way to guess as fast as one likes', async () => {
    await authenticate(basic('mia', right));
    const guessing = flood(Array.from({ length: 400 }, () => guess('mia')));
    // From here on it waits like any other, or is refused; else it would tell a guesser that he is right.
    expect(await outcomeOf(authenticate(basic('mia', right)))).toBe('slowed');
    house.clock.advance(minute);
    await guessing;
    expect(await patiently(basic('mia', right))).toBe('in');
  });

  test('helps nobody to guess in another place', async () => {
    await authenticate(basic('mia', right));
    const elsewhere = '198.51.100.9';
    const guessing = flood(Array.from({ length: 50 }, () => guess('mia', elsewhere)));
    expect(await outcomeOf(authenticate(basic('mia', right, elsewhere)))).toBe('slowed');
    expect(await outcomeOf(authenticate(foreign(basic('mia', right))))).toBe('in');
    house.clock.advance(minute);
    await guessing;
  });

  test('a right token and a session always pass', async () => {
    const { text } = await house.accounts.createToken('mia', { label: '', expiresAt: null });
    const { secret } = await house.accounts.signIn('mia', right, { remoteAddress: address, userAgent: '' });
    await allAtOnce([...strangers(60), ...Array<string>(400).fill('mia')].map((name) => guess(name)));
    for (let count = 0; count < 40; count += 1) await authenticate(bearer('tk_wrong')).catch(() => {});
    expect(await authenticate(bearer(text))).toMatchObject({ account: 'mia' });
    expect(await authenticate(basic('', text))).toMatchObject({ account: 'mia' });
    expect(await authenticate({ session: secret, remoteAddress: address })).toMatchObject({ account: 'mia' });
  });
});

describe('pages of other sites', () => {
  test('guess for themselves: nobody else at their address is held up', async () => {
    const { wrong, slowed } = await allAtOnce(Array.from({ length: 100 }, () => foreign(guess('mia'))));
    expect([wrong, slowed]).toEqual([5, 95]);
    await allAtOnce(strangers(60).map((name) => foreign(guess(name))));
    for (let count = 0; count < 40; count += 1) await authenticate(foreign(bearer('tk_wrong'))).catch(() => {});
    expect(await outcomeOf(authenticate(basic('mia', right)))).toBe('in');
    expect(await outcomeOf(authenticate(basic('jo', right)))).toBe('in');
    expect(await outcomeOf(authenticate(bearer('tk_wrong')))).toBe('wrong');
  });

  test('are slowed down as a whole', async () => {
    const { wrong } = await allAtOnce(strangers(60).map((name) => foreign(guess(name))));
    expect(wrong).toBe(30);
  });
});

describe('one source', () => {
  test('with many names is slowed down after thirty, but not for who signed in from there', async () => {
    await authenticate(basic('jo', right));
    const { wrong, slowed } = await allAtOnce(strangers(60).map((name) => guess(name)));
    expect([wrong, slowed]).toEqual([30, 30]);
    expect(await outcomeOf(authenticate(guess('jo')))).toBe('wrong');
    await house.accounts.change('jo', { password: 'battery staple' });
    expect(await outcomeOf(authenticate(basic('jo', 'battery staple')))).toBe('in');
    // Who never did gets in as well, in his turn.
    expect(await patiently(basic('mia', right))).toBe('in');
  });

  test('a session or a token that was used there tells who signed in from there, also after a restart', async () => {
    await house.accounts.signIn('jo', right, { remoteAddress: address, userAgent: '' });
    const { text } = await house.accounts.createToken('mia', { label: '', expiresAt: null });
    await authenticate(bearer(text));
    house.clock.advance(10_000);
    await expect
      .poll(async () => (await house.database.kysely.selectFrom('tokens').selectAll().execute())[0]?.['last_used_from'])
      .toBe(address);
    const later = await house.another();
    const ask = (credentials: Credentials) => outcomeOf(later.authenticate(credentials));
    await Promise.all(
      [...strangers(60).map((name) => ask(guess(name)))].map(async (asked) => {
        house.clock.advance(minute);
        await asked;
      }),
    );
    expect(await ask(basic('jo', right))).toBe('in');
    expect(await ask(basic('mia', right))).toBe('in');
  });

  test('wrong tokens are limited apart: a program with an old one locks nobody out', async () => {
    for (let count = 0; count < 30; count += 1) {
      await expect(authenticate(bearer(`tk_${'a'.repeat(29)}`))).rejects.toMatchObject(badCredentials);
    }
    await expect(authenticate(bearer(`tk_${'a'.repeat(29)}`))).rejects.toMatchObject(tooMany);
    expect(await authenticate(basic('mia', right))).toMatchObject({ account: 'mia' });
  });

  test('what cannot be right counts with the tokens, and is never hashed', async () => {
    for (const password of ['', 'x'.repeat(1025)]) {
      expect(await outcomeOf(authenticate(basic('mia', password)))).toBe('wrong');
    }
    for (const name of strangers(28)) expect(await outcomeOf(authenticate(basic(name, '')))).toBe('wrong');
    expect(await outcomeOf(authenticate(basic('mia', '')))).toBe('slowed');
    expect(await outcomeOf(authenticate(basic('mia', right)))).toBe('in');
  });

  test('is the whole /64 of IPv6, and the same however it is written', async () => {
    void flood(strangers(15).map((name) => guess(name, '2001:db8:0:1::1')));
    void flood(
      strangers(30)
        .slice(15)
        .map((name) => guess(name, '2001:0db8:0000:0001:ffff:ffff:ffff:ffff')),
    );
    expect(held(basic('mia', right, '2001:db8:0:1:2::3%eth0')).ms).toBe(500);
    expect(held(basic('mia', right, '2001:db8:0:2::1')).ms).toBe(0);
    void flood(strangers(30).map((name) => guess(name, '::ffff:203.0.113.9')));
    expect(held(basic('jo', right, '203.0.113.9')).ms).toBe(500);
  });
});

test('one account is guessed at only so often in all, from however many places, and its owner is not held up', async () => {
  await authenticate(basic('mia', right));
  const places = Array.from({ length: 100 }, (_, at) => guess('mia', `198.51.100.${String(at)}`));
  const { wrong, slowed } = await allAtOnce(places);
  expect([wrong, slowed]).toEqual([50, 50]);
  await house.accounts.change('mia', { password: 'battery staple' });
  expect(await outcomeOf(authenticate(basic('mia', 'battery staple')))).toBe('in');
  expect(await outcomeOf(authenticate(basic('jo', right, '198.51.100.1')))).toBe('in');
  // At a place where he never was he takes his turn.
  expect(await patiently(basic('mia', 'battery staple', '203.0.113.1'))).toBe('in');
});

describe('bounds', () => {
  test('names and sources without end take no memory without end', async () => {
    const throttle = new SignInThrottle(createFakeClock(), () => false);
    for (let at = 0; at < 30_000; at += 1) {
      const source = `10.${String(at >> 16)}.${String((at >> 8) & 255)}.${String(at & 255)}`;
      using check = await throttle.begin({ source, name: `name-${String(at)}` });
      check.fail();
      throttle.failHopeless(source);
    }
    expect(throttle.size).toBeLessThanOrEqual(40_000);
  });

  test('ten thousand names from one address are refused without a hash each, and push nothing out', async () => {
    await authenticate(basic('jo', right));
    await fiveWrong('jo');
    const guessing = flood(Array.from({ length: 10_050 }, (_, at) => guess(`name-${String(at)}`)));
    expect(held(guess('jo')).ms).toBe(500);
    expect(await outcomeOf(authenticate(guess('mia')))).toBe('slowed');
    house.clock.advance(minute);
    const outcomes = await guessing;
    expect(outcomes.filter((outcome) => outcome === 'wrong')).toHaveLength(30);
    expect(outcomes.filter((outcome) => outcome === 'slowed')).toHaveLength(10_020);
    expect(await authenticate(basic('mia', right, '198.51.100.1'))).toMatchObject({ account: 'mia' });
  });

  test('more checks at once than can wait are put off, and the next ones pass', async () => {
    const guesses = Array.from({ length: 400 }, (_, at) =>
      authenticate(basic(`name-${String(at % 200)}`, 'guess', `203.0.${String(113 + (at >> 8))}.${String(at & 255)}`)),
    );
    const codes = (await Promise.allSettled(guesses)).map((result) =>
      result.status === 'rejected' ? (result.reason as { code: string }).code : '',
    );
    expect(codes).toContain('accounts.busy');
    expect(await authenticate(basic('mia', right))).toMatchObject({ account: 'mia' });
  });

  test('a clock that is set back holds nobody up for long', async () => {
    await fiveWrong('mia');
    house.clock.set(house.clock.now() - 24 * 60 * minute);
    expect(await patiently(basic('mia', right))).toBe('in');
  });
});

describe('a secret that a service keeps itself', () => {
  const check = (secret: string, remoteAddress = address) =>
    outcomeOf(
      house.accounts
        .checkSecret({ service: 'mail', name: 'nas', secret, remoteAddress }, () => secret === right)
        .then((isRight) => (isRight ? undefined : Promise.reject(Object.assign(new Error('no'), badCredentials)))),
    );

  test('is slowed down like a password, and passes first where it was just proven', async () => {
    expect(await check(right)).toBe('in');
    for (let count = 0; count < 5; count += 1) expect(await check(`guess ${String(count)}`)).toBe('wrong');
    const many = Array.from({ length: 50 }, (_, at) => check(`another ${String(at)}`));
    expect(await check(right)).toBe('in');
    expect(await check('guess 1')).toBe('wrong');
    house.clock.advance(minute);
    expect(await Promise.all(many)).toEqual(Array(50).fill('slowed'));
  });

  test('shares nothing with an account of its name', async () => {
    await house.accounts.create({ name: 'nas', password: right });
    await fiveWrong('nas');
    expect(await check(right)).toBe('in');
  });
});
