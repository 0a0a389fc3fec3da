import { merged } from '../domain/metadata.ts';
import { ok, type Answer, type Call } from '../http/auth-call.ts';
import { emailTaken, invalid, Refusal } from '../http/auth-error.ts';
import { planEmailChange, planReauthentication, type PlannedMail } from '../mail/requests.ts';
import { isSameSecret } from '../../../kit/same-secret.ts';
import type { AuthParts } from '../dependencies.ts';
import { challengeOf, checkedEmail, checkPassword } from '../users/checks.ts';
import { finishEmailChange } from '../users/email-change.ts';
import { millis, requireUser, type Asking } from '../session/bearer.ts';
import { userView } from '../session/view.ts';
import { redirectOf } from '../site.ts';
import { deleteSessions } from '../store/sessions.ts';
import { changeUser, lockedUser, noTokens, userByEmail, type StoredUser, type UserChange } from '../store/users.ts';
import type { Route } from './route.ts';

export const userRoutes: readonly Route[] = [
  ['GET', '/user', async (parts, call) => ok(userView((await requireUser(parts, call)).user))],
  ['PUT', '/user', putUser],
  ['POST', '/logout', postLogout],
  ['GET', '/reauthenticate', reauthenticate],
  ['GET', '/user/identities/authorize', linking],
  ['DELETE', '/user/identities/*', linking],
];

async function putUser(parts: AuthParts, call: Call): Promise<Answer> {
  const asking = await requireUser(parts, call);
  const body = await call.body();
  const email = body.text('email') === '' ? undefined : checkedEmail(body.text('email'));
  const password = body.has('password') && body.text('password') !== '' ? body.text('password') : undefined;
  const data = body.object('data');
  if (body.has('password')) checkPassword(body.text('password'));
  if (body.object('app_metadata') !== undefined) {
    throw new Refusal(403, 'not_admin', 'Updating app_metadata requires admin privileges');
  }
  if (body.text('phone') !== '') throw new Refusal(400, 'phone_provider_disabled', 'Phone changes are disabled');
  const { user, session } = asking;
  const isNewEmail = email !== undefined && email !== user.email;
  const hasFactor = user.factors.some(({ status }) => status === 'verified');
  if (hasFactor && session.aal !== 'aal2' && (password !== undefined || isNewEmail)) {
    throw new Refusal(
      401,
      'insufficient_aal',
      'AAL2 session is required to update email or password when MFA is enabled.',
    );
  }
  if (user.is_anonymous && password !== undefined && email === undefined) {
    throw invalid('Updating password of an anonymous user without an email or phone is not allowed').as(422);
  }
  if (isNewEmail && (await userByEmail(parts.database, email)) !== undefined) throw emailTaken();
  const passwordChange =
    password === undefined
      ? undefined
      : await changeOfPassword(parts, call, asking, password, {
          nonce: body.text('nonce'),
          current: body.text('current_password'),
        });
  const mail = { redirectTo: redirectOf(parts, call), challenge: challengeOf(body) };
  const outcome = await parts.database.transaction(async (sql): Promise<StoredUser | PlannedMail> => {
    let now = (await lockedUser(sql, user.id)) ?? user;
    const metadata = data === undefined ? {} : { raw_user_meta_data: merged(now.raw_user_meta_data ?? {}, data) };
    if (passwordChange !== undefined || data !== undefined) {
      now = await changeUser(sql, user.id, { ...passwordChange, ...metadata }, call.now);
    }
    // Sessions that used the old password end.
    if (passwordChange !== undefined) await deleteSessions(sql, user.id, { except: session.id });
    if (!isNewEmail) return now;
    if (!user.is_anonymous || !parts.settings.autoconfirm) return planEmailChange(parts, sql, call, now, email, mail);
    await changeUser(sql, user.id, { email_change: email }, call.now);
    return finishEmailChange(sql, { ...now, email_change: email }, call.now);
  });
  if (!('send' in outcome)) return ok(userView(outcome));
  await outcome.send();
  return ok(userView(outcome.user));
}

/** Returns the changes for a new password, which invalidates earlier links. */
async function changeOfPassword(
  { keys, passwords, timing }: AuthParts,
  call: Call,
  { user }: Asking,
  password: string,
  { nonce, current }: { readonly nonce: string; readonly current: string },
): Promise<UserChange> {
  if (nonce !== '') {
    const sentAt = user.reauthentication_sent_at;
    const fresh = sentAt !== null && millis(sentAt) + timing.codeMs > call.now;
    const token = user.reauthentication_token ?? '';
    if (!fresh || token === '' || !isSameSecret(keys.codeHash(user.email ?? '', nonce), token)) {
      throw new Refusal(422, 'reauthentication_not_valid', 'Nonce has expired or is invalid');
    }
  }
  const stored = user.encrypted_password;
  if (stored !== null && current !== '' && !(await passwords.verify(current, stored))) {
    throw new Refusal(400, 'current_password_mismatch', 'Current password required when setting new password.');
  }
  if (stored !== null && (await passwords.verify(password, stored))) {
    throw new Refusal(422, 'same_password', 'New password should be different from the old password.');
  }
  return { encrypted_password: await passwords.hash(password), ...noTokens };
}

async function postLogout(parts: AuthParts, call: Call): Promise<Answer> {
  const { user, session } = await requireUser(parts, call);
  const scope = call.query.get('scope') ?? '';
  const which = { '': {}, global: {}, local: { only: session.id }, others: { except: session.id } }[scope];
  if (which === undefined) throw invalid(`Unsupported logout scope ${JSON.stringify(scope)}`);
  await deleteSessions(parts.database, user.id, which);
  return { status: 204 };
}

async function reauthenticate(parts: AuthParts, call: Call): Promise<Answer> {
  const { user } = await requireUser(parts, call);
  if (user.email === null || user.email === '') {
    throw invalid('Reauthentication requires the user to have an email or a phone number');
  }
  if (user.email_confirmed_at === null) {
    throw new Refusal(422, 'email_not_confirmed', 'Please verify your email first.');
  }
  const mail = await parts.database.transaction(async (sql) => {
    const locked = (await lockedUser(sql, user.id)) ?? user;
    return planReauthentication(parts, sql, call, locked);
  });
  await mail.send();
  return ok({});
}

async function linking(parts: AuthParts, call: Call): Promise<Answer> {
  await requireUser(parts, call);
  throw new Refusal(404, 'manual_linking_disabled', 'Manual linking is disabled');
}
