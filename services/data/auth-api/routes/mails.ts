import { randomBytes } from 'node:crypto';
import { ok, type Answer, type Call } from '../http/auth-call.ts';
import { invalid, Refusal } from '../http/auth-error.ts';
import { planEmailChange, planMail, pretendMail, type PlannedMail } from '../mail/requests.ts';
import type { AuthParts } from '../dependencies.ts';
import { challengeOf, checkedEmail } from '../users/checks.ts';
import { signUp } from '../users/sign-up.ts';
import { redirectOf } from '../site.ts';
import type { Sql } from '../store/database.ts';
import { lockedUser, userByEmail, type StoredUser } from '../store/users.ts';
import type { Route } from './route.ts';
import { limit } from './signup.ts';

/** Routes that send a mail to existing users and answer equally for unknown addresses. */
export const mailRoutes: readonly Route[] = [
  ['POST', '/recover', recover],
  ['POST', '/resend', resend],
  ['POST', '/magiclink', (parts, call) => magicLink(parts, call, true)],
  ['POST', '/otp', otp],
];

async function planned(
  parts: AuthParts,
  user: StoredUser,
  plan: (sql: Sql, user: StoredUser) => Promise<PlannedMail>,
): Promise<Answer> {
  const mail = await parts.database.transaction(async (sql) => plan(sql, (await lockedUser(sql, user.id)) ?? user));
  await mail.send();
  return ok({});
}

function noAccount(parts: AuthParts, call: Call, what: 'confirmation' | 'recovery', email: string): Answer {
  pretendMail(parts, call, what, email);
  return ok({});
}

async function recover(parts: AuthParts, call: Call): Promise<Answer> {
  limit(parts, call, 'otp');
  const body = await call.body();
  if (body.text('email') === '') throw invalid('Password recovery requires an email');
  const email = checkedEmail(body.text('email'));
  const mail = { redirectTo: redirectOf(parts, call), challenge: challengeOf(body) };
  const user = await userByEmail(parts.database, email);
  if (user === undefined) return noAccount(parts, call, 'recovery', email);
  return planned(parts, user, (sql, locked) => planMail(parts, sql, call, locked, 'recovery', mail));
}

async function resend(parts: AuthParts, call: Call): Promise<Answer> {
  limit(parts, call, 'otp');
  const body = await call.body();
  const [type, phone] = [body.text('type'), body.text('phone')];
  if (!['signup', 'email_change', 'sms', 'phone_change'].includes(type)) {
    throw invalid('Missing one of these types: signup, email_change, sms, phone_change');
  }
  if (type === 'signup' && body.text('email') === '') throw invalid('Type provided requires an email address');
  if (type === 'sms' && phone === '') throw invalid('Type provided requires a phone number');
  if (phone !== '' && body.text('email') !== '') {
    throw invalid('Only an email address or phone number should be provided.');
  }
  if (phone !== '') throw new Refusal(400, 'phone_provider_disabled', 'Phone logins are disabled');
  if (body.text('email') === '') throw invalid('Missing email address or phone number');
  const email = checkedEmail(body.text('email'));
  const mail = { redirectTo: redirectOf(parts, call), challenge: challengeOf(body) };
  const user = await userByEmail(parts.database, email);
  if (type === 'signup') {
    if (user === undefined || user.email_confirmed_at !== null) return noAccount(parts, call, 'confirmation', email);
    return planned(parts, user, (sql, locked) => planMail(parts, sql, call, locked, 'signup', mail));
  }
  const to = user?.email_change ?? '';
  if (user === undefined || to === '' || type !== 'email_change') return noAccount(parts, call, 'confirmation', email);
  return planned(parts, user, (sql, locked) => planEmailChange(parts, sql, call, locked, to, mail));
}

async function otp(parts: AuthParts, call: Call): Promise<Answer> {
  const body = await call.body();
  const [email, phone] = [body.text('email'), body.text('phone')];
  if (email !== '' && phone !== '') throw invalid('Only an email address or phone number should be provided');
  if (email !== '' && body.text('channel') !== '') throw invalid('Channel should only be specified with Phone OTP');
  if (phone !== '') throw new Refusal(400, 'phone_provider_disabled', 'Unsupported phone provider');
  if (email === '') throw invalid('One of email or phone must be set');
  return magicLink(parts, call, body.flag('create_user', true));
}

async function magicLink(parts: AuthParts, call: Call, mayCreate: boolean): Promise<Answer> {
  limit(parts, call, 'otp');
  const body = await call.body();
  if (body.text('email') === '') throw invalid('Password recovery requires an email').as(422);
  const email = checkedEmail(body.text('email'));
  const mail = { redirectTo: redirectOf(parts, call), challenge: challengeOf(body) };
  let user = await userByEmail(parts.database, email);
  if (user === undefined && !mayCreate) throw new Refusal(422, 'otp_disabled', 'Signups not allowed for otp');
  if (user === undefined || user.email_confirmed_at === null) {
    if (!parts.settings.signUp && user === undefined) {
      throw new Refusal(422, 'signup_disabled', 'Signups not allowed for this instance');
    }
    if (user !== undefined) {
      // A sign-up would keep the password that was first used with this address.
      return planned(parts, user, (sql, locked) => planMail(parts, sql, call, locked, 'magiclink', mail));
    }
    // The password is random and unknown; the mail of the sign-up contains the link. Without confirmation the mail does
    // not mention it.
    const password = randomBytes(33).toString('base64url');
    const purpose = parts.settings.autoconfirm ? 'magiclink' : 'signup';
    const wish = { email, password, data: body.object('data') ?? {}, mail, purpose } as const;
    const made = await signUp({ ...parts, settings: { ...parts.settings, autoconfirm: false } }, call, wish);
    if ('user' in made) return ok({});
    user = await userByEmail(parts.database, email);
    if (user === undefined) return ok({});
  }
  return planned(parts, user, (sql, locked) => planMail(parts, sql, call, locked, 'magiclink', mail));
}
