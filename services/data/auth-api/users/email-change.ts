import { mergeMetadata } from '../domain/metadata.ts';
import type { Sql } from '../store/database.ts';
import { changeIdentity, changeUser, findUserById, type StoredUser } from '../store/users.ts';
import { emailProvider } from './new-user.ts';

/** Replaces the address of a user; an anonymous user becomes a permanent one. */
export async function finishEmailChange(sql: Sql, user: StoredUser, now: number): Promise<StoredUser> {
  const email = user.email_change ?? '';
  await changeIdentity(sql, user.id, { email, email_verified: true }, now);
  const confirmed = user.email_confirmed_at === null ? { email_confirmed_at: now } : {};
  const metadata = user.email_confirmed_at === null ? { email_verified: true } : {};
  const currentMetadata = user.raw_user_meta_data ?? {};
  await changeUser(
    sql,
    user.id,
    {
      email,
      email_change: '',
      email_change_token_new: '',
      email_change_token_current: '',
      email_change_confirm_status: 0,
      is_anonymous: false,
      ...confirmed,
      raw_user_meta_data: mergeMetadata(currentMetadata, {
        ...metadata,
        ...('email' in currentMetadata ? { email } : {}),
      }),
      raw_app_meta_data: mergeMetadata(user.raw_app_meta_data ?? {}, emailProvider),
    },
    now,
  );
  return (await findUserById(sql, user.id)) ?? user;
}
