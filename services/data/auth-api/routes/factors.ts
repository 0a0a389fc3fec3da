import { randomBytes, randomUUID } from 'node:crypto';
import { renderSVG } from 'uqr';
import { toBase32, fromBase32, findMatchingStep } from '../../../kit/totp.ts';
import { isUuid, createOkResponse, type AuthResponse, type AuthCall } from '../http/auth-call.ts';
import { createValidationError, AuthError, createRateLimitError } from '../http/auth-error.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { requireUser, type SignedInCaller } from '../session/bearer.ts';
import { buildSessionView } from '../session/issue.ts';
import { recordFailures } from '../session/security-events.ts';
import { getSiteUrl } from '../site.ts';
import {
  findChallenge,
  deleteFactor,
  insertChallenge,
  insertFactor,
  raiseSession,
  findSecret,
  useTimeStep,
} from '../store/factors.ts';
import { findActiveToken, rotateToken, findUserAndSession } from '../store/sessions.ts';
import { lockUser, type StoredFactor } from '../store/users.ts';
import type { Route } from './route.ts';
import { checkRateLimit } from './signup.ts';

/** Routes of the second factor, an authenticator app (TOTP). */
export const factorRoutes: readonly Route[] = [
  { method: 'POST', path: '/factors', answer: enroll },
  { method: 'POST', path: '/factors/:factor/challenge', answer: challenge },
  { method: 'POST', path: '/factors/:factor/verify', answer: verify },
  { method: 'DELETE', path: '/factors/:factor', answer: unenroll },
];

const maxFactors = 10;
/** Lifetime of a challenge. */
const challengeMs = 300_000;
const sealPurpose = 'data.totp';

async function requirePermanentUser(deps: AuthDependencies, call: AuthCall): Promise<SignedInCaller> {
  const caller = await requireUser(deps, call);
  if (!caller.user.is_anonymous) return caller;
  throw new AuthError(403, 'no_authorization', 'Anonymous user not allowed to perform these actions');
}

async function requireFactor(
  deps: AuthDependencies,
  call: AuthCall,
): Promise<SignedInCaller & { readonly factor: StoredFactor }> {
  const caller = await requirePermanentUser(deps, call);
  const id = call.id('factor');
  const factor = caller.user.factors.find((each) => each.id === id);
  if (factor === undefined) throw new AuthError(404, 'mfa_factor_not_found', 'Factor not found');
  return { ...caller, factor };
}

async function enroll(deps: AuthDependencies, call: AuthCall): Promise<AuthResponse> {
  const { user, session } = await requirePermanentUser(deps, call);
  const body = await call.body();
  const [type, name, issuer] = [body.text('factor_type'), body.text('friendly_name'), body.text('issuer')];
  if (type === 'phone') throw new AuthError(422, 'mfa_phone_enroll_not_enabled', 'MFA enroll is disabled for Phone');
  if (type === 'webauthn')
    throw new AuthError(422, 'mfa_webauthn_enroll_not_enabled', 'MFA enroll is disabled for WebAuthn');
  if (type !== 'totp') throw createValidationError('factor_type needs to be totp, phone, or webauthn');
  const id = randomUUID();
  const secret = toBase32(randomBytes(20));
  await deps.database.transaction(async (sql) => {
    const factors = (await lockUser(sql, user.id))?.factors ?? [];
    if (factors.some(({ friendly_name }) => (friendly_name ?? '') === name)) {
      throw new AuthError(
        422,
        'mfa_factor_name_conflict',
        `A factor with the friendly name ${JSON.stringify(name)} for this user already exists`,
      );
    }
    if (factors.length >= maxFactors) {
      throw new AuthError(
        422,
        'too_many_enrolled_mfa_factors',
        'Maximum number of verified factors reached, unenroll to continue',
      );
    }
    if (factors.some(({ status }) => status === 'verified') && session.aal !== 'aal2') {
      throw new AuthError(403, 'insufficient_aal', 'AAL2 required to enroll a new factor');
    }
    await insertFactor(sql, user.id, name, deps.context.vault.seal(secret, sealPurpose), id, call.now);
  });
  const issuerName = issuer === '' ? new URL(getSiteUrl(deps, call)).host : issuer;
  const label = `${encodeURIComponent(issuerName)}:${encodeURIComponent(user.email ?? '')}`
    .replaceAll('%40', '@')
    .replaceAll('%3A', ':');
  const query = new URLSearchParams({ algorithm: 'SHA1', digits: '6', issuer: issuerName, period: '30', secret });
  const uri = `otpauth://totp/${label}?${query.toString().replaceAll('+', '%20').replaceAll('%3A', ':')}`;
  const qr_code = renderSVG(uri, { ecc: 'M', pixelSize: 4 });
  return createOkResponse({ id, type: 'totp', friendly_name: name, totp: { qr_code, secret, uri } });
}

async function challenge(deps: AuthDependencies, call: AuthCall): Promise<AuthResponse> {
  checkRateLimit(deps, call, 'factor');
  const { factor } = await requireFactor(deps, call);
  const id = await insertChallenge(deps.database, factor.id, call.address, call.now);
  return createOkResponse({ id, type: factor.factor_type, expires_at: Math.floor((call.now + challengeMs) / 1000) });
}

async function verify(deps: AuthDependencies, call: AuthCall): Promise<AuthResponse> {
  checkRateLimit(deps, call, 'factor');
  const caller = await requireFactor(deps, call);
  const { factor, user } = caller;
  const body = await call.body();
  const [code, challengeId] = [body.text('code'), body.text('challenge_id')];
  if (code === '') throw createValidationError('Code needs to be non-empty');
  const { database } = deps;
  const storedChallenge = isUuid(challengeId) ? await findChallenge(database, challengeId, factor.id) : undefined;
  if (storedChallenge === undefined) {
    throw new AuthError(422, 'mfa_factor_not_found', 'MFA factor with the provided challenge ID not found');
  }
  if (storedChallenge.verified || storedChallenge.ip !== call.address.replace(/^::ffff:/, '')) {
    throw new AuthError(422, 'mfa_ip_address_mismatch', 'Challenge and verify IP addresses mismatch.');
  }
  if (storedChallenge.createdAt + challengeMs < call.now) {
    throw new AuthError(
      422,
      'mfa_challenge_expired',
      `MFA challenge ${challengeId} has expired, verify against another challenge or create a new challenge.`,
    );
  }
  const attempt = { user: user.email ?? user.id, method: 'totp' };
  return recordFailures(deps, call, attempt, () => checkCode(deps, call, caller, code, challengeId));
}

async function checkCode(
  deps: AuthDependencies,
  call: AuthCall,
  { factor, session, user }: Awaited<ReturnType<typeof requireFactor>>,
  code: string,
  challengeId: string,
): Promise<AuthResponse> {
  const { database } = deps;
  const { limits } = deps.protection;
  if (!limits.mayTry('factor', factor.id, call.now)) throw createRateLimitError();
  limits.addFailure('factor', factor.id, call.now);
  const sealed = (await findSecret(database, factor.id)) ?? '';
  const step = findMatchingStep(fromBase32(deps.context.vault.open(sealed, sealPurpose)), code, call.now);
  const createWrongCodeError = (): AuthError =>
    new AuthError(422, 'mfa_verification_failed', 'Invalid TOTP code entered');
  if (step === undefined) throw createWrongCodeError();
  const view = await database.transaction(async (sql) => {
    const active = await findActiveToken(sql, session.id);
    if (active === undefined)
      throw new AuthError(403, 'session_not_found', 'Session from session_id claim in JWT does not exist');
    if (!(await useTimeStep(sql, factor.id, step, call.now))) throw createWrongCodeError();
    await raiseSession(sql, {
      userId: user.id,
      sessionId: session.id,
      factorId: factor.id,
      challengeId,
      now: call.now,
    });
    const token = await rotateToken(sql, session, active.token, call.now);
    const updated = await findUserAndSession(sql, user.id, session.id);
    if (updated === undefined || updated.session === null) throw new Error('the session no longer exists');
    return await buildSessionView(deps, call, { user: updated.user, session: updated.session, token });
  });
  limits.clearFailures('factor', factor.id);
  return createOkResponse(view);
}

async function unenroll(deps: AuthDependencies, call: AuthCall): Promise<AuthResponse> {
  const { factor, session } = await requireFactor(deps, call);
  if (factor.status === 'verified' && session.aal !== 'aal2') {
    throw new AuthError(422, 'insufficient_aal', 'AAL2 required to unenroll verified factor');
  }
  await deps.database.transaction((sql) => deleteFactor(sql, factor.id));
  return createOkResponse({ id: factor.id });
}
