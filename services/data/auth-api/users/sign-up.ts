import { randomUUID } from 'node:crypto';
import type { Metadata } from '../domain/metadata.ts';
import type { AuthCall } from '../http/auth-call.ts';
import { AuthError } from '../http/auth-error.ts';
import { planMail, pretendMail, type MailRequest, type PlannedMail } from '../mail/requests.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { createSession, type SessionView } from '../session/issue.ts';
import { toUserView } from '../session/view.ts';
import {
  changeUser,
  insertIdentity,
  lockUser,
  findUserByEmail,
  findUserById,
  type StoredUser,
} from '../store/users.ts';
import { confirmEmail, emailProvider, isTaken, isUnprovenSignUp, saveUser } from './new-user.ts';

export interface SignUpInput {
  readonly email: string;
  readonly password: string;
  readonly data: Metadata;
  readonly mail: MailRequest;
  /** Purpose of the mail, when one is sent. */
  readonly purpose?: 'signup' | 'magiclink';
}

/** Session when addresses need no confirmation, otherwise the user. */
export type SignUpResult = { readonly session: SessionView } | { readonly user: Readonly<Record<string, unknown>> };

/** Signs up a user with a password. When addresses are confirmed, the response does not reveal which ones are taken. */
export async function signUp(deps: AuthDependencies, call: AuthCall, input: SignUpInput): Promise<SignUpResult> {
  const { database, passwords, settings } = deps;
  // The password is hashed for existing users as well, because timing would reveal them.
  const encrypted_password = await passwords.hash(input.password);
  const outcome = await (async () => {
    try {
      return await attemptSignUp(deps, call, input, encrypted_password);
    } catch (error) {
      // A concurrent request signed up with the same address.
      if (isTaken(error)) return attemptSignUp(deps, call, input, encrypted_password);
      throw error;
    }
  })();
  if (outcome === 'taken') {
    if (settings.autoconfirm) throw new AuthError(422, 'user_already_exists', 'User already registered');
    pretendMail(deps, call, 'confirmation', input.email);
    return { user: buildPlaceholderUser(input, call.now) };
  }
  if (outcome.mail === undefined) {
    return { session: await database.transaction((sql) => createSession(deps, sql, call, outcome.user, 'password')) };
  }
  await outcome.mail.send();
  const { user } = outcome.mail;
  const view = toUserView(user);
  return { user: user.invited_at === null ? view : { ...view, user_metadata: {}, identities: [] } };
}

async function attemptSignUp(
  { database, ...rest }: AuthDependencies,
  call: AuthCall,
  { email, password, data, mail, purpose = 'signup' }: SignUpInput,
  encrypted_password: string,
): Promise<'taken' | { readonly user: StoredUser; readonly mail: PlannedMail | undefined }> {
  const deps = { database, ...rest };
  const { autoconfirm } = deps.settings;
  const existing = await findUserByEmail(database, email);
  if (existing !== undefined && existing.email_confirmed_at !== null) return 'taken';
  // Without confirmation mails, signing up again requires the password of the unconfirmed address.
  if (existing !== undefined && autoconfirm && !(await deps.passwords.verify(password, existing.encrypted_password))) {
    return 'taken';
  }
  // Two sign-ups with the same address have different passwords, and the mail does not show which one belongs to its
  // owner. Both are discarded, and the owner sets a new one.
  if (
    existing !== undefined &&
    isUnprovenSignUp(existing) &&
    !(await deps.passwords.verify(password, existing.encrypted_password))
  ) {
    // The password is removed even when no further mail is sent.
    await database.transaction(async (sql) => {
      const user = await lockUser(sql, existing.id);
      if (user !== undefined && isUnprovenSignUp(user))
        await changeUser(sql, user.id, { encrypted_password: null }, call.now);
    });
  }
  return database.transaction(async (sql) => {
    let user = existing === undefined ? undefined : await lockUser(sql, existing.id);
    if (user === undefined) {
      const id = randomUUID();
      const identity = { ...data, email, email_verified: false, phone_verified: false };
      const raw_user_meta_data = { ...identity, sub: id };
      const fields = { email, encrypted_password, raw_app_meta_data: emailProvider, raw_user_meta_data };
      user = await saveUser(sql, fields, { id, identity, now: call.now });
    } else if (!user.identities.some(({ provider }) => provider === 'email')) {
      await insertIdentity(sql, user.id, { ...data, email }, call.now);
      user = (await findUserById(sql, user.id)) ?? user;
    }
    if (autoconfirm) return { user: await confirmEmail(sql, user, call.now), mail: undefined };
    return { user, mail: await planMail(deps, sql, call, user, purpose, mail) };
  });
}

/** Builds the response of a new user; clients recognize an existing user by the empty list of identities. */
function buildPlaceholderUser({ email, data }: SignUpInput, now: number): Record<string, unknown> {
  const time = new Date(now).toISOString();
  return {
    id: randomUUID(),
    aud: 'authenticated',
    role: '',
    email,
    phone: '',
    confirmation_sent_at: time,
    app_metadata: emailProvider,
    user_metadata: data,
    identities: [],
    created_at: time,
    updated_at: time,
    is_anonymous: false,
  };
}
