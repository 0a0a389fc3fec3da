import type { Claims } from '../../keys/jwt.ts';
import { isUuid, type AuthCall } from '../http/auth-call.ts';
import { AuthError } from '../http/auth-error.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { findUserAndSession, type StoredSession } from '../store/sessions.ts';
import type { StoredUser } from '../store/users.ts';

const createMissingTokenError = (): AuthError =>
  new AuthError(401, 'no_authorization', 'This endpoint requires a valid Bearer token');
const createTokenError = (reason: string): AuthError => new AuthError(403, 'bad_jwt', reason);

/** Returns the algorithm that a token names, only for the error message. */
function readAlgorithm(token: string): string | undefined {
  try {
    const head: unknown = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString());
    const alg = typeof head === 'object' && head !== null && 'alg' in head ? head.alg : undefined;
    return typeof alg === 'string' ? alg : undefined;
  } catch {
    return undefined;
  }
}

async function verifyClaims({ keys }: Pick<AuthDependencies, 'keys'>, call: AuthCall): Promise<Claims> {
  const token = call.bearer;
  if (token === undefined) throw createMissingTokenError();
  const verified = await keys.verify(token);
  if ('claims' in verified) return verified.claims;
  const errorPrefix = 'invalid JWT: unable to parse or verify signature,';
  const { kind } = verified.refusal;
  if (kind === 'malformed') {
    throw createTokenError(`${errorPrefix} token is malformed: token contains an invalid number of segments`);
  }
  if (kind === 'expired') throw createTokenError(`${errorPrefix} token has invalid claims: token is expired`);
  if (kind === 'early') throw createTokenError(`${errorPrefix} token has invalid claims: token is not valid yet`);
  if (kind === 'issued-later')
    throw createTokenError(`${errorPrefix} token has invalid claims: token used before issued`);
  if (kind === 'claims') throw createTokenError(`${errorPrefix} token is malformed: could not JSON decode claim`);
  const alg = readAlgorithm(token);
  if (alg === undefined) throw createTokenError(`${errorPrefix} token is malformed: could not JSON decode header`);
  if (alg === 'HS256') throw createTokenError(`${errorPrefix} token signature is invalid: signature is invalid`);
  throw createTokenError(`${errorPrefix} token signature is invalid: signing method ${alg.slice(0, 40)} is invalid`);
}

/**
 * Requires the service key.
 *
 * @throws AuthError
 */
export async function requireAdmin(deps: Pick<AuthDependencies, 'keys'>, call: AuthCall): Promise<void> {
  const token = call.bearer;
  if (token !== undefined && !token.includes('.') && (await deps.keys.getRole(token)) === 'service_role') return;
  const { role } = await verifyClaims(deps, call);
  if (role !== 'service_role') throw new AuthError(403, 'not_admin', 'User not allowed');
}

/** Signed-in caller with a valid session. */
export interface SignedInCaller {
  readonly user: StoredUser;
  readonly session: StoredSession;
  readonly claims: Claims;
}

/**
 * Requires a signed-in user.
 *
 * @throws AuthError with the text of Supabase Auth
 */
export async function requireUser(deps: AuthDependencies, call: AuthCall): Promise<SignedInCaller> {
  const claims = await verifyClaims(deps, call);
  const { sub, session_id: sessionId } = claims;
  if (typeof sub !== 'string' || sub === '') throw createTokenError('invalid claim: missing sub claim');
  if (!isUuid(sub)) throw createTokenError('invalid claim: sub claim must be a UUID').withStatus(400);
  const hasSessionId = typeof sessionId === 'string' && sessionId !== '';
  if (hasSessionId && !isUuid(sessionId)) throw createTokenError('invalid claim: session_id claim must be a UUID');
  const row = await findUserAndSession(deps.database, sub, hasSessionId ? sessionId : null);
  if (row === undefined) throw new AuthError(403, 'user_not_found', 'User from sub claim in JWT does not exist');
  const { user, session } = row;
  if (session === null) {
    throw new AuthError(403, 'session_not_found', 'Session from session_id claim in JWT does not exist');
  }
  if (isBanned(user, call.now)) throw new AuthError(403, 'user_banned', 'User is banned');
  return { user, session, claims };
}

export function isBanned({ banned_until: until }: StoredUser, now: number): boolean {
  return until !== null && toMillis(until) > now;
}

/** Converts a stored time to ms since the epoch. */
export function toMillis(stored: string): number {
  return Date.parse(stored.endsWith('Z') ? stored : `${stored}Z`);
}
