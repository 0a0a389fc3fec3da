import { merged, type Metadata } from '../domain/metadata.ts';
import { Refusal } from '../http/auth-error.ts';
import { sqlState, type Sql } from '../store/database.ts';
import { changeUser, insertUser, type StoredUser, type UserChange } from '../store/users.ts';

/** What is said of a user that signs in by an address. */
export const emailProvider: Metadata = { provider: 'email', providers: ['email'] };

/**
 * Makes a user; triggers and constraints of people's own schemas have their say.
 * @throws Refusal 500 in the peer's words when they object; what a second user of that address makes PostgreSQL throw.
 */
export async function saveUser(
  sql: Sql,
  change: UserChange,
  options: Parameters<typeof insertUser>[2],
): Promise<StoredUser> {
  try {
    return await insertUser(sql, change, options);
  } catch (error) {
    const state = sqlState(error);
    // Connections that are gone are the database's fault, and a taken address is answered by who asked.
    if (state === undefined || /^(?:08|53|57|40)/.test(state) || isTaken(error)) throw error;
    throw Object.assign(new Refusal(500, 'unexpected_failure', 'Database error saving new user'), { cause: error });
  }
}

/** Whether somebody has this address, number or id already. */
export function isTaken(error: unknown): boolean {
  const constraint = error instanceof Error && 'constraint' in error ? error.constraint : undefined;
  return (
    sqlState(error) === '23505' &&
    typeof constraint === 'string' &&
    ['users_email_partial_key', 'users_phone_key', 'users_pkey'].includes(constraint)
  );
}

/** Whether the password is of somebody who signed up with this address and has not shown yet that it is theirs. */
export function isUnprovenSignUp({ email_confirmed_at, confirmation_sent_at, invited_at }: StoredUser): boolean {
  return email_confirmed_at === null && confirmation_sent_at !== null && invited_at === null;
}

/** The address is theirs. */
export function confirmEmail(sql: Sql, user: StoredUser, now: number): Promise<StoredUser> {
  const raw_user_meta_data = merged(user.raw_user_meta_data ?? {}, { email_verified: true });
  return changeUser(sql, user.id, { confirmation_token: '', email_confirmed_at: now, raw_user_meta_data }, now);
}
