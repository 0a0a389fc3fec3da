import { afterAll, beforeAll, expect, test } from 'vitest';
import { openAuthFixture, type AuthFixture } from './auth-fixture.ts';

/** Addresses that another client signed up with, and information leaks. Addresses have to be confirmed. */
let fixture: AuthFixture;
beforeAll(async () => {
  fixture = await openAuthFixture({
    environment: {
      DATA_AUTOCONFIRM: 'false',
      DATA_SITE_URL: 'https://app.example.org',
      HOMEPORT_TRUSTED_PROXIES: '127.0.0.1/32',
    },
  });
});
afterAll(() => fixture[Symbol.asyncDispose]());

const thief = 'the password of a thief';
const memberPassword = 'correct horse 1';
const signUp = (email: string, password: string): Promise<Response> =>
  fixture.call('POST', '/signup', { email, password });
const signIn = async (email: string, password: string): Promise<number> =>
  (await fixture.call('POST', '/token', { email, password })).status;
const open = async (link: string | null): Promise<string> =>
  (await fetch(link ?? '', { redirect: 'manual' })).headers.get('location') ?? '';
const response = async (reply: Response): Promise<unknown> => {
  const body: any = await reply.json();
  return [reply.status, body.error_code, body.msg];
};

test('discards the password of an earlier sign-up when the owner of the address signs up', async () => {
  const email = 'claimed@example.com';
  expect((await signUp(email, thief)).status).toBe(200);
  await fixture.mailTo(email);
  fixture.clock.advance(61_000);
  expect((await signUp(email, memberPassword)).status).toBe(200);
  const location = await open((await fixture.mailTo(email)).link);
  expect(location).toContain('#access_token=');
  expect([await signIn(email, thief), await signIn(email, memberPassword)]).toEqual([400, 400]);
  // The owner signs in by the mail and sets the password.
  const token = new URLSearchParams(location.split('#')[1]).get('access_token');
  const changed = await fixture.call(
    'PUT',
    '/user',
    { password: memberPassword },
    { Authorization: `Bearer ${token}` },
  );
  expect(changed.status).toBe(200);
  expect([await signIn(email, thief), await signIn(email, memberPassword)]).toEqual([400, 200]);
});

test('discards that password as well when the second sign-up is too early for another mail', async () => {
  const email = 'at-once@example.com';
  await signUp(email, thief);
  expect((await signUp(email, memberPassword)).status).toBe(429);
  expect(await open((await fixture.mailTo(email)).link)).toContain('#access_token=');
  expect(await signIn(email, thief)).toBe(400);
});

test.each(['/otp', '/magiclink', '/recover'])(
  'removes a password that was set before the owner confirmed the address by %s',
  async (path) => {
    const email = `by${path.replace('/', '-')}@example.com`;
    await signUp(email, thief);
    await fixture.mailTo(email);
    fixture.clock.advance(61_000);
    expect((await fixture.call('POST', path, { email })).status).toBe(200);
    expect(await open((await fixture.mailTo(email)).link)).toContain('#access_token=');
    expect(await signIn(email, thief)).toBe(400);
  },
);

test('keeps the password of a repeated sign-up and of a user that an administrator created', async () => {
  const email = 'twice@example.com';
  await signUp(email, memberPassword);
  await fixture.mailTo(email);
  fixture.clock.advance(61_000);
  await signUp(email, memberPassword);
  await open((await fixture.mailTo(email)).link);
  expect(await signIn(email, memberPassword)).toBe(200);
  const created = 'made@example.com';
  const service = { Authorization: `Bearer ${fixture.serviceKey}` };
  await fixture.call('POST', '/admin/users', { email: created, password: memberPassword }, service);
  await signUp(created, thief);
  await open((await fixture.mailTo(created)).link);
  expect([await signIn(created, memberPassword), await signIn(created, thief)]).toEqual([200, 400]);
});

test('builds mail links only with configured hosts, regardless of forwarding headers', async () => {
  const email = 'poisoned@example.com';
  const headers = {
    'x-forwarded-for': '192.168.9.9',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
  };
  await fixture.call('POST', '/signup', { email, password: memberPassword }, headers);
  const mail = await fixture.mailTo(email);
  expect(`${mail.link} ${mail.body}`).not.toContain('evil.example');
  expect(mail.link).toContain(`//127.0.0.1:${fixture.host.port('data')}/auth/v1/verify?`);
  // The host of the site is accepted.
  const existing = 'proxied@example.com';
  await fixture.call(
    'POST',
    '/signup',
    { email: existing, password: memberPassword },
    { ...headers, 'x-forwarded-host': 'app.example.org' },
  );
  expect((await fixture.mailTo(existing)).link).toContain('https://app.example.org/auth/v1/verify?');
});

test('reveals no account by mail intervals or limits', async () => {
  const service = { Authorization: `Bearer ${fixture.serviceKey}` };
  const [existing, unknown] = ['known@example.com', 'unknown@example.com'];
  await fixture.call(
    'POST',
    '/admin/users',
    { email: existing, password: memberPassword, email_confirm: true },
    service,
  );
  const sendRequest = (path: string, body: unknown, address: string): Promise<unknown> =>
    fixture.call('POST', path, body, { 'x-forwarded-for': address }).then(response);
  for (const path of ['/recover', '/signup', '/resend']) {
    fixture.clock.advance(3_600_000);
    const more = { '/recover': {}, '/signup': { password: memberPassword }, '/resend': { type: 'signup' } }[path];
    const updated = path === '/signup' ? 'fresh@example.com' : unknown;
    const before: unknown[] = [];
    const after: unknown[] = [];
    for (let index = 0; index < 2; index += 1) {
      before.push(await sendRequest(path, { email: existing, ...more }, '192.168.8.1'));
      after.push(await sendRequest(path, { email: updated, ...more }, '192.168.8.2'));
    }
    const texts = (list: unknown[]): string => JSON.stringify(list).replaceAll(/\d+ seconds/g, 'n seconds');
    expect([path, texts(before)]).toEqual([path, texts(after)]);
    expect(texts(before)).toContain('over_email_send_rate_limit');
  }
  // The hourly limit counts mails that are not sent as well.
  fixture.clock.advance(3_600_000);
  const replies: unknown[] = [];
  for (let index = 0; index < 40; index += 1) {
    if (index === 20) fixture.clock.advance(300_000);
    replies.push(await sendRequest('/recover', { email: `nobody${index}@example.com` }, '192.168.8.3'));
  }
  expect(JSON.stringify(replies.slice(0, 30))).not.toContain('429');
  expect(JSON.stringify(replies.at(-1))).toContain('email rate limit exceeded');
});

test('applies one limit to all addresses of an IPv6 network', async () => {
  fixture.clock.advance(3_600_000);
  const replies: number[] = [];
  for (let index = 0; index < 31; index += 1) {
    const headers = { 'x-forwarded-for': `2001:db8:1:2:${index.toString(16)}::1` };
    replies.push((await fixture.call('POST', '/verify', { type: 'signup', token_hash: 'x' }, headers)).status);
  }
  expect([new Set(replies.slice(0, 30)), replies[30]]).toEqual([new Set([403]), 429]);
  const other = await fixture.call(
    'POST',
    '/verify',
    { type: 'signup', token_hash: 'x' },
    { 'x-forwarded-for': '2001:db8:1:3::1' },
  );
  expect(other.status).toBe(403);
});
