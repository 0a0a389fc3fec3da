import type { Call } from '../http/auth-call.ts';
import type { AuthParts } from '../dependencies.ts';
import type { Sql } from '../store/database.ts';
import { insertSession, type StoredSession } from '../store/sessions.ts';
import type { StoredUser } from '../store/users.ts';
import { recordSignIn } from './security-events.ts';
import { userView } from './view.ts';

/** Session in the response for a client. */
export interface SessionView {
  readonly access_token: string;
  readonly token_type: 'bearer';
  readonly expires_in: number;
  readonly expires_at: number;
  readonly refresh_token: string;
  readonly user: Readonly<Record<string, unknown>>;
}

/** Creates a session for a user who has just signed in. */
export async function beginSession(
  parts: AuthParts,
  sql: Sql,
  call: Call,
  user: StoredUser,
  method: string,
): Promise<SessionView> {
  const { now, userAgent, address } = call;
  const { session, token } = await insertSession(sql, { user, method, userAgent, ip: address, now });
  parts.metrics.sessions.inc({ method });
  recordSignIn(parts, call, { event: 'sign_in', user: user.email ?? user.id, method });
  const time = new Date(now).toISOString();
  return sessionView(parts, call, { user: { ...user, last_sign_in_at: time, updated_at: time }, session, token });
}

export function sessionView(
  { keys, settings }: Pick<AuthParts, 'keys' | 'settings'>,
  { base, now }: Pick<Call, 'base' | 'now'>,
  { user, session, token }: { readonly user: StoredUser; readonly session: StoredSession; readonly token: string },
): SessionView {
  const iat = Math.floor(now / 1000);
  const exp = iat + settings.jwtExpiry;
  const claims = {
    iss: base,
    sub: user.id,
    aud: user.aud ?? 'authenticated',
    exp,
    iat,
    email: user.email ?? '',
    phone: user.phone ?? '',
    app_metadata: user.raw_app_meta_data ?? {},
    user_metadata: user.raw_user_meta_data ?? {},
    role: user.role ?? 'authenticated',
    aal: session.aal ?? 'aal1',
    amr: session.amr,
    session_id: session.id,
    is_anonymous: user.is_anonymous,
  };
  return {
    access_token: keys.sign(claims),
    token_type: 'bearer',
    expires_in: settings.jwtExpiry,
    expires_at: exp,
    refresh_token: token,
    user: userView(user),
  };
}
