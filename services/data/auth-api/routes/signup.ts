import type { Metadata } from '../domain/metadata.ts';
import { createOkResponse, type AuthResponse, type AuthCall } from '../http/auth-call.ts';
import { createValidationError, AuthError, createRateLimitError } from '../http/auth-error.ts';
import { isLoopback } from '../mail/requests.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { parseChallenge, parseEmail, checkPassword } from '../users/checks.ts';
import { saveUser } from '../users/new-user.ts';
import { signUp } from '../users/sign-up.ts';
import { createSession } from '../session/issue.ts';
import { getRedirectTarget } from '../site.ts';
import type { Route } from './route.ts';

export const signupRoutes: readonly Route[] = [{ method: 'POST', path: '/signup', answer: postSignup }];

async function postSignup(deps: AuthDependencies, call: AuthCall): Promise<AuthResponse> {
  const body = await call.body();
  const [email, phone, password] = [body.text('email'), body.text('phone'), body.text('password')];
  const data = body.object('data') ?? {};
  if (email === '' && phone === '') return anonymous(deps, call, data);
  checkRateLimit(deps, call, 'signup');
  if (!deps.settings.signUp) throw new AuthError(422, 'signup_disabled', 'Signups not allowed for this instance');
  if (password === '') throw createValidationError('Signup requires a valid password');
  checkPassword(password);
  if (email !== '' && phone !== '') {
    throw createValidationError('Only an email address or phone number should be provided on signup.');
  }
  const challenge = parseChallenge(body);
  if (phone !== '') throw new AuthError(400, 'phone_provider_disabled', 'Phone signups are disabled');
  const mail = { redirectTo: getRedirectTarget(deps, call), challenge };
  const outcome = await signUp(deps, call, { email: parseEmail(email), password, data, mail });
  return createOkResponse('session' in outcome ? outcome.session : outcome.user);
}

async function anonymous(deps: AuthDependencies, call: AuthCall, data: Metadata): Promise<AuthResponse> {
  if (!deps.settings.anonymousSignIns) {
    throw new AuthError(422, 'anonymous_provider_disabled', 'Anonymous sign-ins are disabled');
  }
  if (!deps.settings.signUp) throw new AuthError(422, 'signup_disabled', 'Signups not allowed for this instance');
  checkRateLimit(deps, call, 'anonymous');
  const session = await deps.database.transaction(async (sql) => {
    const fields = { email: null, raw_app_meta_data: {}, raw_user_meta_data: data, is_anonymous: true };
    const user = await saveUser(sql, fields, { now: call.now });
    return createSession(deps, sql, call, user, 'anonymous');
  });
  return createOkResponse(session);
}

/** Enforces the rate limit of an address. Loopback clients, such as a web server that signs users in, have no limit. */
export function checkRateLimit(
  { protection: { limits } }: AuthDependencies,
  call: AuthCall,
  kind: Parameters<typeof limits.allows>[0],
): void {
  if (!isLoopback(call.address) && !limits.allows(kind, call, call.now)) throw createRateLimitError();
}
