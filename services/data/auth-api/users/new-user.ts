import { mergeMetadata, type Metadata } from '../domain/metadata.ts';
import { AuthError } from '../http/auth-error.ts';
import { getSqlState, type Sql } from '../store/database.ts';
import { changeUser, insertUser, type StoredUser, type UserChange } from '../store/users.ts';

/** Metadata of users who sign in with an address. */
export const emailProvider: Metadata = { provider: 'email', providers: ['email'] };

/**
 * Creates a user. Triggers and constraints of the project's schemas may refuse it.
 *
 * @throws AuthError 500 with the text of Supabase Auth when they do; the database error when the address is taken
 */
export async function saveUser(
  sql: Sql,
  change: UserChange,
  options: Parameters<typeof insertUser>[2],
): Promise<StoredUser> {
  try {
    return await insertUser(sql, change, options);
  } catch (error) {
    const state = getSqlState(error);
    // Lost connections are handled by the caller, and so are taken addresses.
    if (state === undefined || /^(?:08|53|57|40)/.test(state) || isTaken(error)) throw error;
    throw Object.assign(new AuthError(500, 'unexpected_failure', 'Database error saving new user'), { cause: error });
  }
}

/** Returns true when the address, number or id belongs to another user. */
export function isTaken(error: unknown): boolean {
  const constraint = error instanceof Error && 'constraint' in error ? error.constraint : undefined;
  return (
    getSqlState(error) === '23505' &&
    typeof constraint === 'string' &&
    ['users_email_partial_key', 'users_phone_key', 'users_pkey'].includes(constraint)
  );
}

/** Returns true when the user has signed up with a password and has not confirmed the address yet. */
export function isUnprovenSignUp({ email_confirmed_at, confirmation_sent_at, invited_at }: StoredUser): boolean {
  return email_confirmed_at === null && confirmation_sent_at !== null && invited_at === null;
}

/** Marks the address of a user as confirmed. */
export function confirmEmail(sql: Sql, user: StoredUser, now: number): Promise<StoredUser> {
  const raw_user_meta_data = mergeMetadata(user.raw_user_meta_data ?? {}, { email_verified: true });
  return changeUser(sql, user.id, { confirmation_token: '', email_confirmed_at: now, raw_user_meta_data }, now);
}
