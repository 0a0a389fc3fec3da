import { randomBytes, randomUUID } from 'node:crypto';
import { renderSVG } from 'uqr';
import { toBase32, fromBase32, findMatchingStep } from '../../../kit/totp.ts';
import { isUuid, ok, type Answer, type Call } from '../http/auth-call.ts';
import { invalid, Refusal, tooMany } from '../http/auth-error.ts';
import type { AuthParts } from '../dependencies.ts';
import { requireUser, type Asking } from '../session/bearer.ts';
import { sessionView } from '../session/issue.ts';
import { recordFailures } from '../session/security-events.ts';
import { siteOf } from '../site.ts';
import {
  challengeOf,
  deleteFactor,
  insertChallenge,
  insertFactor,
  raiseSession,
  secretOf,
  takeStep,
} from '../store/factors.ts';
import { presentedBySession, rotate, userAndSession } from '../store/sessions.ts';
import { lockedUser, type StoredFactor } from '../store/users.ts';
import type { Route } from './route.ts';
import { limit } from './signup.ts';

/** Routes of the second factor, an authenticator app (TOTP). */
export const factorRoutes: readonly Route[] = [
  ['POST', '/factors', enroll],
  ['POST', '/factors/*/challenge', challenge],
  ['POST', '/factors/*/verify', verify],
  ['DELETE', '/factors/*', unenroll],
];

const mostFactors = 10;
/** Lifetime of a challenge. */
const challengeMs = 300_000;
const sealing = 'data.totp';

async function person(parts: AuthParts, call: Call): Promise<Asking> {
  const asking = await requireUser(parts, call);
  if (!asking.user.is_anonymous) return asking;
  throw new Refusal(403, 'no_authorization', 'Anonymous user not allowed to perform these actions');
}

async function owned(parts: AuthParts, call: Call): Promise<Asking & { readonly factor: StoredFactor }> {
  const asking = await person(parts, call);
  const id = call.id(0, 'factor_id');
  const factor = asking.user.factors.find((each) => each.id === id);
  if (factor === undefined) throw new Refusal(404, 'mfa_factor_not_found', 'Factor not found');
  return { ...asking, factor };
}

async function enroll(parts: AuthParts, call: Call): Promise<Answer> {
  const { user, session } = await person(parts, call);
  const body = await call.body();
  const [type, name, issuer] = [body.text('factor_type'), body.text('friendly_name'), body.text('issuer')];
  if (type === 'phone') throw new Refusal(422, 'mfa_phone_enroll_not_enabled', 'MFA enroll is disabled for Phone');
  if (type === 'webauthn')
    throw new Refusal(422, 'mfa_webauthn_enroll_not_enabled', 'MFA enroll is disabled for WebAuthn');
  if (type !== 'totp') throw invalid('factor_type needs to be totp, phone, or webauthn');
  const id = randomUUID();
  const secret = toBase32(randomBytes(20));
  await parts.database.transaction(async (sql) => {
    const factors = (await lockedUser(sql, user.id))?.factors ?? [];
    if (factors.some(({ friendly_name }) => (friendly_name ?? '') === name)) {
      throw new Refusal(
        422,
        'mfa_factor_name_conflict',
        `A factor with the friendly name ${JSON.stringify(name)} for this user already exists`,
      );
    }
    if (factors.length >= mostFactors) {
      throw new Refusal(
        422,
        'too_many_enrolled_mfa_factors',
        'Maximum number of verified factors reached, unenroll to continue',
      );
    }
    if (factors.some(({ status }) => status === 'verified') && session.aal !== 'aal2') {
      throw new Refusal(403, 'insufficient_aal', 'AAL2 required to enroll a new factor');
    }
    await insertFactor(sql, user.id, name, parts.context.vault.seal(secret, sealing), id, call.now);
  });
  const who = issuer === '' ? new URL(siteOf(parts, call)).host : issuer;
  const label = `${encodeURIComponent(who)}:${encodeURIComponent(user.email ?? '')}`
    .replaceAll('%40', '@')
    .replaceAll('%3A', ':');
  const query = new URLSearchParams({ algorithm: 'SHA1', digits: '6', issuer: who, period: '30', secret });
  const uri = `otpauth://totp/${label}?${query.toString().replaceAll('+', '%20').replaceAll('%3A', ':')}`;
  const qr_code = renderSVG(uri, { ecc: 'M', pixelSize: 4 });
  return ok({ id, type: 'totp', friendly_name: name, totp: { qr_code, secret, uri } });
}

async function challenge(parts: AuthParts, call: Call): Promise<Answer> {
  limit(parts, call, 'factor');
  const { factor } = await owned(parts, call);
  const id = await insertChallenge(parts.database, factor.id, call.address, call.now);
  return ok({ id, type: factor.factor_type, expires_at: Math.floor((call.now + challengeMs) / 1000) });
}

async function verify(parts: AuthParts, call: Call): Promise<Answer> {
  limit(parts, call, 'factor');
  const asking = await owned(parts, call);
  const { factor, user } = asking;
  const body = await call.body();
  const [code, challengeId] = [body.text('code'), body.text('challenge_id')];
  if (code === '') throw invalid('Code needs to be non-empty');
  const { database } = parts;
  const known = isUuid(challengeId) ? await challengeOf(database, challengeId, factor.id) : undefined;
  if (known === undefined) {
    throw new Refusal(422, 'mfa_factor_not_found', 'MFA factor with the provided challenge ID not found');
  }
  if (known.verified || known.ip !== call.address.replace(/^::ffff:/, '')) {
    throw new Refusal(422, 'mfa_ip_address_mismatch', 'Challenge and verify IP addresses mismatch.');
  }
  if (known.createdAt + challengeMs < call.now) {
    throw new Refusal(
      422,
      'mfa_challenge_expired',
      `MFA challenge ${challengeId} has expired, verify against another challenge or create a new challenge.`,
    );
  }
  const attempt = { user: user.email ?? user.id, method: 'totp' };
  return recordFailures(parts, call, attempt, () => checkCode(parts, call, asking, code, challengeId));
}

async function checkCode(
  parts: AuthParts,
  call: Call,
  { factor, session, user }: Awaited<ReturnType<typeof owned>>,
  code: string,
  challengeId: string,
): Promise<Answer> {
  const { database, limits } = parts;
  if (!limits.mayTry('factor', factor.id, call.now)) throw tooMany();
  limits.failed('factor', factor.id, call.now);
  const sealed = (await secretOf(database, factor.id)) ?? '';
  const step = findMatchingStep(fromBase32(parts.context.vault.open(sealed, sealing)), code, call.now);
  const wrong = (): Refusal => new Refusal(422, 'mfa_verification_failed', 'Invalid TOTP code entered');
  if (step === undefined) throw wrong();
  const view = await database.transaction(async (sql) => {
    const before = await presentedBySession(sql, session.id);
    if (before === undefined)
      throw new Refusal(403, 'session_not_found', 'Session from session_id claim in JWT does not exist');
    if (!(await takeStep(sql, factor.id, step, call.now))) throw wrong();
    await raiseSession(sql, {
      userId: user.id,
      sessionId: session.id,
      factorId: factor.id,
      challengeId,
      now: call.now,
    });
    const token = await rotate(sql, session, before.token, call.now);
    const fresh = await userAndSession(sql, user.id, session.id);
    if (fresh === undefined || fresh.session === null) throw new Error('the session no longer exists');
    return sessionView(parts, call, { user: fresh.user, session: fresh.session, token });
  });
  limits.succeeded('factor', factor.id);
  return ok(view);
}

async function unenroll(parts: AuthParts, call: Call): Promise<Answer> {
  const { factor, session } = await owned(parts, call);
  if (factor.status === 'verified' && session.aal !== 'aal2') {
    throw new Refusal(422, 'insufficient_aal', 'AAL2 required to unenroll verified factor');
  }
  await parts.database.transaction((sql) => deleteFactor(sql, factor.id));
  return ok({ id: factor.id });
}
