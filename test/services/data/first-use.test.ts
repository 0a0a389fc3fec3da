import { afterAll, beforeAll, expect, test } from 'vitest';
import { openAuthFixture, type AuthFixture } from './auth-fixture.ts';

/** First use with supabase-js and default settings. */
let fixture: AuthFixture;
beforeAll(async () => {
  fixture = await openAuthFixture();
  await fixture.sql(`create table diary (id bigint generated always as identity primary key,
    owner uuid not null default auth.uid() references auth.users, line text);
    alter table diary enable row level security;
    create policy own on diary for all to authenticated using (owner = auth.uid()) with check (owner = auth.uid())`);
});
afterAll(() => fixture[Symbol.asyncDispose]());

test('signs in a new user, who can read only their own rows', async () => {
  const client = fixture.client();
  const { data, error } = await client.auth.signUp({ email: 'first@example.com', password: 'long enough 1' });
  expect([error, data.session?.user.id]).toEqual([null, data.user?.id]);
  const written = await client.from('diary').insert({ line: 'mine' }).select('line, owner').single();
  expect(written.data).toEqual({ line: 'mine', owner: data.user?.id });
  expect((await fixture.client().from('diary').select()).data).toEqual([]);
  expect((await client.auth.signOut()).error).toBeNull();
  expect((await client.from('diary').insert({ line: 'late' })).error?.code).toBe('42501');
});

test('sends a sign-in link on request, also to a new user', async () => {
  const email = 'by-link@example.com';
  const client = fixture.client();
  expect((await client.auth.signInWithOtp({ email })).error).toBeNull();
  const mail = await fixture.mailTo(email);
  expect(mail.title).not.toContain('Confirm');
  const link = new URL(mail.link ?? '');
  expect(link.searchParams.get('type')).toBe('magiclink');
  const reply = await fetch(link, { redirect: 'manual' });
  const response = new URLSearchParams(new URL(reply.headers.get('location') ?? '').hash.slice(1));
  const session = {
    access_token: response.get('access_token') ?? '',
    refresh_token: response.get('refresh_token') ?? '',
  };
  const { data } = await client.auth.setSession(session);
  expect([data.user?.email, data.user?.email_confirmed_at]).toEqual([email, expect.any(String)]);
  expect((await client.from('diary').insert({ line: 'hers' }).select('line')).data).toEqual([{ line: 'hers' }]);
  // Without a site address the link leads to this service, which explains it.
  expect(await (await fetch(fixture.url)).json()).toEqual({ message: expect.stringContaining('site address') });
});

test('signs in by the code of that mail with every verification type', async () => {
  for (const type of ['magiclink', 'email'] as const) {
    const email = `by-${type}-code@example.com`;
    const client = fixture.client();
    await client.auth.signInWithOtp({ email });
    const token = /\b(\d{6})\b/.exec((await fixture.mailTo(email)).body)?.[1] ?? '';
    const { data, error } = await client.auth.verifyOtp({ email, token, type });
    expect([error, data.user?.email]).toEqual([null, email]);
  }
});
