import { mergeMetadata } from '../domain/metadata.ts';
import { createOkResponse, type AuthResponse, type AuthCall } from '../http/auth-call.ts';
import { createEmailTakenError, createValidationError, AuthError } from '../http/auth-error.ts';
import { planEmailChange, planReauthentication, type PlannedMail } from '../mail/requests.ts';
import { isSameSecret } from '../../../kit/same-secret.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { parseChallenge, parseEmail, checkPassword } from '../users/checks.ts';
import { finishEmailChange } from '../users/email-change.ts';
import { toMillis, requireUser, type SignedInCaller } from '../session/bearer.ts';
import { toUserView } from '../session/view.ts';
import { getRedirectTarget } from '../site.ts';
import { deleteSessions } from '../store/sessions.ts';
import { changeUser, lockUser, noTokens, findUserByEmail, type StoredUser, type UserChange } from '../store/users.ts';
import type { Route } from './route.ts';

export const userRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/user',
    answer: async (deps, call) => createOkResponse(toUserView((await requireUser(deps, call)).user)),
  },
  { method: 'PUT', path: '/user', answer: putUser },
  { method: 'POST', path: '/logout', answer: postLogout },
  { method: 'GET', path: '/reauthenticate', answer: reauthenticate },
  { method: 'GET', path: '/user/identities/authorize', answer: linking },
  { method: 'DELETE', path: '/user/identities/:identity', answer: linking },
];

async function putUser(deps: AuthDependencies, call: AuthCall): Promise<AuthResponse> {
  const caller = await requireUser(deps, call);
  const body = await call.body();
  const email = body.text('email') === '' ? undefined : parseEmail(body.text('email'));
  const password = body.has('password') && body.text('password') !== '' ? body.text('password') : undefined;
  const data = body.object('data');
  if (body.has('password')) checkPassword(body.text('password'));
  if (body.object('app_metadata') !== undefined) {
    throw new AuthError(403, 'not_admin', 'Updating app_metadata requires admin privileges');
  }
  if (body.text('phone') !== '') throw new AuthError(400, 'phone_provider_disabled', 'Phone changes are disabled');
  const { user, session } = caller;
  const isNewEmail = email !== undefined && email !== user.email;
  const hasFactor = user.factors.some(({ status }) => status === 'verified');
  if (hasFactor && session.aal !== 'aal2' && (password !== undefined || isNewEmail)) {
    throw new AuthError(
      401,
      'insufficient_aal',
      'AAL2 session is required to update email or password when MFA is enabled.',
    );
  }
  if (user.is_anonymous && password !== undefined && email === undefined) {
    throw createValidationError(
      'Updating password of an anonymous user without an email or phone is not allowed',
    ).withStatus(422);
  }
  if (isNewEmail && (await findUserByEmail(deps.database, email)) !== undefined) throw createEmailTakenError();
  const passwordChange =
    password === undefined
      ? undefined
      : await preparePasswordChange(deps, call, caller, password, {
          nonce: body.text('nonce'),
          current: body.text('current_password'),
        });
  const mail = { redirectTo: getRedirectTarget(deps, call), challenge: parseChallenge(body) };
  const outcome = await deps.database.transaction(async (sql): Promise<StoredUser | PlannedMail> => {
    let current = (await lockUser(sql, user.id)) ?? user;
    const metadata =
      data === undefined ? {} : { raw_user_meta_data: mergeMetadata(current.raw_user_meta_data ?? {}, data) };
    if (passwordChange !== undefined || data !== undefined) {
      current = await changeUser(sql, user.id, { ...passwordChange, ...metadata }, call.now);
    }
    // Sessions that used the old password end.
    if (passwordChange !== undefined) await deleteSessions(sql, user.id, { except: session.id });
    if (!isNewEmail) return current;
    if (!user.is_anonymous || !deps.settings.autoconfirm) return planEmailChange(deps, sql, call, current, email, mail);
    await changeUser(sql, user.id, { email_change: email }, call.now);
    return finishEmailChange(sql, { ...current, email_change: email }, call.now);
  });
  if (!('send' in outcome)) return createOkResponse(toUserView(outcome));
  await outcome.send();
  return createOkResponse(toUserView(outcome.user));
}

/** Returns the changes for a new password, which invalidates earlier links. */
async function preparePasswordChange(
  { keys, passwords, protection: { timing } }: AuthDependencies,
  call: AuthCall,
  { user }: SignedInCaller,
  password: string,
  { nonce, current }: { readonly nonce: string; readonly current: string },
): Promise<UserChange> {
  if (nonce !== '') {
    const sentAt = user.reauthentication_sent_at;
    const isFresh = sentAt !== null && toMillis(sentAt) + timing.codeLifetimeMs > call.now;
    const token = user.reauthentication_token ?? '';
    if (!isFresh || token === '' || !isSameSecret(keys.hashCode(user.email ?? '', nonce), token)) {
      throw new AuthError(422, 'reauthentication_not_valid', 'Nonce has expired or is invalid');
    }
  }
  const stored = user.encrypted_password;
  if (stored !== null && current !== '' && !(await passwords.verify(current, stored))) {
    throw new AuthError(400, 'current_password_mismatch', 'Current password required when setting new password.');
  }
  if (stored !== null && (await passwords.verify(password, stored))) {
    throw new AuthError(422, 'same_password', 'New password should be different from the old password.');
  }
  return { encrypted_password: await passwords.hash(password), ...noTokens };
}

async function postLogout(deps: AuthDependencies, call: AuthCall): Promise<AuthResponse> {
  const { user, session } = await requireUser(deps, call);
  const scope = call.query.get('scope') ?? '';
  const filter = { '': {}, global: {}, local: { only: session.id }, others: { except: session.id } }[scope];
  if (filter === undefined) throw createValidationError(`Unsupported logout scope ${JSON.stringify(scope)}`);
  await deleteSessions(deps.database, user.id, filter);
  return { status: 204 };
}

async function reauthenticate(deps: AuthDependencies, call: AuthCall): Promise<AuthResponse> {
  const { user } = await requireUser(deps, call);
  if (user.email === null || user.email === '') {
    throw createValidationError('Reauthentication requires the user to have an email or a phone number');
  }
  if (user.email_confirmed_at === null) {
    throw new AuthError(422, 'email_not_confirmed', 'Please verify your email first.');
  }
  const mail = await deps.database.transaction(async (sql) => {
    const locked = (await lockUser(sql, user.id)) ?? user;
    return planReauthentication(deps, sql, call, locked);
  });
  await mail.send();
  return createOkResponse({});
}

async function linking(deps: AuthDependencies, call: AuthCall): Promise<AuthResponse> {
  await requireUser(deps, call);
  throw new AuthError(404, 'manual_linking_disabled', 'Manual linking is disabled');
}
