import type { Claims } from '../../keys/jwt.ts';
import { isUuid, type Call } from '../http/auth-call.ts';
import { Refusal } from '../http/auth-error.ts';
import type { AuthParts } from '../dependencies.ts';
import { userAndSession, type StoredSession } from '../store/sessions.ts';
import type { StoredUser } from '../store/users.ts';

const noAuthorization = (): Refusal =>
  new Refusal(401, 'no_authorization', 'This endpoint requires a valid Bearer token');
const badToken = (why: string): Refusal => new Refusal(403, 'bad_jwt', why);

/** Returns the algorithm that a token names, only for the error message. */
function namedAlgorithm(token: string): string | undefined {
  try {
    const head: unknown = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString());
    const alg = typeof head === 'object' && head !== null && 'alg' in head ? head.alg : undefined;
    return typeof alg === 'string' ? alg : undefined;
  } catch {
    return undefined;
  }
}

function claimsOf({ keys }: Pick<AuthParts, 'keys'>, call: Call): Claims {
  const token = call.bearer;
  if (token === undefined) throw noAuthorization();
  const verified = keys.verify(token);
  if ('claims' in verified) return verified.claims;
  const unable = 'invalid JWT: unable to parse or verify signature,';
  const { kind } = verified.refusal;
  if (kind === 'malformed') {
    throw badToken(`${unable} token is malformed: token contains an invalid number of segments`);
  }
  if (kind === 'expired') throw badToken(`${unable} token has invalid claims: token is expired`);
  if (kind === 'early') throw badToken(`${unable} token has invalid claims: token is not valid yet`);
  if (kind === 'issued-later') throw badToken(`${unable} token has invalid claims: token used before issued`);
  if (kind === 'claims') throw badToken(`${unable} token is malformed: could not JSON decode claim`);
  const alg = namedAlgorithm(token);
  if (alg === undefined) throw badToken(`${unable} token is malformed: could not JSON decode header`);
  if (alg === 'HS256') throw badToken(`${unable} token signature is invalid: signature is invalid`);
  throw badToken(`${unable} token signature is invalid: signing method ${alg.slice(0, 40)} is invalid`);
}

/**
 * Requires the service key.
 *
 * @throws AuthError
 */
export function requireAdmin(parts: Pick<AuthParts, 'keys'>, call: Call): void {
  const token = call.bearer;
  if (token !== undefined && !token.includes('.') && parts.keys.roleOf(token) === 'service_role') return;
  if (claimsOf(parts, call)['role'] !== 'service_role') throw new Refusal(403, 'not_admin', 'User not allowed');
}

/** Signed-in caller with a valid session. */
export interface Asking {
  readonly user: StoredUser;
  readonly session: StoredSession;
  readonly claims: Claims;
}

/**
 * Requires a signed-in user.
 *
 * @throws AuthError with the text of Supabase Auth
 */
export async function requireUser(parts: AuthParts, call: Call): Promise<Asking> {
  const claims = claimsOf(parts, call);
  const { sub, session_id: sessionId } = claims;
  if (typeof sub !== 'string' || sub === '') throw badToken('invalid claim: missing sub claim');
  if (!isUuid(sub)) throw badToken('invalid claim: sub claim must be a UUID').as(400);
  const named = typeof sessionId === 'string' && sessionId !== '';
  if (named && !isUuid(sessionId)) throw badToken('invalid claim: session_id claim must be a UUID');
  const found = await userAndSession(parts.database, sub, named ? sessionId : null);
  if (found === undefined) throw new Refusal(403, 'user_not_found', 'User from sub claim in JWT does not exist');
  const { user, session } = found;
  if (session === null) {
    throw new Refusal(403, 'session_not_found', 'Session from session_id claim in JWT does not exist');
  }
  if (isBanned(user, call.now)) throw new Refusal(403, 'user_banned', 'User is banned');
  return { user, session, claims };
}

export function isBanned({ banned_until: until }: StoredUser, now: number): boolean {
  return until !== null && millis(until) > now;
}

/** Converts a stored time to ms since the epoch. */
export function millis(stored: string): number {
  return Date.parse(stored.endsWith('Z') ? stored : `${stored}Z`);
}
