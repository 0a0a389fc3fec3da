import type { AuthCall } from '../http/auth-call.ts';
import { AuthError } from '../http/auth-error.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { findPresentedToken, revokeFamily, rotateToken } from '../store/sessions.ts';
import { isBanned, toMillis } from './bearer.ts';
import { buildSessionView, type SessionView } from './issue.ts';

const createRefreshError = (slug: string, reason: string): AuthError =>
  new AuthError(400, slug, `Invalid Refresh Token: ${reason}`);

/**
 * Exchanges a refresh token for a session. A used token returns the active one when the response may have been lost or
 * several windows refreshed concurrently; otherwise it may be stolen, and the session ends.
 */
export async function refresh(deps: AuthDependencies, call: AuthCall, token: string): Promise<SessionView> {
  const { database, metrics } = deps;
  const { timing } = deps.protection;
  if (token.length !== 12) throw new AuthError(400, 'validation_failed', 'Refresh token is not valid');
  const outcome = await database.transaction(async (sql) => {
    const presented = await findPresentedToken(sql, token);
    if (presented === undefined)
      return { refusal: createRefreshError('refresh_token_not_found', 'Refresh Token Not Found'), result: 'unknown' };
    const { user, session, revoked, updatedAt, active } = presented;
    if (isBanned(user, call.now))
      return { refusal: createRefreshError('user_banned', 'User Banned'), result: 'unknown' };
    if (session.not_after !== null && toMillis(session.not_after) <= call.now) {
      return { refusal: createRefreshError('session_expired', 'Session Expired'), result: 'unknown' };
    }
    if (!revoked) {
      const next = await rotateToken(sql, session, token, call.now);
      return { session: await buildSessionView(deps, call, { user, session, token: next }), result: 'rotated' };
    }
    const isRecent = updatedAt + timing.reuseMs >= call.now && timing.reuseMs > 0;
    if (active !== null && (active.parent === token || isRecent)) {
      return {
        session: await buildSessionView(deps, call, { user, session, token: active.token }),
        result: 'repeated',
      };
    }
    // The transaction must commit, so the error is returned instead of thrown.
    await revokeFamily(sql, session, call.now);
    return { refusal: createRefreshError('refresh_token_already_used', 'Already Used'), result: 'reused' };
  });
  metrics.refreshes.inc({ result: outcome.result });
  if ('refusal' in outcome) throw outcome.refusal;
  return outcome.session;
}
