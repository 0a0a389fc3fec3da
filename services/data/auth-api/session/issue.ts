import type { AuthCall } from '../http/auth-call.ts';
import type { AuthDependencies } from '../dependencies.ts';
import type { Sql } from '../store/database.ts';
import { insertSession, type StoredSession } from '../store/sessions.ts';
import type { StoredUser } from '../store/users.ts';
import { recordSignIn } from './security-events.ts';
import { toUserView } from './view.ts';

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
export async function createSession(
  deps: AuthDependencies,
  sql: Sql,
  call: AuthCall,
  user: StoredUser,
  method: string,
): Promise<SessionView> {
  const { now, userAgent, address } = call;
  const { session, token } = await insertSession(sql, { user, method, userAgent, ip: address, now });
  deps.metrics.sessions.inc({ method });
  recordSignIn(deps, call, { event: 'sign_in', user: user.email ?? user.id, method });
  const time = new Date(now).toISOString();
  return await buildSessionView(deps, call, {
    user: { ...user, last_sign_in_at: time, updated_at: time },
    session,
    token,
  });
}

export async function buildSessionView(
  { keys, settings }: Pick<AuthDependencies, 'keys' | 'settings'>,
  { base, now }: Pick<AuthCall, 'base' | 'now'>,
  { user, session, token }: { readonly user: StoredUser; readonly session: StoredSession; readonly token: string },
): Promise<SessionView> {
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
    access_token: await keys.sign(claims),
    token_type: 'bearer',
    expires_in: settings.jwtExpiry,
    expires_at: exp,
    refresh_token: token,
    user: toUserView(user),
  };
}
