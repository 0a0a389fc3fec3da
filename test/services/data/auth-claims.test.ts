import { afterAll, beforeAll, expect, test } from 'vitest';
import { openAuthRoom, type AuthRoom } from './auth-room.ts';

/** Addresses that somebody else signed up with, and what strangers may find out. Addresses have to be confirmed here. */
let room: AuthRoom;
beforeAll(async () => {
  room = await openAuthRoom({
    environment: {
      DATA_AUTOCONFIRM: 'false',
      DATA_SITE_URL: 'https://app.example.org',
      HOMEPORT_TRUSTED_PROXIES: '127.0.0.1/32',
    },
  });
});
afterAll(() => room[Symbol.asyncDispose]());

const thief = 'the password of a thief';
const mine = 'correct horse 1';
const signUp = (email: string, password: string): Promise<Response> =>
  room.call('POST', '/signup', { email, password });
const signIn = async (email: string, password: string): Promise<number> =>
  (await room.call('POST', '/token', { email, password })).status;
const open = async (link: string | null): Promise<string> =>
  (await fetch(link ?? '', { redirect: 'manual' })).headers.get('location') ?? '';
const told = async (reply: Response): Promise<unknown> => {
  const body: any = await reply.json();
  return [reply.status, body.error_code, body.msg];
};

test('whoever was there first does not keep a password when the owner signs up too', async () => {
  const email = 'claimed@example.com';
  expect((await signUp(email, thief)).status).toBe(200);
  await room.mailTo(email);
  room.clock.advance(61_000);
  expect((await signUp(email, mine)).status).toBe(200);
  const location = await open((await room.mailTo(email)).link);
  expect(location).toContain('#access_token=');
  expect([await signIn(email, thief), await signIn(email, mine)]).toEqual([400, 400]);
  // The owner is signed in by the mail, and says which password counts.
  const token = new URLSearchParams(location.split('#')[1]).get('access_token');
  const changed = await room.call('PUT', '/user', { password: mine }, { Authorization: `Bearer ${token}` });
  expect(changed.status).toBe(200);
  expect([await signIn(email, thief), await signIn(email, mine)]).toEqual([400, 200]);
});

test('the same when the second sign-up comes too soon for a mail of its own', async () => {
  const email = 'at-once@example.com';
  await signUp(email, thief);
  expect((await signUp(email, mine)).status).toBe(429);
  expect(await open((await room.mailTo(email)).link)).toContain('#access_token=');
  expect(await signIn(email, thief)).toBe(400);
});

test.each(['/otp', '/magiclink', '/recover'])('nor when the owner comes by %s', async (path) => {
  const email = `by${path.replace('/', '-')}@example.com`;
  await signUp(email, thief);
  await room.mailTo(email);
  room.clock.advance(61_000);
  expect((await room.call('POST', path, { email })).status).toBe(200);
  expect(await open((await room.mailTo(email)).link)).toContain('#access_token=');
  expect(await signIn(email, thief)).toBe(400);
});

test('one who signs up twice with one password keeps it, and so does who was made with one', async () => {
  const email = 'twice@example.com';
  await signUp(email, mine);
  await room.mailTo(email);
  room.clock.advance(61_000);
  await signUp(email, mine);
  await open((await room.mailTo(email)).link);
  expect(await signIn(email, mine)).toBe(200);
  const made = 'made@example.com';
  const service = { Authorization: `Bearer ${room.serviceKey}` };
  await room.call('POST', '/admin/users', { email: made, password: mine }, service);
  await signUp(made, thief);
  await open((await room.mailTo(made)).link);
  expect([await signIn(made, mine), await signIn(made, thief)]).toEqual([200, 400]);
});

test('mails lead to the names of this machine, whatever a proxy was told', async () => {
  const email = 'poisoned@example.com';
  const headers = {
    'x-forwarded-for': '192.168.9.9',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
  };
  await room.call('POST', '/signup', { email, password: mine }, headers);
  const mail = await room.mailTo(email);
  expect(`${mail.link} ${mail.body}`).not.toContain('evil.example');
  expect(mail.link).toContain(`//127.0.0.1:${room.host.port('data')}/auth/v1/verify?`);
  // The site's own name is known.
  const known = 'proxied@example.com';
  await room.call(
    'POST',
    '/signup',
    { email: known, password: mine },
    { ...headers, 'x-forwarded-host': 'app.example.org' },
  );
  expect((await room.mailTo(known)).link).toContain('https://app.example.org/auth/v1/verify?');
});

test('neither pauses nor shares tell who has an account', async () => {
  const service = { Authorization: `Bearer ${room.serviceKey}` };
  const [known, unknown] = ['known@example.com', 'unknown@example.com'];
  await room.call('POST', '/admin/users', { email: known, password: mine, email_confirm: true }, service);
  const ask = (path: string, body: unknown, address: string): Promise<unknown> =>
    room.call('POST', path, body, { 'x-forwarded-for': address }).then(told);
  for (const path of ['/recover', '/signup', '/resend']) {
    room.clock.advance(3_600_000);
    const more = { '/recover': {}, '/signup': { password: mine }, '/resend': { type: 'signup' } }[path];
    const fresh = path === '/signup' ? 'fresh@example.com' : unknown;
    const before: unknown[] = [];
    const after: unknown[] = [];
    for (let at = 0; at < 2; at += 1) {
      before.push(await ask(path, { email: known, ...more }, '192.168.8.1'));
      after.push(await ask(path, { email: fresh, ...more }, '192.168.8.2'));
    }
    const words = (list: unknown[]): string => JSON.stringify(list).replaceAll(/\d+ seconds/g, 'n seconds');
    expect([path, words(before)]).toEqual([path, words(after)]);
    expect(words(before)).toContain('over_email_send_rate_limit');
  }
  // The hour's share of an address is used up by mails that nobody gets, as by others.
  room.clock.advance(3_600_000);
  const replies: unknown[] = [];
  for (let at = 0; at < 40; at += 1) {
    if (at === 20) room.clock.advance(300_000);
    replies.push(await ask('/recover', { email: `nobody${at}@example.com` }, '192.168.8.3'));
  }
  expect(JSON.stringify(replies.slice(0, 30))).not.toContain('429');
  expect(JSON.stringify(replies.at(-1))).toContain('email rate limit exceeded');
});

test('of IPv6 a household has one share, whichever of its addresses it asks from', async () => {
  room.clock.advance(3_600_000);
  const replies: number[] = [];
  for (let at = 0; at < 31; at += 1) {
    const headers = { 'x-forwarded-for': `2001:db8:1:2:${at.toString(16)}::1` };
    replies.push((await room.call('POST', '/verify', { type: 'signup', token_hash: 'x' }, headers)).status);
  }
  expect([new Set(replies.slice(0, 30)), replies[30]]).toEqual([new Set([403]), 429]);
  const other = await room.call(
    'POST',
    '/verify',
    { type: 'signup', token_hash: 'x' },
    { 'x-forwarded-for': '2001:db8:1:3::1' },
  );
  expect(other.status).toBe(403);
});
