import type { ProviderUser } from '../../../services/contracts/control/provider-users.ts';
import type { Db } from './store.ts';
import type { ProviderIdentityRow } from './tables.ts';

/** The part of a user that identifies the user at all times. */
type Subject = Pick<ProviderUser, 'issuer' | 'subject'>;

/** Returns the account that a user has without the settings: it was created for the user, or linked by its name. */
export function findOwnIdentity(db: Db, { issuer, subject }: Subject): Promise<ProviderIdentityRow | undefined> {
  return db
    .selectFrom('provider_identities')
    .selectAll()
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .where('link', '<>', 'assigned')
    .executeTakeFirst();
}

/** Returns how a user has an account, with the rights that the user's groups added to it. */
export function findIdentity(
  db: Db,
  { issuer, subject }: Subject,
  account: string,
): Promise<ProviderIdentityRow | undefined> {
  return db
    .selectFrom('provider_identities')
    .selectAll()
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .where('account', '=', account)
    .executeTakeFirst();
}

/** Returns the assignments of a user to accounts other than the current one, which the settings no longer contain. */
export function listEndedAssignments(
  db: Db,
  { issuer, subject }: Subject,
  account: string,
): Promise<readonly ProviderIdentityRow[]> {
  return db
    .selectFrom('provider_identities')
    .selectAll()
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .where('link', '=', 'assigned')
    .where('account', '<>', account)
    .execute();
}

/** Returns whether another user of the same provider has the account, also by an assignment. */
export async function hasOtherSubject(db: Db, { issuer, subject }: Subject, account: string): Promise<boolean> {
  const other = await db
    .selectFrom('provider_identities')
    .select('subject')
    .where('issuer', '=', issuer)
    .where('account', '=', account)
    .where('subject', '<>', subject)
    .executeTakeFirst();
  return other !== undefined;
}

export async function saveIdentity(db: Db, row: ProviderIdentityRow): Promise<void> {
  await db
    .insertInto('provider_identities')
    .values(row)
    .onConflict((conflict) => conflict.columns(['issuer', 'subject', 'account']).doUpdateSet(row))
    .execute();
}

export async function deleteIdentity(db: Db, { issuer, subject, account }: ProviderIdentityRow): Promise<void> {
  await db
    .deleteFrom('provider_identities')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .where('account', '=', account)
    .execute();
}
