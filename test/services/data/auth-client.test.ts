import { afterAll, beforeAll, expect, test } from 'vitest';
import { openAuthFixture, type AuthFixture } from './auth-fixture.ts';

/** Flows of apps with supabase-js, when addresses have to be confirmed. */
let fixture: AuthFixture;
let people = 0;

beforeAll(async () => {
  const environment = {
    DATA_AUTOCONFIRM: 'false',
    DATA_ANONYMOUS_SIGN_INS: 'true',
    DATA_SITE_URL: 'http://127.0.0.1:3000',
  };
  fixture = await openAuthFixture({ environment });
});
afterAll(() => fixture[Symbol.asyncDispose]());

const password = 'correct horse 1';
const createAddress = (): string => `person${(people += 1)}@example.com`;
const service = () => fixture.client({ key: fixture.serviceKey }).auth.admin;

/** Opens the link of a mail like a browser; returns the redirect target. */
async function follow(link: string | null): Promise<URL> {
  const reply = await fetch(link ?? '', { redirect: 'manual' });
  expect(reply.status).toBe(303);
  return new URL(reply.headers.get('location') ?? '');
}

/** Returns the code of a mail. */
const readCode = (body: string): string => /\b(\d{6})\b/.exec(body)?.[1] ?? '';

/** Creates a user with a confirmed address. */
async function member(): Promise<{ email: string; id: string }> {
  const email = createAddress();
  const { data, error } = await service().createUser({ email, password, email_confirm: true });
  expect(error).toBeNull();
  return { email, id: data.user?.id ?? '' };
}

test('signs up, confirms by the link of the mail, signs in and returns the user', async () => {
  const email = createAddress();
  const client = fixture.client();
  const signedUp = await client.auth.signUp({
    email,
    password,
    options: { data: { name: 'Ann' }, emailRedirectTo: 'http://127.0.0.1:3000/welcome' },
  });
  expect(signedUp.error).toBeNull();
  expect(signedUp.data.session).toBeNull();
  const early = await client.auth.signInWithPassword({ email, password });
  expect(early.error?.code).toBe('email_not_confirmed');

  const mail = await fixture.mailTo(email);
  expect(mail.link).toContain(`${fixture.url}/auth/v1/verify?token=`);
  const target = await follow(mail.link);
  expect(target.origin + target.pathname).toBe('http://127.0.0.1:3000/welcome');
  const response = new URLSearchParams(target.hash.slice(1));
  const { data, error } = await client.auth.setSession({
    access_token: response.get('access_token') ?? '',
    refresh_token: response.get('refresh_token') ?? '',
  });
  expect(error).toBeNull();
  expect(data.user?.user_metadata).toMatchObject({ name: 'Ann', email_verified: true });
  expect((await client.auth.getUser()).data.user?.email).toBe(email);
  // Links are valid once.
  expect((await follow(mail.link)).hash).toContain('error_code=otp_expired');
});

test('answers equally for existing and new users', async () => {
  const { email } = await member();
  const { data, error } = await fixture.client().auth.signUp({ email, password: 'another password' });
  expect(error).toBeNull();
  expect(data.user?.identities).toEqual([]);
  const wrong = await fixture.client().auth.signInWithPassword({ email, password: 'another password' });
  const unknown = await fixture.client().auth.signInWithPassword({ email: 'nobody@example.com', password });
  expect([wrong.error?.code, wrong.error?.message]).toEqual([unknown.error?.code, unknown.error?.message]);
  for (const request of [email, 'nobody@example.com']) {
    expect((await fixture.call('POST', '/recover', { email: request })).status).toBe(200);
    expect((await fixture.call('POST', '/recover', { email: request })).status).toBe(429);
  }
});

test('refreshes tokens after a lost response and in several windows, and detects a stolen token', async () => {
  const { email } = await member();
  const client = fixture.client();
  const { data } = await client.auth.signInWithPassword({ email, password });
  const first = data.session?.refresh_token ?? '';
  const refreshed = await client.auth.refreshSession();
  expect(refreshed.error).toBeNull();
  const second = refreshed.data.session?.refresh_token ?? '';
  expect(second).not.toBe(first);

  // The response was lost: the client sends the same token much later and receives the active one.
  fixture.clock.advance(60_000);
  const secondRefresh = await fixture.client().auth.refreshSession({ refresh_token: first });
  expect(secondRefresh.data.session?.refresh_token).toBe(second);

  const atOnce = await Promise.all(
    Array.from({ length: 8 }, () => fixture.client().auth.refreshSession({ refresh_token: second })),
  );
  expect(atOnce.map(({ error }) => error)).toEqual(Array(8).fill(null));
  const [third, ...others] = new Set(atOnce.map(({ data: { session } }) => session?.refresh_token));
  expect(others).toEqual([]);

  fixture.clock.advance(60_000);
  const reusedToken = await fixture.client().auth.refreshSession({ refresh_token: first });
  expect(reusedToken.error?.code).toBe('refresh_token_already_used');
  const revokedToken = await fixture.client().auth.refreshSession({ refresh_token: third ?? '' });
  expect(revokedToken.error?.code).toBe('refresh_token_already_used');
});

test('signs out the current, the other and all sessions', async () => {
  const { email } = await member();
  const [current, other, third] = [fixture.client(), fixture.client(), fixture.client()];
  for (const entry of [current, other, third]) await entry.auth.signInWithPassword({ email, password });
  const old = (await third.auth.getSession()).data.session;
  expect((await current.auth.signOut({ scope: 'others' })).error).toBeNull();
  expect((await current.auth.getUser()).error).toBeNull();
  expect((await other.auth.getUser()).error?.name).toBe('AuthSessionMissingError');
  const reply = await fixture.call('GET', '/user', undefined, { Authorization: `Bearer ${old?.access_token}` });
  expect([reply.status, (await reply.json()).error_code]).toEqual([403, 'session_not_found']);
  expect((await current.auth.signOut({ scope: 'global' })).error).toBeNull();
  expect((await current.auth.refreshSession({ refresh_token: old?.refresh_token ?? '' })).error?.code).toBe(
    'refresh_token_not_found',
  );
});

test('resets a password by PKCE with a link code that is valid once and only with its verifier', async () => {
  const { email } = await member();
  const client = fixture.client({ flowType: 'pkce' });
  const request = await client.auth.resetPasswordForEmail(email, { redirectTo: 'http://127.0.0.1:3000/new' });
  expect(request.error).toBeNull();
  const target = await follow((await fixture.mailTo(email)).link);
  expect(target.hash).toBe('');
  const code = target.searchParams.get('code') ?? '';
  const guessed = await fixture.call('POST', '/token?grant_type=pkce', {
    auth_code: code,
    code_verifier: 'x'.repeat(50),
  });
  expect([guessed.status, (await guessed.json()).error_code]).toEqual([400, 'bad_code_verifier']);
  const { error } = await client.auth.exchangeCodeForSession(code);
  expect(error).toBeNull();
  expect((await client.auth.updateUser({ password: 'a new password' })).error).toBeNull();
  expect((await fixture.client().auth.signInWithPassword({ email, password })).error?.code).toBe('invalid_credentials');
  expect((await fixture.client().auth.signInWithPassword({ email, password: 'a new password' })).error).toBeNull();
  const twice = await fixture.call('POST', '/token?grant_type=pkce', {
    auth_code: code,
    code_verifier: 'x'.repeat(50),
  });
  expect(twice.status).toBe(404);
});

test('refuses an expired link code', async () => {
  const { email } = await member();
  const client = fixture.client({ flowType: 'pkce' });
  await client.auth.resetPasswordForEmail(email);
  const code = (await follow((await fixture.mailTo(email)).link)).searchParams.get('code') ?? '';
  fixture.clock.advance(301_000);
  expect((await client.auth.exchangeCodeForSession(code)).error?.code).toBe('flow_state_expired');
});

test('signs in by a code from a mail and creates new users', async () => {
  const email = createAddress();
  const client = fixture.client();
  expect((await client.auth.signInWithOtp({ email, options: { data: { plan: 'x' } } })).error).toBeNull();
  const wrong = await client.auth.verifyOtp({ email, token: '000000', type: 'email' });
  expect(wrong.error?.code).toBe('otp_expired');
  const token = readCode((await fixture.mailTo(email)).body);
  const { data, error } = await client.auth.verifyOtp({ email, token, type: 'email' });
  expect(error).toBeNull();
  expect(data.user).toMatchObject({ email, user_metadata: { plan: 'x', email_verified: true } });
  // The second mail is used by its link.
  fixture.clock.advance(61_000);
  expect((await fixture.client().auth.signInWithOtp({ email })).error).toBeNull();
  const hash = new URL((await fixture.mailTo(email)).link ?? '').searchParams.get('token') ?? '';
  const byHash = await fixture.client().auth.verifyOtp({ token_hash: hash, type: 'magiclink' });
  expect(byHash.error).toBeNull();
});

test('expires a code from a mail after an hour', async () => {
  const { email } = await member();
  await fixture.client().auth.signInWithOtp({ email });
  const token = readCode((await fixture.mailTo(email)).body);
  fixture.clock.advance(3_601_000);
  expect((await fixture.client().auth.verifyOtp({ email, token, type: 'email' })).error?.code).toBe('otp_expired');
});

test('keeps the user when an anonymous user adds an address', async () => {
  const client = fixture.client();
  const { data } = await client.auth.signInAnonymously({ options: { data: { colour: 'red' } } });
  expect(data.user?.is_anonymous).toBe(true);
  const email = createAddress();
  const changed = await client.auth.updateUser({ email });
  expect(changed.error).toBeNull();
  expect(changed.data.user?.new_email).toBe(email);
  await follow((await fixture.mailTo(email)).link);
  const { data: now, error } = await client.auth.refreshSession();
  expect(error).toBeNull();
  expect(now.user).toMatchObject({ id: data.user?.id, email, is_anonymous: false, user_metadata: { colour: 'red' } });
  expect((await client.auth.updateUser({ password })).error).toBeNull();
  expect((await fixture.client().auth.signInWithPassword({ email, password })).data.user?.id).toBe(data.user?.id);
});

test('changes an address after both addresses have confirmed', async () => {
  const { email } = await member();
  const client = fixture.client();
  await client.auth.signInWithPassword({ email, password });
  const other = createAddress();
  expect((await client.auth.updateUser({ email: other })).error).toBeNull();
  const first = await follow((await fixture.mailTo(other)).link);
  expect(new URLSearchParams(first.hash.slice(1)).get('message')).toContain('other email');
  expect((await client.auth.getUser()).data.user).toMatchObject({ email, new_email: other });
  const second = await follow((await fixture.mailTo(email)).link);
  expect(second.hash).toContain('access_token=');
  const { data } = await client.auth.getUser();
  expect(data.user).toMatchObject({ email: other });
  expect(data.user?.new_email).toBeUndefined();
});

test('changes a password without a nonce, refuses a wrong one and ends other sessions', async () => {
  const { email } = await member();
  const [client, otherClient] = [fixture.client(), fixture.client()];
  for (const entry of [client, otherClient]) await entry.auth.signInWithPassword({ email, password });
  expect((await client.auth.reauthenticate()).error).toBeNull();
  const nonce = readCode((await fixture.mailTo(email)).body);
  const wrong = await client.auth.updateUser({
    password: 'a new password',
    nonce: nonce === '000000' ? '111111' : '000000',
  });
  expect(wrong.error?.code).toBe('reauthentication_not_valid');
  expect((await client.auth.updateUser({ password, nonce })).error?.code).toBe('same_password');
  expect((await client.auth.updateUser({ password: 'a new password', nonce })).error).toBeNull();
  expect((await client.auth.getUser()).error).toBeNull();
  expect((await otherClient.auth.getUser()).error).not.toBeNull();
});

test('reads, updates, bans and deletes a user as an administrator', async () => {
  const admin = service();
  const { email, id } = await member();
  expect((await admin.getUserById(id)).data.user?.email).toBe(email);
  const changed = await admin.updateUserById(id, {
    app_metadata: { plan: 'pro' },
    user_metadata: { a: 1 },
    ban_duration: '1h',
  });
  expect(changed.data.user?.app_metadata).toMatchObject({ plan: 'pro', provider: 'email' });
  expect((await fixture.client().auth.signInWithPassword({ email, password })).error?.code).toBe('user_banned');
  await admin.updateUserById(id, { ban_duration: 'none', email: `new-${email}`, email_confirm: true });
  expect((await fixture.client().auth.signInWithPassword({ email: `new-${email}`, password })).error).toBeNull();
  expect((await admin.deleteUser(id)).error).toBeNull();
  expect((await admin.getUserById(id)).error?.code).toBe('user_not_found');
  const signedIn = await fixture.client().auth.signInWithPassword({ email: `new-${email}`, password });
  expect(signedIn.error?.code).toBe('invalid_credentials');
});

test('lists users in pages and filters them by address as an administrator', async () => {
  const admin = service();
  await member();
  const { email, id } = await member();
  const page = await admin.listUsers({ page: 1, perPage: 1 });
  expect(page).toMatchObject({ error: null, data: { nextPage: 2 } });
  expect(page.data.users).toHaveLength(1);
  const result = await fixture.call(
    'GET',
    `/admin/users?filter=${encodeURIComponent(email.toUpperCase())}`,
    undefined,
    {
      Authorization: `Bearer ${fixture.serviceKey}`,
    },
  );
  expect((await result.json()).users.map((user: any) => user.id)).toEqual([id]);
});

test('invites a user and creates a sign-in link as an administrator', async () => {
  const admin = service();
  const guest = createAddress();
  expect((await admin.inviteUserByEmail(guest, { data: { team: 'a' } })).data.user?.invited_at).toBeTruthy();
  const target = await follow((await fixture.mailTo(guest)).link);
  expect(target.hash).toContain('type=invite');

  const created = await admin.generateLink({ type: 'magiclink', email: guest });
  expect(created.error).toBeNull();
  expect((await follow(created.data.properties?.action_link ?? '')).hash).toContain('access_token=');
});

test('imports users of Supabase with their passwords', async () => {
  const { hashSync } = await import('bcryptjs');
  const { argon2Sync } = await import('node:crypto');
  const salt = Buffer.from('some salt of another');
  const hash = argon2Sync('argon2id', {
    message: 'imported 2',
    nonce: salt,
    parallelism: 1,
    tagLength: 32,
    memory: 1024,
    passes: 1,
  });
  const phc = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '');
  const argon2id = `$argon2id$v=19$m=1024,t=1,p=1$${phc(salt)}$${phc(hash)}`;
  const [one, other] = [createAddress(), createAddress()];
  const bcrypt = hashSync('imported 1', 4).replace(/^\$2b/, '$2a');
  expect((await service().createUser({ email: one, password_hash: bcrypt, email_confirm: true })).error).toBeNull();
  expect((await fixture.client().auth.signInWithPassword({ email: one, password: 'imported 1' })).error).toBeNull();
  expect((await service().createUser({ email: other, password_hash: argon2id, email_confirm: true })).error).toBeNull();
  expect((await fixture.client().auth.signInWithPassword({ email: other, password: 'wrong' })).error?.code).toBe(
    'invalid_credentials',
  );
  expect((await fixture.client().auth.signInWithPassword({ email: other, password: 'imported 2' })).error).toBeNull();
  const rejectedUser = await service().createUser({ email: createAddress(), password_hash: 'plain text' });
  expect(rejectedUser.error?.code).toBe('validation_failed');
});

test('supports foreign keys and triggers of projects on auth.users', async () => {
  await fixture.sql(`
    create table profiles (id uuid primary key references auth.users (id) on delete cascade, name text);
    create function greet() returns trigger language plpgsql security definer set search_path = '' as $$
    begin
      if new.raw_user_meta_data ->> 'name' = 'Nobody' then raise exception 'no such name'; end if;
      insert into public.profiles (id, name) values (new.id, new.raw_user_meta_data ->> 'name');
      return new;
    end $$;
    create trigger greeted after insert on auth.users for each row execute function greet();`);
  const email = createAddress();
  const { data, error } = await fixture.client().auth.signUp({ email, password, options: { data: { name: 'Eve' } } });
  expect(error, fixture.host.log.slice(-3).join('\n')).toBeNull();
  expect(await fixture.sql(`select name from profiles where id = '${data.user?.id}'`)).toEqual([{ name: 'Eve' }]);
  const refused = await fixture
    .client()
    .auth.signUp({ email: createAddress(), password, options: { data: { name: 'Nobody' } } });
  expect([refused.error?.status, refused.error?.message]).toEqual([500, 'Database error saving new user']);
  expect((await service().deleteUser(data.user?.id ?? '')).error).toBeNull();
  expect(await fixture.sql(`select name from profiles where name = 'Eve'`)).toEqual([]);
  await fixture.sql('drop trigger greeted on auth.users; drop function greet(); drop table profiles');
});
