import { randomUUID } from 'node:crypto';
import { merged } from '../domain/metadata.ts';
import { ok, type Answer, type Call } from '../http/auth-call.ts';
import { emailTaken, invalid, Refusal } from '../http/auth-error.ts';
import { linkOf, planMail } from '../mail/requests.ts';
import { sixDigits } from '../one-time-tokens.ts';
import type { AuthParts } from '../dependencies.ts';
import { checkedEmail, checkPassword } from '../users/checks.ts';
import { emailProvider, saveUser } from '../users/new-user.ts';
import { requireAdmin } from '../session/bearer.ts';
import { userView } from '../session/view.ts';
import { redirectOf } from '../site.ts';
import type { Sql } from '../store/database.ts';
import { changeUser, userByEmail, type StoredUser, type UserChange } from '../store/users.ts';
import type { Route } from './route.ts';

/** Routes that create links for users with the service key. */
export const linkRoutes: readonly Route[] = [
  ['POST', '/admin/generate_link', generateLink],
  ['POST', '/invite', invite],
];

async function invite(parts: AuthParts, call: Call): Promise<Answer> {
  requireAdmin(parts, call);
  const body = await call.body();
  const email = checkedEmail(body.text('email'));
  const data = body.object('data') ?? {};
  const known = await userByEmail(parts.database, email);
  if (known !== undefined && known.email_confirmed_at !== null) throw emailTaken();
  const mail = await parts.database.transaction(async (sql) => {
    const user = known ?? (await newcomer(sql, call, { email, raw_user_meta_data: data }));
    return planMail(parts, sql, call, user, 'invite', { redirectTo: redirectOf(parts, call), challenge: undefined });
  });
  await mail.send();
  return ok(userView(mail.user));
}

function newcomer(sql: Sql, { now }: Call, change: UserChange & { readonly email: string }): Promise<StoredUser> {
  const fields = { raw_app_meta_data: emailProvider, ...change };
  return saveUser(sql, fields, { id: randomUUID(), identity: { email: change.email }, now });
}

async function generateLink(parts: AuthParts, call: Call): Promise<Answer> {
  requireAdmin(parts, call);
  const body = await call.body();
  const email = checkedEmail(body.text('email'));
  const redirectTo = redirectOf(parts, call, body.text('redirect_to'));
  const data = body.object('data') ?? {};
  const known = await userByEmail(parts.database, email);
  let type = body.text('type');
  // A magic link for an unknown address signs up a new user.
  if (type === 'magiclink' && known === undefined) type = 'signup';
  const password = body.text('password');
  const needsPassword = type === 'signup' && known === undefined && body.text('type') === 'signup';
  if (needsPassword && password === '') throw invalid('Signup requires a valid password');
  if (needsPassword) checkPassword(password);
  const encrypted = needsPassword ? { encrypted_password: await parts.passwords.hash(password) } : {};
  const code = sixDigits();
  const made = await parts.database.transaction(async (sql) => {
    if (type === 'signup' || type === 'invite') {
      if (known !== undefined && known.email_confirmed_at !== null) throw emailTaken();
      const user = known ?? (await newcomer(sql, call, { email, ...encrypted, raw_user_meta_data: data }));
      const hash = parts.keys.codeHash(email, code);
      const invited = type === 'invite' ? { invited_at: call.now } : {};
      const metadata = { raw_user_meta_data: merged(user.raw_user_meta_data ?? {}, data) };
      const change = { confirmation_token: hash, confirmation_sent_at: call.now, ...invited, ...metadata };
      return { user: await changeUser(sql, user.id, change, call.now), hash };
    }
    if (known === undefined) throw new Refusal(404, 'user_not_found', 'User with this email not found');
    return { ...(await existing(parts, sql, call, known, { type, code, newEmail: body.text('new_email') })) };
  });
  return ok({
    ...userView(made.user),
    action_link: linkOf(call.base, made.hash, type.startsWith('email_change') ? 'email_change' : type, redirectTo),
    email_otp: code,
    hashed_token: made.hash,
    verification_type: type,
    redirect_to: redirectTo,
  });
}

async function existing(
  { keys }: AuthParts,
  sql: Sql,
  { now }: Call,
  user: StoredUser,
  { type, code, newEmail }: { readonly type: string; readonly code: string; readonly newEmail: string },
): Promise<{ readonly user: StoredUser; readonly hash: string }> {
  if (type === 'magiclink' || type === 'recovery') {
    const hash = keys.codeHash(user.email ?? '', code);
    return { user: await changeUser(sql, user.id, { recovery_token: hash, recovery_sent_at: now }, now), hash };
  }
  if (type !== 'email_change_current' && type !== 'email_change_new') {
    throw invalid(`Invalid email action link type requested: ${type}`);
  }
  const to = checkedEmail(newEmail);
  if ((await userByEmail(sql, to)) !== undefined) throw emailTaken();
  const hash = keys.codeHash(type === 'email_change_new' ? to : (user.email ?? ''), code);
  const column = type === 'email_change_new' ? 'email_change_token_new' : 'email_change_token_current';
  const change = { [column]: hash, email_change: to, email_change_sent_at: now, email_change_confirm_status: 0 };
  return { user: await changeUser(sql, user.id, change, now), hash };
}
