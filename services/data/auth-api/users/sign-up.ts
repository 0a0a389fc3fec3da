import { randomUUID } from 'node:crypto';
import type { Metadata } from '../domain/metadata.ts';
import type { Call } from '../http/auth-call.ts';
import { Refusal } from '../http/auth-error.ts';
import { planMail, pretendMail, type MailRequest, type PlannedMail } from '../mail/requests.ts';
import type { AuthParts } from '../dependencies.ts';
import { beginSession, type SessionView } from '../session/issue.ts';
import { userView } from '../session/view.ts';
import { changeUser, insertIdentity, lockedUser, userByEmail, userById, type StoredUser } from '../store/users.ts';
import { confirmEmail, emailProvider, isTaken, isUnprovenSignUp, saveUser } from './new-user.ts';

export interface SignUp {
  readonly email: string;
  readonly password: string;
  readonly data: Metadata;
  readonly mail: MailRequest;
  /** Purpose of the mail, when one is sent. */
  readonly purpose?: 'signup' | 'magiclink';
}

/** Session when addresses need no confirmation, otherwise the user. */
export type SignedUp = { readonly session: SessionView } | { readonly user: Readonly<Record<string, unknown>> };

/** Signs up a user with a password. When addresses are confirmed, the response does not reveal which ones are taken. */
export async function signUp(parts: AuthParts, call: Call, wish: SignUp): Promise<SignedUp> {
  const { database, passwords, settings } = parts;
  // The password is hashed for existing users as well, because timing would reveal them.
  const encrypted_password = await passwords.hash(wish.password);
  const outcome = await (async () => {
    try {
      return await attempt(parts, call, wish, encrypted_password);
    } catch (error) {
      // A concurrent request signed up with the same address.
      if (isTaken(error)) return attempt(parts, call, wish, encrypted_password);
      throw error;
    }
  })();
  if (outcome === 'taken') {
    if (settings.autoconfirm) throw new Refusal(422, 'user_already_exists', 'User already registered');
    pretendMail(parts, call, 'confirmation', wish.email);
    return { user: nobody(wish, call.now) };
  }
  if (outcome.mail === undefined) {
    return { session: await database.transaction((sql) => beginSession(parts, sql, call, outcome.user, 'password')) };
  }
  await outcome.mail.send();
  const { user } = outcome.mail;
  const view = userView(user);
  return { user: user.invited_at === null ? view : { ...view, user_metadata: {}, identities: [] } };
}

async function attempt(
  { database, ...rest }: AuthParts,
  call: Call,
  { email, password, data, mail, purpose = 'signup' }: SignUp,
  encrypted_password: string,
): Promise<'taken' | { readonly user: StoredUser; readonly mail: PlannedMail | undefined }> {
  const parts = { database, ...rest };
  const { autoconfirm } = parts.settings;
  const known = await userByEmail(database, email);
  if (known !== undefined && known.email_confirmed_at !== null) return 'taken';
  // Without confirmation mails a client must know the password of an unconfirmed address.
  if (known !== undefined && autoconfirm && !(await parts.passwords.verify(password, known.encrypted_password))) {
    return 'taken';
  }
  // Two sign-ups with the same address have different passwords, and the mail does not show which one belongs to its
  // owner. Both are discarded, and the owner sets a new one.
  if (
    known !== undefined &&
    isUnprovenSignUp(known) &&
    !(await parts.passwords.verify(password, known.encrypted_password))
  ) {
    // The password is removed even when no further mail is sent.
    await database.transaction(async (sql) => {
      const user = await lockedUser(sql, known.id);
      if (user !== undefined && isUnprovenSignUp(user))
        await changeUser(sql, user.id, { encrypted_password: null }, call.now);
    });
  }
  return database.transaction(async (sql) => {
    let user = known === undefined ? undefined : await lockedUser(sql, known.id);
    if (user === undefined) {
      const id = randomUUID();
      const identity = { ...data, email, email_verified: false, phone_verified: false };
      const raw_user_meta_data = { ...identity, sub: id };
      const fields = { email, encrypted_password, raw_app_meta_data: emailProvider, raw_user_meta_data };
      user = await saveUser(sql, fields, { id, identity, now: call.now });
    } else if (!user.identities.some(({ provider }) => provider === 'email')) {
      await insertIdentity(sql, user.id, { ...data, email }, call.now);
      user = (await userById(sql, user.id)) ?? user;
    }
    if (autoconfirm) return { user: await confirmEmail(sql, user, call.now), mail: undefined };
    return { user, mail: await planMail(parts, sql, call, user, purpose, mail) };
  });
}

/** Builds the response of a new user; clients recognize an existing user by the empty list of identities. */
function nobody({ email, data }: SignUp, now: number): Record<string, unknown> {
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
