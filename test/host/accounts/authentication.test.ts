import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { address, badCredentials, basic, openAccountsFixture, type AccountsFixture } from './accounts-fixture.ts';

let fixture: AccountsFixture;
beforeEach(async () => {
  fixture = await openAccountsFixture();
  await fixture.accounts.create({ name: 'mia', password: 'correct horse' });
});
afterEach(() => fixture[Symbol.asyncDispose]());

const authenticate = (...args: Parameters<AccountsFixture['accounts']['authenticate']>) =>
  fixture.accounts.authenticate(...args);
const header = (authorization: string) => ({ authorization, remoteAddress: address });
const base64 = (text: string, encoding: BufferEncoding = 'utf8') => Buffer.from(text, encoding).toString('base64');

describe('Basic authentication', () => {
  test('returns an identity for name and password', async () => {
    expect(await authenticate(basic('mia', 'correct horse'))).toEqual({
      account: 'mia',
      kind: 'person',
      role: 'user',
      via: 'password',
    });
  });

  test('accepts the scheme in any case', async () => {
    expect(await authenticate(header(`bAsIc ${base64('mia:correct horse')}`))).toMatchObject({ account: 'mia' });
  });

  test('accepts colons and any characters in the password', async () => {
    await fixture.accounts.create({ name: 'jo', password: 'a:b:ü:\0:🔑' });
    expect(await authenticate(basic('jo', 'a:b:ü:\0:🔑'))).toMatchObject({ account: 'jo' });
    await expect(authenticate(basic('jo', 'a:b:ü:'))).rejects.toMatchObject(badCredentials);
  });

  test('accepts Latin-1 of old clients and decomposed characters', async () => {
    await fixture.accounts.create({ name: 'jo', password: 'schön und gut' });
    expect(await authenticate(header(`Basic ${base64('jo:schön und gut', 'latin1')}`))).toMatchObject({
      account: 'jo',
    });
    expect(await authenticate(basic('jo', 'schön und gut'.normalize('NFD')))).toMatchObject({ account: 'jo' });
  });

  test.each([
    ['a wrong password', base64('mia:wrong')],
    ['a password that only begins right', base64('mia:correct hors')],
    ['an unknown name', base64('nobody:correct horse')],
    ['a name in other case', base64('Mia:correct horse')],
    ['no colon', base64('mia')],
    ['nothing', ''],
    ['no base64', '!!!!'],
    ['cut base64', 'bWlhO'],
    ['an empty password', base64('mia:')],
    ['an empty name without a token', base64(':correct horse')],
    ['a name with NUL', base64('mia\0:correct horse')],
    ['everyone', base64('*:')],
    ['a password beyond all bounds', base64(`mia:${'x'.repeat(1025)}`)],
    ['a huge header', base64(`mia:${'x'.repeat(1_000_000)}`)],
    ['only colons', base64(':'.repeat(5000))],
    ['a service account without a password', base64('monitoring:')],
  ])('rejects %s', async (_case, value) => {
    await expect(authenticate(header(`Basic ${value}`))).rejects.toMatchObject(badCredentials);
  });

  test('contains neither password nor header in the error', async () => {
    const refusal: unknown = await authenticate(basic('mia', 'hunter2')).catch((error: unknown) => error);
    expect(JSON.stringify(refusal) + String(refusal) + fixture.logged.join()).not.toContain('hunter2');
  });

  test('rejects a disabled account although its password is cached', async () => {
    await authenticate(basic('mia', 'correct horse'));
    await fixture.accounts.change('mia', { enabled: false });
    await expect(authenticate(basic('mia', 'correct horse'))).rejects.toMatchObject(badCredentials);
    await fixture.accounts.change('mia', { enabled: true });
    expect(await authenticate(basic('mia', 'correct horse'))).toMatchObject({ account: 'mia' });
  });

  test('requires a changed password immediately', async () => {
    await authenticate(basic('mia', 'correct horse'));
    await fixture.accounts.change('mia', { password: 'battery staple' });
    await expect(authenticate(basic('mia', 'correct horse'))).rejects.toMatchObject(badCredentials);
    expect(await authenticate(basic('mia', 'battery staple'))).toMatchObject({ account: 'mia' });
  });

  test('rejects an account that is disabled while its password is checked', async () => {
    const checking = authenticate(basic('mia', 'correct horse'));
    const settled = Promise.allSettled([checking, fixture.accounts.change('mia', { enabled: false })]);
    await settled;
    await expect(authenticate(basic('mia', 'correct horse'))).rejects.toMatchObject(badCredentials);
  });

  test('applies a new role to the next request', async () => {
    await authenticate(basic('mia', 'correct horse'));
    await fixture.accounts.change('mia', { role: 'admin' });
    expect(await authenticate(basic('mia', 'correct horse'))).toMatchObject({ role: 'admin' });
  });

  test('accepts a hundred concurrent requests with the right password', async () => {
    const all = await Promise.all(Array.from({ length: 100 }, () => authenticate(basic('mia', 'correct horse'))));
    expect(all.every((identity) => identity?.account === 'mia')).toBe(true);
  });
});

describe('other Authorization headers', () => {
  test.each([
    '',
    'vapid t=abc, k=def',
    'WebPush x',
    'Digest username="mia"',
    'Basically x',
    'tk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    ' ',
    '\0',
  ])('returns no identity for %j', async (authorization) => {
    expect(await authenticate(header(authorization))).toBeUndefined();
  });

  test.each(['Bearer', 'Bearer ', 'Bearer abc', 'Basic', `Bearer ${'x'.repeat(1_000_000)}`, 'Bearer tk_\0'])(
    'rejects %.20j',
    async (authorization) => {
      await expect(authenticate(header(authorization))).rejects.toMatchObject(badCredentials);
    },
  );

  test('returns no identity without a header', async () => {
    expect(await authenticate({ remoteAddress: address })).toBeUndefined();
  });
});
