import { afterAll, beforeAll, expect, test } from 'vitest';
import { openAuthFixture, type AuthFixture } from './auth-fixture.ts';

/** Features that this service lacks are refused like disabled features of Supabase. */
let fixture: AuthFixture;
beforeAll(async () => {
  fixture = await openAuthFixture({ environment: { DATA_AUTOCONFIRM: 'false' } });
});
afterAll(() => fixture[Symbol.asyncDispose]());

const password = 'correct horse 1';

test('reports external providers as disabled in the settings and when they are requested', async () => {
  const settings: any = await (await fixture.call('GET', '/settings')).json();
  expect(settings).toMatchObject({
    external: { email: true, github: false, google: false, phone: false },
    saml_enabled: false,
  });
  const { data } = await fixture
    .client()
    .auth.signInWithOAuth({ provider: 'github', options: { skipBrowserRedirect: true } });
  // The browser opens the address without an API key.
  const reply = await fetch(data.url ?? '', { redirect: 'manual' });
  expect([reply.status, await reply.json()]).toEqual([
    400,
    { code: 400, error_code: 'validation_failed', msg: 'Unsupported provider: provider is not enabled' },
  ]);
  const { auth } = fixture.client();
  const token = await auth.signInWithIdToken({ provider: 'google', token: 'a.b.c' });
  expect([token.error?.status, token.error?.code]).toEqual([400, 'provider_disabled']);
  const sso = await auth.signInWithSSO({ domain: 'example.com' });
  expect([sso.error?.status, sso.error?.code]).toEqual([404, 'saml_provider_disabled']);
  const wallet = await auth.signInWithWeb3({ chain: 'solana', message: 'm', signature: new Uint8Array(64) });
  expect([wallet.error?.status, wallet.error?.code]).toEqual([422, 'web3_provider_disabled']);
  const phone = await auth.signInWithOtp({ phone: '+15550100' });
  expect([phone.error?.status, phone.error?.code]).toEqual([400, 'phone_provider_disabled']);
  const phoneResponse = await auth.verifyOtp({ phone: '15550100-x', token: '123456', type: 'sms' });
  expect([phoneResponse.error?.status, phoneResponse.error?.message]).toEqual([
    400,
    'Invalid phone number format (E.164 required)',
  ]);
  const code = await auth.verifyOtp({ phone: '+15550100', token: '123456', type: 'sms' });
  expect([code.error?.status, code.error?.code]).toEqual([403, 'otp_expired']);
});

test('resends a missing mail, lists identities and refuses to link or unlink them', async () => {
  const client = fixture.client();
  const email = 'ann@example.com';
  await client.auth.signUp({ email, password });
  await fixture.mailTo(email);
  const early = await client.auth.resend({ type: 'signup', email });
  expect([early.error?.status, early.error?.code]).toEqual([429, 'over_email_send_rate_limit']);
  fixture.clock.advance(61_000);
  expect((await client.auth.resend({ type: 'signup', email })).error).toBeNull();
  const { link } = await fixture.mailTo(email);
  const landing = await fetch(link ?? '', { redirect: 'manual' });
  expect([landing.status, landing.headers.get('location')]).toEqual([303, expect.stringContaining('access_token=')]);
  const signedIn = await client.auth.signInWithPassword({ email, password });
  expect(signedIn.error).toBeNull();
  const { data } = await client.auth.getUserIdentities();
  expect(data?.identities.map(({ provider, identity_data }) => [provider, identity_data?.['email']])).toEqual([
    ['email', email],
  ]);
  const linked = await client.auth.linkIdentity({ provider: 'github', options: { skipBrowserRedirect: true } });
  expect([linked.error?.status, linked.error?.code]).toEqual([404, 'manual_linking_disabled']);
  const [identity] = data?.identities ?? [];
  if (identity === undefined) throw new Error('there is no identity');
  const unlinked = await client.auth.unlinkIdentity(identity);
  expect([unlinked.error?.status, unlinked.error?.code]).toEqual([404, 'manual_linking_disabled']);
  fixture.clock.advance(61_000);
  expect((await client.auth.updateUser({ email: 'anna@example.com' })).error).toBeNull();
  fixture.clock.advance(61_000);
  expect((await client.auth.resend({ type: 'email_change', email: 'anna@example.com' })).error).toBeNull();
});

test('returns readable errors for storage, functions and realtime', async () => {
  const client = fixture.client();
  expect((await client.storage.listBuckets()).error).toMatchObject({
    message: 'There is nothing at /storage/v1/bucket',
  });
  expect((await client.functions.invoke('hello')).error).toMatchObject({ context: { status: 404 } });
  const states: string[] = [];
  const channel = client.channel('room');
  channel.subscribe((state) => states.push(state));
  await expect.poll(() => states, { timeout: 20_000 }).toContain('CHANNEL_ERROR');
  await client.removeAllChannels();
  await client.realtime.disconnect();
  // The rest of the client continues to work.
  expect((await client.auth.getSession()).error).toBeNull();
});
