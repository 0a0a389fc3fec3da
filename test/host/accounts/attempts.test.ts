import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SignInThrottle } from '../../../main/host/accounts/sign-in-throttle.ts';
import { createFakeClock } from '../../support/clock.ts';
import { badCredentials, basic, bearer, openHouse, tooMany, type House } from './house.ts';

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

async function failAs(names: readonly string[], address?: string): Promise<void> {
  for (const name of names)
    await expect(authenticate(basic(name, 'wrong', address))).rejects.toMatchObject(badCredentials);
}
const strangers = (count: number) => Array.from({ length: count }, (_, at) => `stranger-${at}`);

describe('one account from one address', () => {
  test('five wrong passwords bring a pause, also for the right one, that ends', async () => {
    await failAs(Array<string>(5).fill('mia'));
    const refusal: unknown = await authenticate(basic('mia', right)).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ ...tooMany, headers: { 'Retry-After': '30' }, retryAfterMs: 30_000 });
    house.clock.advance(30_000);
    expect(await authenticate(basic('mia', right))).toMatchObject({ account: 'mia' });
  });

  test('the pause grows up to a quarter of an hour', async () => {
    await failAs(Array<string>(5).fill('mia'));
    const pauses: string[] = [];
    for (let round = 0; round < 7; round += 1) {
      const refusal = (await authenticate(basic('mia', right)).catch((error: unknown) => error)) as {
        headers: Record<string, string>;
      };
      const pause = refusal.headers['Retry-After'] ?? '';
      pauses.push(pause);
      house.clock.advance(Number(pause) * 1000);
      await failAs(['mia']);
    }
    expect(pauses).toEqual(['30', '60', '120', '240', '480', '900', '900']);
  });

  test('the right password forgives the wrong ones before it', async () => {
    await failAs(Array<string>(4).fill('mia'));
    await authenticate(basic('mia', right));
    await failAs(Array<string>(4).fill('mia'));
    expect(await authenticate(basic('mia', right))).toMatchObject({ account: 'mia' });
  });

  test('others, and the same account elsewhere, are not held up', async () => {
    await failAs(Array<string>(5).fill('mia'));
    expect(await authenticate(basic('jo', right))).toMatchObject({ account: 'jo' });
    expect(await authenticate(basic('mia', right, '198.51.100.1'))).toMatchObject({ account: 'mia' });
  });

  test('a password that is remembered does not pass during the pause, so that it cannot be guessed there', async () => {
    await authenticate(basic('mia', right));
    await failAs(Array<string>(5).fill('mia'));
    await expect(authenticate(basic('mia', right))).rejects.toMatchObject(tooMany);
  });

  test('guesses at the same moment get no further than guesses in turn', async () => {
    const guesses = Array.from({ length: 50 }, (_, at) => authenticate(basic('mia', `guess ${at}`)));
    const codes = (await Promise.allSettled(guesses)).map((result) =>
      result.status === 'rejected' ? (result.reason as { code: string }).code : '',
    );
    expect(codes.filter((code) => code === badCredentials.code)).toHaveLength(5);
    expect(codes.filter((code) => code === tooMany.code)).toHaveLength(45);
  });

  test('one wrong password sent many times at the same moment counts once', async () => {
    await Promise.allSettled(Array.from({ length: 20 }, () => authenticate(basic('mia', 'old password'))));
    expect(await authenticate(basic('mia', right))).toMatchObject({ account: 'mia' });
  });

  test('sign-in on the page is held up alike', async () => {
    await failAs(Array<string>(5).fill('mia'));
    const from = { remoteAddress: '192.0.2.7', userAgent: '' };
    await expect(house.accounts.signIn('mia', right, from)).rejects.toMatchObject(tooMany);
  });
});

describe('one address', () => {
  test('thirty failures block it for every password; each minute gives one more', async () => {
    await failAs(strangers(30));
    await expect(authenticate(basic('mia', right))).rejects.toMatchObject({
      ...tooMany,
      headers: { 'Retry-After': '60' },
    });
    house.clock.advance(minute);
    await failAs(['another']);
    await expect(authenticate(basic('mia', right))).rejects.toMatchObject(tooMany);
    house.clock.advance(minute);
    expect(await authenticate(basic('mia', right))).toMatchObject({ account: 'mia' });
  });

  test('one right password does not buy more guesses', async () => {
    await failAs(strangers(29));
    await authenticate(basic('mia', right));
    await failAs(['another']);
    await expect(authenticate(basic('mia', right))).rejects.toMatchObject(tooMany);
  });

  test.each(['127.0.0.1', '::1'])('loopback (%s) is limited too', async (loopback) => {
    await failAs(strangers(30), loopback);
    await expect(authenticate(basic('mia', right, loopback))).rejects.toMatchObject(tooMany);
  });

  test('a right token and a session always pass', async () => {
    const { text } = await house.accounts.createToken('mia', { label: '', expiresAt: null });
    const { cookie } = await house.accounts.signIn('mia', right, { remoteAddress: '192.0.2.7', userAgent: '' });
    await failAs(strangers(30));
    for (let count = 0; count < 40; count += 1) await authenticate(bearer('tk_wrong')).catch(() => {});
    expect(await authenticate(bearer(text))).toMatchObject({ account: 'mia' });
    expect(await authenticate(basic('', text))).toMatchObject({ account: 'mia' });
    expect(await authenticate({ cookie: `homeport_session=${cookie}`, remoteAddress: '192.0.2.7' })).toMatchObject({
      account: 'mia',
    });
  });

  test('wrong tokens are limited apart: a program with an old one locks nobody out', async () => {
    for (let count = 0; count < 30; count += 1) {
      await expect(authenticate(bearer(`tk_${'a'.repeat(29)}`))).rejects.toMatchObject(badCredentials);
    }
    await expect(authenticate(bearer(`tk_${'a'.repeat(29)}`))).rejects.toMatchObject(tooMany);
    expect(await authenticate(basic('mia', right))).toMatchObject({ account: 'mia' });
  });

  test('is the whole /64 of IPv6, and the same however it is written', async () => {
    await failAs(strangers(15), '2001:db8:0:1::1');
    await failAs(strangers(30).slice(15), '2001:0db8:0000:0001:ffff:ffff:ffff:ffff');
    await expect(authenticate(basic('mia', right, '2001:db8:0:1:2::3%eth0'))).rejects.toMatchObject(tooMany);
    expect(await authenticate(basic('mia', right, '2001:db8:0:2::1'))).toMatchObject({ account: 'mia' });
    await failAs(strangers(30), '::ffff:203.0.113.9');
    await expect(authenticate(basic('mia', right, '203.0.113.9'))).rejects.toMatchObject(tooMany);
  });
});

describe('bounds', () => {
  test('names and addresses without end take no memory without end', () => {
    const attempts = new SignInThrottle(createFakeClock());
    for (let at = 0; at < 50_000; at += 1) {
      attempts.fail({ address: `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`, name: `name-${at}` });
    }
    expect(attempts.size).toBeLessThanOrEqual(20_000);
  });

  test('ten thousand names from one address are refused without a hash each', async () => {
    const guesses = Array.from({ length: 10_000 }, (_, at) => authenticate(basic(`name-${at}`, 'guess')));
    const codes = (await Promise.allSettled(guesses)).map((result) =>
      result.status === 'rejected' ? (result.reason as { code: string }).code : '',
    );
    expect(codes.filter((code) => code === badCredentials.code)).toHaveLength(30);
    expect(codes.filter((code) => code === tooMany.code)).toHaveLength(9970);
    expect(await authenticate(basic('mia', right, '198.51.100.1'))).toMatchObject({ account: 'mia' });
  });

  test('more checks at once than can wait are put off, and the next ones pass', async () => {
    const guesses = Array.from({ length: 200 }, (_, at) => authenticate(basic('mia', 'guess', `198.51.100.${at}`)));
    const more = Array.from({ length: 200 }, (_, at) => authenticate(basic(`name-${at}`, 'guess', `203.0.113.${at}`)));
    const codes = (await Promise.allSettled([...guesses, ...more])).map((result) =>
      result.status === 'rejected' ? (result.reason as { code: string }).code : '',
    );
    expect(codes).toContain('accounts.busy');
    expect(await authenticate(basic('mia', right))).toMatchObject({ account: 'mia' });
  });

  test('a clock that is set back blocks nobody for long', async () => {
    await failAs(Array<string>(5).fill('mia'));
    house.clock.advance(-24 * 60 * minute);
    const refusal = (await authenticate(basic('mia', right)).catch((error: unknown) => error)) as {
      retryAfterMs: number;
    };
    expect(refusal.retryAfterMs).toBeLessThanOrEqual(15 * minute);
  });
});
