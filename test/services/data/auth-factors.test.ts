import { afterAll, beforeAll, expect, test } from 'vitest';
import { generateCode, fromBase32 } from '../../../services/kit/totp.ts';
import { openAuthFixture, type AuthFixture } from './auth-fixture.ts';

/** Second factor with supabase-js. */
let fixture: AuthFixture;

beforeAll(async () => {
  fixture = await openAuthFixture({ environment: { DATA_ANONYMOUS_SIGN_INS: 'true' } });
});
afterAll(() => fixture[Symbol.asyncDispose]());

const password = 'correct horse 1';

test('computes the codes of RFC 6238', () => {
  // Appendix B, the last six of eight digits; the secret is 12345678901234567890.
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
  const codes = [59, 1_111_111_109, 1_111_111_111, 1_234_567_890, 2_000_000_000, 20_000_000_000];
  expect(codes.map((seconds) => generateCode(fromBase32(secret), Math.floor(seconds / 30)))).toEqual([
    '287082',
    '081804',
    '050471',
    '005924',
    '279037',
    '353130',
  ]);
});

/** Signs up and enrolls an authenticator app, which is not verified yet. */
async function enroll(email: string) {
  const client = fixture.client();
  await client.auth.signUp({ email, password });
  const { data, error } = await client.auth.mfa.enroll({ factorType: 'totp', friendlyName: 'phone' });
  expect(error).toBeNull();
  const { id: factorId, totp } = data as { id: string; totp: { qr_code: string; secret: string; uri: string } };
  const code = (): string => generateCode(fromBase32(totp.secret), Math.floor(fixture.clock.now() / 30_000));
  return { client, factorId, totp, code };
}
const getLevels = async (client: ReturnType<AuthFixture['client']>) =>
  (await client.auth.mfa.getAuthenticatorAssuranceLevel()).data;

test('enrolls an authenticator app under a unique name', async () => {
  const { client, totp } = await enroll('enrolled@example.com');
  expect(totp.qr_code).toMatch(/^data:image\/svg\+xml;utf-8,<svg/);
  expect(totp.uri).toContain(`secret=${totp.secret}`);
  const twice = await client.auth.mfa.enroll({ factorType: 'totp', friendlyName: 'phone' });
  expect(twice.error?.code).toBe('mfa_factor_name_conflict');
});

test('verifies an authenticator app with a correct code, and ends sessions from before', async () => {
  const email = 'verified@example.com';
  const { client, code, factorId } = await enroll(email);
  const other = fixture.client();
  await other.auth.signInWithPassword({ email, password });
  const wrong = await client.auth.mfa.challengeAndVerify({
    factorId,
    code: code() === '000000' ? '111111' : '000000',
  });
  expect(wrong.error?.code).toBe('mfa_verification_failed');
  expect((await client.auth.mfa.challengeAndVerify({ factorId, code: code() })).error).toBeNull();
  expect(await getLevels(client)).toMatchObject({ currentLevel: 'aal2', nextLevel: 'aal2' });
  expect((await other.auth.getUser()).error).not.toBeNull();
});

test('requires a new code of the authenticator app to change the password or remove the app', async () => {
  const email = 'second@example.com';
  const { client, code, factorId } = await enroll(email);
  const used = code();
  expect((await client.auth.mfa.challengeAndVerify({ factorId, code: used })).error).toBeNull();
  const next = fixture.client();
  await next.auth.signInWithPassword({ email, password });
  expect(await getLevels(next)).toMatchObject({ currentLevel: 'aal1', nextLevel: 'aal2' });
  expect((await next.auth.updateUser({ password: 'a new password' })).error?.code).toBe('insufficient_aal');
  expect((await next.auth.mfa.unenroll({ factorId })).error?.code).toBe('insufficient_aal');
  // Codes are valid once.
  expect((await next.auth.mfa.challengeAndVerify({ factorId, code: used })).error?.code).toBe(
    'mfa_verification_failed',
  );
  fixture.clock.advance(60_000);
  expect((await next.auth.mfa.challengeAndVerify({ factorId, code: code() })).error).toBeNull();
});

test('keeps the level of a session on refresh, and lowers it when the authenticator app is removed', async () => {
  const { client, code, factorId } = await enroll('removed@example.com');
  await client.auth.mfa.challengeAndVerify({ factorId, code: code() });
  expect((await client.auth.refreshSession()).error).toBeNull();
  expect((await getLevels(client))?.currentLevel).toBe('aal2');
  expect((await client.auth.mfa.unenroll({ factorId })).error).toBeNull();
  await client.auth.refreshSession();
  expect((await getLevels(client))?.currentLevel).toBe('aal1');
});

test('limits attempts, and accepts a challenge only for its factor and lifetime', async () => {
  const client = fixture.client();
  await client.auth.signUp({ email: 'tried@example.com', password });
  const { data: first } = await client.auth.mfa.enroll({ factorType: 'totp', friendlyName: 'first' });
  const { data: second } = await client.auth.mfa.enroll({ factorType: 'totp', friendlyName: 'second' });
  const [factorId, otherId] = [first?.id ?? '', second?.id ?? ''];
  const { data: challenge } = await client.auth.mfa.challenge({ factorId });
  const challengeId = challenge?.id ?? '';
  const foreign = await client.auth.mfa.verify({ factorId: otherId, challengeId, code: '123456' });
  expect(foreign.error?.code).toBe('mfa_factor_not_found');
  const codes: (string | undefined)[] = [];
  for (let index = 0; index < 12; index += 1) {
    codes.push((await client.auth.mfa.verify({ factorId, challengeId, code: `x${index}` })).error?.code);
  }
  expect(codes).toEqual([
    ...Array<string>(10).fill('mfa_verification_failed'),
    ...Array<string>(2).fill('over_request_rate_limit'),
  ]);
  fixture.clock.advance(301_000);
  const late = await client.auth.mfa.verify({ factorId, challengeId, code: '123456' });
  expect(late.error?.code).toBe('mfa_challenge_expired');
});

test('hides factors from other users and refuses them for anonymous users', async () => {
  const [owner, other, nameless] = [fixture.client(), fixture.client(), fixture.client()];
  await owner.auth.signUp({ email: 'owner@example.com', password });
  await other.auth.signUp({ email: 'stranger@example.com', password });
  const { data } = await owner.auth.mfa.enroll({ factorType: 'totp' });
  const factorId = data?.id ?? '';
  expect((await other.auth.mfa.challenge({ factorId })).error?.code).toBe('mfa_factor_not_found');
  expect((await other.auth.mfa.unenroll({ factorId })).error?.code).toBe('mfa_factor_not_found');
  await nameless.auth.signInAnonymously();
  expect((await nameless.auth.mfa.enroll({ factorType: 'totp' })).error?.status).toBe(403);
  const admin = fixture.client({ key: fixture.serviceKey }).auth.admin;
  const userId = (await owner.auth.getUser()).data.user?.id ?? '';
  expect((await admin.mfa.listFactors({ userId })).data?.factors.map(({ id }) => id)).toEqual([factorId]);
  expect((await admin.mfa.deleteFactor({ userId, id: factorId })).error).toBeNull();
  expect((await owner.auth.mfa.listFactors()).data?.all).toEqual([]);
  // The table does not contain the secret in plain text.
  const secondFactor = await owner.auth.mfa.enroll({ factorType: 'totp' });
  const [row] = await fixture.sql(`select secret from auth.mfa_factors where id = '${secondFactor.data?.id}'`);
  expect(row.secret).not.toContain((secondFactor.data as { totp: { secret: string } }).totp.secret);
});
