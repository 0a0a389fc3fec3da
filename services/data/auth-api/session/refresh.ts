import type { Call } from '../http/auth-call.ts';
import { Refusal } from '../http/auth-error.ts';
import type { AuthParts } from '../dependencies.ts';
import { presentedToken, revokeFamily, rotate } from '../store/sessions.ts';
import { isBanned, millis } from './bearer.ts';
import { sessionView, type SessionView } from './issue.ts';

const refused = (slug: string, why: string): Refusal => new Refusal(400, slug, `Invalid Refresh Token: ${why}`);

/**
 * Exchanges a refresh token for a session. A used token returns the active one when the response may have been lost or
 * several windows refreshed at once; otherwise it may be stolen, and the session ends.
 */
export async function refresh(parts: AuthParts, call: Call, token: string): Promise<SessionView> {
  const { database, metrics, timing } = parts;
  if (token.length !== 12) throw new Refusal(400, 'validation_failed', 'Refresh token is not valid');
  const outcome = await database.transaction(async (sql) => {
    const found = await presentedToken(sql, token);
    if (found === undefined)
      return { refusal: refused('refresh_token_not_found', 'Refresh Token Not Found'), result: 'unknown' };
    const { user, session, revoked, updatedAt, active } = found;
    if (isBanned(user, call.now)) return { refusal: refused('user_banned', 'User Banned'), result: 'unknown' };
    if (session.not_after !== null && millis(session.not_after) <= call.now) {
      return { refusal: refused('session_expired', 'Session Expired'), result: 'unknown' };
    }
    if (!revoked) {
      const next = await rotate(sql, session, token, call.now);
      return { session: sessionView(parts, call, { user, session, token: next }), result: 'rotated' };
    }
    const isRecent = updatedAt + timing.reuseMs >= call.now && timing.reuseMs > 0;
    if (active !== null && (active.parent === token || isRecent)) {
      return { session: sessionView(parts, call, { user, session, token: active.token }), result: 'repeated' };
    }
    // The transaction must commit, so the error is returned instead of thrown.
    await revokeFamily(sql, session, call.now);
    return { refusal: refused('refresh_token_already_used', 'Already Used'), result: 'reused' };
  });
  metrics.refreshes.inc({ result: outcome.result });
  if ('refusal' in outcome) throw outcome.refusal;
  return outcome.session;
}
