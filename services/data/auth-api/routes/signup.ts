import type { Metadata } from '../domain/metadata.ts';
import { ok, type Answer, type Call } from '../http/auth-call.ts';
import { invalid, Refusal, tooMany } from '../http/auth-error.ts';
import { isLoopback } from '../mail/requests.ts';
import type { AuthParts } from '../dependencies.ts';
import { challengeOf, checkedEmail, checkPassword } from '../users/checks.ts';
import { saveUser } from '../users/new-user.ts';
import { signUp } from '../users/sign-up.ts';
import { beginSession } from '../session/issue.ts';
import { redirectOf } from '../site.ts';
import type { Route } from './route.ts';

export const signupRoutes: readonly Route[] = [['POST', '/signup', postSignup]];

async function postSignup(parts: AuthParts, call: Call): Promise<Answer> {
  const body = await call.body();
  const [email, phone, password] = [body.text('email'), body.text('phone'), body.text('password')];
  const data = body.object('data') ?? {};
  if (email === '' && phone === '') return anonymous(parts, call, data);
  limit(parts, call, 'signup');
  if (!parts.settings.signUp) throw new Refusal(422, 'signup_disabled', 'Signups not allowed for this instance');
  if (password === '') throw invalid('Signup requires a valid password');
  checkPassword(password);
  if (email !== '' && phone !== '') {
    throw invalid('Only an email address or phone number should be provided on signup.');
  }
  const challenge = challengeOf(body);
  if (phone !== '') throw new Refusal(400, 'phone_provider_disabled', 'Phone signups are disabled');
  const mail = { redirectTo: redirectOf(parts, call), challenge };
  const outcome = await signUp(parts, call, { email: checkedEmail(email), password, data, mail });
  return ok('session' in outcome ? outcome.session : outcome.user);
}

async function anonymous(parts: AuthParts, call: Call, data: Metadata): Promise<Answer> {
  if (!parts.settings.anonymousSignIns) {
    throw new Refusal(422, 'anonymous_provider_disabled', 'Anonymous sign-ins are disabled');
  }
  if (!parts.settings.signUp) throw new Refusal(422, 'signup_disabled', 'Signups not allowed for this instance');
  limit(parts, call, 'anonymous');
  const session = await parts.database.transaction(async (sql) => {
    const fields = { email: null, raw_app_meta_data: {}, raw_user_meta_data: data, is_anonymous: true };
    const user = await saveUser(sql, fields, { now: call.now });
    return beginSession(parts, sql, call, user, 'anonymous');
  });
  return ok(session);
}

/** Enforces the rate limit of an address. Loopback clients, such as a web server that signs users in, have no limit. */
export function limit({ limits }: AuthParts, call: Call, what: Parameters<typeof limits.allows>[0]): void {
  if (!isLoopback(call.address) && !limits.allows(what, call, call.now)) throw tooMany();
}
