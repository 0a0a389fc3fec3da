import { randomUUID } from 'node:crypto';
import { mergeMetadata } from '../domain/metadata.ts';
import { createOkResponse, type AuthResponse, type AuthCall } from '../http/auth-call.ts';
import { createEmailTakenError, createValidationError, AuthError } from '../http/auth-error.ts';
import { buildLink, planMail } from '../mail/requests.ts';
import { createCode } from '../one-time-tokens.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { parseEmail, checkPassword } from '../users/checks.ts';
import { emailProvider, saveUser } from '../users/new-user.ts';
import { requireAdmin } from '../session/bearer.ts';
import { toUserView } from '../session/view.ts';
import { getRedirectTarget } from '../site.ts';
import type { Sql } from '../store/database.ts';
import { changeUser, findUserByEmail, type StoredUser, type UserChange } from '../store/users.ts';
import type { Route } from './route.ts';

/** Routes that create links for users with the service key. */
export const linkRoutes: readonly Route[] = [
  { method: 'POST', path: '/admin/generate_link', answer: generateLink },
  { method: 'POST', path: '/invite', answer: invite },
];

async function invite(deps: AuthDependencies, call: AuthCall): Promise<AuthResponse> {
  await requireAdmin(deps, call);
  const body = await call.body();
  const email = parseEmail(body.text('email'));
  const data = body.object('data') ?? {};
  const existing = await findUserByEmail(deps.database, email);
  if (existing !== undefined && existing.email_confirmed_at !== null) throw createEmailTakenError();
  const mail = await deps.database.transaction(async (sql) => {
    const user = existing ?? (await createUser(sql, call, { email, raw_user_meta_data: data }));
    return planMail(deps, sql, call, user, 'invite', {
      redirectTo: getRedirectTarget(deps, call),
      challenge: undefined,
    });
  });
  await mail.send();
  return createOkResponse(toUserView(mail.user));
}

function createUser(sql: Sql, { now }: AuthCall, change: UserChange & { readonly email: string }): Promise<StoredUser> {
  const fields = { raw_app_meta_data: emailProvider, ...change };
  return saveUser(sql, fields, { id: randomUUID(), identity: { email: change.email }, now });
}

async function generateLink(deps: AuthDependencies, call: AuthCall): Promise<AuthResponse> {
  await requireAdmin(deps, call);
  const body = await call.body();
  const email = parseEmail(body.text('email'));
  const redirectTo = getRedirectTarget(deps, call, body.text('redirect_to'));
  const data = body.object('data') ?? {};
  const existing = await findUserByEmail(deps.database, email);
  let type = body.text('type');
  // A magic link for an unknown address signs up a new user.
  if (type === 'magiclink' && existing === undefined) type = 'signup';
  const password = body.text('password');
  const needsPassword = type === 'signup' && existing === undefined && body.text('type') === 'signup';
  if (needsPassword && password === '') throw createValidationError('Signup requires a valid password');
  if (needsPassword) checkPassword(password);
  const encrypted = needsPassword ? { encrypted_password: await deps.passwords.hash(password) } : {};
  const code = createCode();
  const result = await deps.database.transaction(async (sql) => {
    if (type === 'signup' || type === 'invite') {
      if (existing !== undefined && existing.email_confirmed_at !== null) throw createEmailTakenError();
      const user = existing ?? (await createUser(sql, call, { email, ...encrypted, raw_user_meta_data: data }));
      const hash = deps.keys.hashCode(email, code);
      const invited = type === 'invite' ? { invited_at: call.now } : {};
      const metadata = { raw_user_meta_data: mergeMetadata(user.raw_user_meta_data ?? {}, data) };
      const change = { confirmation_token: hash, confirmation_sent_at: call.now, ...invited, ...metadata };
      return { user: await changeUser(sql, user.id, change, call.now), hash };
    }
    if (existing === undefined) throw new AuthError(404, 'user_not_found', 'User with this email not found');
    return { ...(await prepareLink(deps, sql, call, existing, { type, code, newEmail: body.text('new_email') })) };
  });
  return createOkResponse({
    ...toUserView(result.user),
    action_link: buildLink(call.base, result.hash, type.startsWith('email_change') ? 'email_change' : type, redirectTo),
    email_otp: code,
    hashed_token: result.hash,
    verification_type: type,
    redirect_to: redirectTo,
  });
}

async function prepareLink(
  { keys }: AuthDependencies,
  sql: Sql,
  { now }: AuthCall,
  user: StoredUser,
  { type, code, newEmail }: { readonly type: string; readonly code: string; readonly newEmail: string },
): Promise<{ readonly user: StoredUser; readonly hash: string }> {
  if (type === 'magiclink' || type === 'recovery') {
    const hash = keys.hashCode(user.email ?? '', code);
    return { user: await changeUser(sql, user.id, { recovery_token: hash, recovery_sent_at: now }, now), hash };
  }
  if (type !== 'email_change_current' && type !== 'email_change_new') {
    throw createValidationError(`Invalid email action link type requested: ${type}`);
  }
  const to = parseEmail(newEmail);
  if ((await findUserByEmail(sql, to)) !== undefined) throw createEmailTakenError();
  const hash = keys.hashCode(type === 'email_change_new' ? to : (user.email ?? ''), code);
  const column = type === 'email_change_new' ? 'email_change_token_new' : 'email_change_token_current';
  const change = { [column]: hash, email_change: to, email_change_sent_at: now, email_change_confirm_status: 0 };
  return { user: await changeUser(sql, user.id, change, now), hash };
}
