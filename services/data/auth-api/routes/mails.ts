import { randomBytes } from 'node:crypto';
import { createOkResponse, type AuthResponse, type AuthCall } from '../http/auth-call.ts';
import { createValidationError, AuthError } from '../http/auth-error.ts';
import { planEmailChange, planMail, pretendMail, type PlannedMail } from '../mail/requests.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { parseChallenge, parseEmail } from '../users/checks.ts';
import { signUp } from '../users/sign-up.ts';
import { getRedirectTarget } from '../site.ts';
import type { Sql } from '../store/database.ts';
import { lockUser, findUserByEmail, type StoredUser } from '../store/users.ts';
import type { Route } from './route.ts';
import { checkRateLimit } from './signup.ts';

/** Routes that send a mail to existing users and answer equally for unknown addresses. */
export const mailRoutes: readonly Route[] = [
  { method: 'POST', path: '/recover', answer: recover },
  { method: 'POST', path: '/resend', answer: resend },
  { method: 'POST', path: '/magiclink', answer: (deps, call) => magicLink(deps, call, true) },
  { method: 'POST', path: '/otp', answer: otp },
];

async function sendPlanned(
  deps: AuthDependencies,
  user: StoredUser,
  plan: (sql: Sql, user: StoredUser) => Promise<PlannedMail>,
): Promise<AuthResponse> {
  const mail = await deps.database.transaction(async (sql) => plan(sql, (await lockUser(sql, user.id)) ?? user));
  await mail.send();
  return createOkResponse({});
}

function answerWithoutAccount(
  deps: AuthDependencies,
  call: AuthCall,
  kind: 'confirmation' | 'recovery',
  email: string,
): AuthResponse {
  pretendMail(deps, call, kind, email);
  return createOkResponse({});
}

async function recover(deps: AuthDependencies, call: AuthCall): Promise<AuthResponse> {
  checkRateLimit(deps, call, 'otp');
  const body = await call.body();
  if (body.text('email') === '') throw createValidationError('Password recovery requires an email');
  const email = parseEmail(body.text('email'));
  const mail = { redirectTo: getRedirectTarget(deps, call), challenge: parseChallenge(body) };
  const user = await findUserByEmail(deps.database, email);
  if (user === undefined) return answerWithoutAccount(deps, call, 'recovery', email);
  return sendPlanned(deps, user, (sql, locked) => planMail(deps, sql, call, locked, 'recovery', mail));
}

async function resend(deps: AuthDependencies, call: AuthCall): Promise<AuthResponse> {
  checkRateLimit(deps, call, 'otp');
  const body = await call.body();
  const [type, phone] = [body.text('type'), body.text('phone')];
  if (!['signup', 'email_change', 'sms', 'phone_change'].includes(type)) {
    throw createValidationError('Missing one of these types: signup, email_change, sms, phone_change');
  }
  if (type === 'signup' && body.text('email') === '')
    throw createValidationError('Type provided requires an email address');
  if (type === 'sms' && phone === '') throw createValidationError('Type provided requires a phone number');
  if (phone !== '' && body.text('email') !== '') {
    throw createValidationError('Only an email address or phone number should be provided.');
  }
  if (phone !== '') throw new AuthError(400, 'phone_provider_disabled', 'Phone logins are disabled');
  if (body.text('email') === '') throw createValidationError('Missing email address or phone number');
  const email = parseEmail(body.text('email'));
  const mail = { redirectTo: getRedirectTarget(deps, call), challenge: parseChallenge(body) };
  const user = await findUserByEmail(deps.database, email);
  if (type === 'signup') {
    if (user === undefined || user.email_confirmed_at !== null)
      return answerWithoutAccount(deps, call, 'confirmation', email);
    return sendPlanned(deps, user, (sql, locked) => planMail(deps, sql, call, locked, 'signup', mail));
  }
  const to = user?.email_change ?? '';
  if (user === undefined || to === '' || type !== 'email_change')
    return answerWithoutAccount(deps, call, 'confirmation', email);
  return sendPlanned(deps, user, (sql, locked) => planEmailChange(deps, sql, call, locked, to, mail));
}

async function otp(deps: AuthDependencies, call: AuthCall): Promise<AuthResponse> {
  const body = await call.body();
  const [email, phone] = [body.text('email'), body.text('phone')];
  if (email !== '' && phone !== '')
    throw createValidationError('Only an email address or phone number should be provided');
  if (email !== '' && body.text('channel') !== '')
    throw createValidationError('Channel should only be specified with Phone OTP');
  if (phone !== '') throw new AuthError(400, 'phone_provider_disabled', 'Unsupported phone provider');
  if (email === '') throw createValidationError('One of email or phone must be set');
  return magicLink(deps, call, body.flag('create_user', true));
}

async function magicLink(deps: AuthDependencies, call: AuthCall, mayCreate: boolean): Promise<AuthResponse> {
  checkRateLimit(deps, call, 'otp');
  const body = await call.body();
  if (body.text('email') === '') throw createValidationError('Password recovery requires an email').withStatus(422);
  const email = parseEmail(body.text('email'));
  const mail = { redirectTo: getRedirectTarget(deps, call), challenge: parseChallenge(body) };
  let user = await findUserByEmail(deps.database, email);
  if (user === undefined && !mayCreate) throw new AuthError(422, 'otp_disabled', 'Signups not allowed for otp');
  if (user === undefined || user.email_confirmed_at === null) {
    if (!deps.settings.signUp && user === undefined) {
      throw new AuthError(422, 'signup_disabled', 'Signups not allowed for this instance');
    }
    if (user !== undefined) {
      // A sign-up would keep the password that was first used with this address.
      return sendPlanned(deps, user, (sql, locked) => planMail(deps, sql, call, locked, 'magiclink', mail));
    }
    // The password is random and unknown; the mail of the sign-up contains the link. Without confirmation the mail does
    // not mention it.
    const password = randomBytes(33).toString('base64url');
    const purpose = deps.settings.autoconfirm ? 'magiclink' : 'signup';
    const input = { email, password, data: body.object('data') ?? {}, mail, purpose } as const;
    const result = await signUp({ ...deps, settings: { ...deps.settings, autoconfirm: false } }, call, input);
    if ('user' in result) return createOkResponse({});
    user = await findUserByEmail(deps.database, email);
    if (user === undefined) return createOkResponse({});
  }
  return sendPlanned(deps, user, (sql, locked) => planMail(deps, sql, call, locked, 'magiclink', mail));
}
