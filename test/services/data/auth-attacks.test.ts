import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signJwt } from '../../support/jwt.ts';
import { jwtSecret, openAuthFixture, type AuthFixture } from './auth-fixture.ts';
import { sendBlindly } from '../../support/blind-sender.ts';

/** Requests of attackers. */
let fixture: AuthFixture;
let member: { access_token: string; refresh_token: string; user: { id: string } };
const password = 'correct horse 1';

beforeAll(async () => {
  fixture = await openAuthFixture();
  member = await (await fixture.call('POST', '/signup', { email: 'member@example.com', password })).json();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const bearer = (token: string): Record<string, string> => ({ Authorization: `Bearer ${token}` });
const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
async function response(reply: Response): Promise<[number, unknown]> {
  return [reply.status, (await reply.json()).error_code];
}

/** Returns the claims of a token, and a forged token with other claims. */
function forged(head: object, change: object, secret: string): string {
  const claims = JSON.parse(Buffer.from(member.access_token.split('.')[1] ?? '', 'base64url').toString());
  const signed = `${base64(head)}.${base64({ ...claims, ...change })}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

test('accepts only tokens with its own signature and algorithm', async () => {
  const hs = { alg: 'HS256', typ: 'JWT' };
  const right = forged(hs, {}, jwtSecret);
  expect((await fixture.call('GET', '/user', undefined, bearer(right))).status).toBe(200);
  const [head = '', body = '', signature = ''] = right.split('.');
  const wrong = [
    forged(hs, {}, 'another secret that is long enough too'),
    forged(hs, {}, ''),
    forged({ alg: 'none' }, {}, jwtSecret),
    forged({ alg: 'None' }, {}, jwtSecret),
    forged({ alg: 'RS256' }, {}, jwtSecret),
    forged({ alg: 'HS512' }, {}, jwtSecret),
    forged({ alg: ['HS256'] }, {}, jwtSecret),
    forged({ ...hs, jwk: { kty: 'oct', k: Buffer.from('x').toString('base64url') } }, {}, 'x'),
    `${head}.${body}.`,
    `${head}.${body}`,
    `${head}.${body}.${signature}.${signature}`,
    `${head}.${base64({ ...JSON.parse(Buffer.from(body, 'base64url').toString()), role: 'service_role' })}.${signature}`,
    `${head}.${body}.${signature.slice(0, -1)}`,
    `${head}.${body}.${signature}=`,
    '..',
    'x'.repeat(10_000),
  ];
  for (const token of wrong) {
    expect(await response(await fixture.call('GET', '/user', undefined, bearer(token))), token).toEqual([
      403,
      'bad_jwt',
    ]);
    expect((await fixture.call('GET', '/admin/users', undefined, bearer(token))).status, token).toBe(403);
  }
  const now = Math.floor(fixture.clock.now() / 1000);
  for (const change of [{ exp: now - 60 }, { nbf: now + 600 }, { exp: 'never' }, { sub: undefined }, { sub: '' }]) {
    expect(
      await response(await fixture.call('GET', '/user', undefined, bearer(forged(hs, change, jwtSecret)))),
      JSON.stringify(change),
    ).toEqual([403, 'bad_jwt']);
  }
});

test('refuses valid signatures without a session and with the session of another user', async () => {
  const other: any = await (await fixture.call('POST', '/signup', { email: 'other@example.com', password })).json();
  const session = JSON.parse(Buffer.from(other.access_token.split('.')[1], 'base64url').toString()).session_id;
  const hs = { alg: 'HS256', typ: 'JWT' };
  const request = (change: object) => fixture.call('GET', '/user', undefined, bearer(forged(hs, change, jwtSecret)));
  expect(await response(await request({ session_id: session }))).toEqual([403, 'session_not_found']);
  expect(await response(await request({ session_id: undefined }))).toEqual([403, 'session_not_found']);
  expect(await response(await request({ session_id: "' or true --" }))).toEqual([403, 'bad_jwt']);
  expect(await response(await request({ sub: "' or true --" }))).toEqual([400, 'bad_jwt']);
  expect(await response(await request({ sub: '00000000-0000-4000-8000-000000000000' }))).toEqual([
    403,
    'user_not_found',
  ]);
});

test('prevents users from raising their own role', async () => {
  const memberHeaders = bearer(member.access_token);
  expect(await response(await fixture.call('PUT', '/user', { app_metadata: { admin: true } }, memberHeaders))).toEqual([
    403,
    'not_admin',
  ]);
  const reply = await fixture.call(
    'PUT',
    '/user',
    { role: 'service_role', aud: 'x', data: { role: 'service_role' } },
    memberHeaders,
  );
  const user: any = await reply.json();
  expect([user.role, user.aud, user.app_metadata]).toEqual([
    'authenticated',
    'authenticated',
    { provider: 'email', providers: ['email'] },
  ]);
  const signedUp: any = await (
    await fixture.call('POST', '/signup', {
      email: 'role@example.com',
      password,
      role: 'service_role',
      app_metadata: { a: 1 },
      data: { sub: 'x', email: 'admin@example.com' },
    })
  ).json();
  expect(signedUp.user.role).toBe('authenticated');
  expect(signedUp.user.user_metadata).toMatchObject({ sub: signedUp.user.id, email: 'role@example.com' });
  for (const token of [
    member.access_token,
    fixture.anonKey,
    signJwt({ role: 'postgres' }, jwtSecret),
    signJwt({ role: 'supabase_admin' }, jwtSecret),
  ]) {
    for (const [method, path] of [
      ['GET', '/admin/users'],
      ['POST', '/admin/users'],
      ['POST', '/admin/generate_link'],
      ['POST', '/invite'],
      ['DELETE', `/admin/users/${member.user.id}`],
    ] as const) {
      expect(
        await response(await fixture.call(method, path, method === 'POST' ? {} : undefined, bearer(token))),
      ).toEqual([403, 'not_admin']);
    }
  }
  expect((await fixture.call('GET', '/admin/users')).status).toBe(401);
});

test('accepts a refresh token only for its user and case-sensitively', async () => {
  for (const token of [
    member.refresh_token.toUpperCase(),
    member.refresh_token.slice(1),
    `${member.refresh_token} `,
    "' or '1'='1' -",
  ]) {
    expect((await fixture.call('POST', '/token?grant_type=refresh_token', { refresh_token: token })).status).toBe(400);
  }
  const renewed: any = await (
    await fixture.call('POST', '/token?grant_type=refresh_token', { refresh_token: member.refresh_token })
  ).json();
  expect(renewed.user.id).toBe(member.user.id);
});

test('does not run names and values as statements', async () => {
  const nasty = `x'; drop table auth.users; --"@example.com`;
  const service = bearer(fixture.serviceKey);
  expect((await fixture.call('POST', '/token', { email: nasty, password })).status).toBe(400);
  expect(
    (await fixture.call('GET', `/admin/users?filter=${encodeURIComponent(nasty)}`, undefined, service)).status,
  ).toBe(200);
  for (const sort of [
    'created_at; drop table auth.users',
    'encrypted_password asc',
    'created_at asc, (select 1)',
    'constructor',
  ]) {
    expect(
      (await fixture.call('GET', `/admin/users?sort=${encodeURIComponent(sort)}`, undefined, service)).status,
    ).toBe(400);
  }
  const wild: any = await (await fixture.call('GET', '/admin/users?filter=%25_%25', undefined, service)).json();
  expect(wild.users).toEqual([]);
  const stored: any = await (
    await fixture.call('PUT', '/user', { data: { "a'b": nasty, __proto__x: 1 } }, bearer(member.access_token))
  ).json();
  expect(stored.user_metadata["a'b"]).toBe(nasty);
  expect(await fixture.sql('select count(*)::int > 0 as there from auth.users')).toEqual([{ there: true }]);
});

const deepBody = `{"email":"deep@example.com","password":"${password}","data":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_001)}`;

test.each([
  ['a number as address', '/token', { email: 1, password }, 400, 'bad_json'],
  ['an array', '/signup', [1], 400, 'bad_json'],
  ['an empty body', '/signup', '', 400, 'bad_json'],
  ['an address with NUL', '/signup', { email: 'a\0@example.com', password }, 400, 'bad_json'],
  ['a long password', '/signup', { email: 'nul@example.com', password: 'x'.repeat(73) }, 400, 'validation_failed'],
  ['a long address', '/signup', { email: `${'a'.repeat(250)}@example.com`, password }, 400, 'validation_failed'],
  ['metadata with NUL', '/signup', { email: 'nul@example.com', password, data: { a: '\0' } }, 400, 'bad_json'],
  ['a lone surrogate', '/signup', { email: 'nul@example.com', password, data: { '\ud800': 1 } }, 400, 'bad_json'],
  ['a deep body', '/signup', deepBody, 400, 'bad_json'],
  ['a telephone number', '/signup', { phone: '+4912345678', password }, 400, 'phone_provider_disabled'],
  ['no address', '/signup', {}, 422, 'anonymous_provider_disabled'],
  [
    'a disabled provider',
    '/token?grant_type=id_token',
    { provider: 'google', id_token: 'x' },
    400,
    'provider_disabled',
  ],
  ['an inherited grant type', '/token?grant_type=__proto__', {}, 400, 'invalid_credentials'],
  ['an inherited link type', '/verify', { type: 'constructor', token_hash: 'x' }, 400, 'validation_failed'],
  [
    'an unknown challenge method',
    '/recover',
    { email: 'a@b.c', code_challenge: 'x', code_challenge_method: 's256' },
    400,
    'validation_failed',
  ],
])('refuses invalid input in the error format: %s', async (_name, path, body, status, code) => {
  expect(await response(await fixture.call('POST', path, body))).toEqual([status, code]);
});

test('refuses an unknown provider and an invalid path in the error format', async () => {
  const provider = await fixture.call('GET', '/authorize?provider=github');
  expect(await response(provider)).toEqual([400, 'validation_failed']);
  expect((await fixture.call('GET', '/admin/users/%zz', undefined, bearer(fixture.serviceKey))).status).toBe(404);
});

test('refuses an endless body early', async () => {
  const port = Number(new URL(fixture.url).port);
  const headers = [`apikey: ${fixture.anonKey}`, 'Content-Type: application/json'];
  const { status, text } = await sendBlindly(port, 'POST /auth/v1/signup', {
    headers,
    size: 2 * 1024 * 1024,
    chunked: true,
  });
  expect([status, text.includes('request_entity_too_large')]).toEqual([413, true]);
  const announced = await fixture.call('POST', '/signup', 'x'.repeat(1024 * 1024 + 1));
  expect(announced.status).toBe(413);
  expect((await fixture.call('GET', '/health')).status).toBe(200);
});

test('limits attempts with codes and passwords', async () => {
  await fixture.call('POST', '/recover', { email: 'member@example.com' });
  const statuses: number[] = [];
  for (let index = 0; index < 12; index += 1) {
    statuses.push(
      (
        await fixture.call('POST', '/verify', {
          type: 'recovery',
          email: 'member@example.com',
          token: String(index).padStart(6, '0'),
        })
      ).status,
    );
  }
  expect([statuses.slice(0, 10), statuses.slice(10)]).toEqual([Array(10).fill(403), [429, 429]]);
  const tries = await Promise.all(
    Array.from({ length: 32 }, () => fixture.call('POST', '/token', { email: 'guessed@example.com', password: 'x' })),
  );
  expect(tries.filter(({ status }) => status === 429)).toHaveLength(2);
  fixture.clock.advance(300_000);
  expect((await fixture.call('POST', '/token', { email: 'guessed@example.com', password: 'x' })).status).toBe(400);
});

test('redirects only to the site and allowed addresses', async () => {
  for (const target of [
    'https://evil.example/',
    'javascript:alert(1)',
    '//evil.example',
    `${fixture.url}.evil.example/`,
    `${fixture.url.replace('http://', 'http://evil@')}/`,
  ]) {
    const reply = await fixture.call('GET', `/verify?type=signup&token=x&redirect_to=${encodeURIComponent(target)}`);
    expect(reply.status).toBe(303);
    const redirectUrl = new URL(reply.headers.get('location') ?? '');
    expect([target, redirectUrl.origin]).toEqual([target, new URL(fixture.url).origin]);
  }
  const marked = await fixture.call(
    'GET',
    `/verify?type=signup&token=x&redirect_to=${encodeURIComponent(`${fixture.url}/"><script>`)}`,
  );
  expect(await marked.text()).not.toContain('<script>');
});

test('keeps an unconfirmed address from a second sign-up', async () => {
  const invited: any = await (
    await fixture.call(
      'POST',
      '/admin/users',
      { email: 'waiting@example.com', password: 'known to her', app_metadata: { staff: true } },
      bearer(fixture.serviceKey),
    )
  ).json();
  expect(invited.app_metadata.staff).toBe(true);
  const thief = await fixture.call('POST', '/signup', { email: 'waiting@example.com', password: 'of a thief' });
  expect(await response(thief)).toEqual([422, 'user_already_exists']);
  const owner = await fixture.call('POST', '/signup', { email: 'Waiting@Example.com', password: 'known to her' });
  expect(owner.status).toBe(200);
});

test('creates one user for two concurrent sign-ups with one address', async () => {
  const replies = await Promise.all(
    Array.from({ length: 6 }, () => fixture.call('POST', '/signup', { email: 'race@example.com', password })),
  );
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 422, 422, 422, 422, 422]);
  expect(await fixture.sql(`select count(*)::int as count from auth.users where email = 'race@example.com'`)).toEqual([
    { count: 1 },
  ]);
});
