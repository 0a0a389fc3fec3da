import { AccountName } from '../../../services/contracts/control/accounts.ts';
import type { ProviderAccount, ProviderUser } from '../../../services/contracts/control/provider-users.ts';
import { findOwnIdentity, hasOtherSubject } from './provider-identities.ts';
import type { Db } from './store.ts';
import type { AccountRow, ProviderIdentityRow } from './tables.ts';

/** Refusal of a sign-in, as the page explains it. */
type Refusal = Exclude<ProviderAccount, { readonly is: 'account' }>;

/** Result for one user: an account that is created or opened, or a refusal. */
export type ProviderDecision =
  | { readonly is: 'refuse'; readonly refusal: Refusal }
  | { readonly is: 'create'; readonly name: string }
  | { readonly is: 'open'; readonly account: AccountRow };

/**
 * Decides which account a user opens. It reads only from the database, so that a transaction can decide again after
 * other requests changed accounts.
 */
export async function decideAccount(db: Db, user: ProviderUser): Promise<ProviderDecision> {
  const own = await findOwnIdentity(db, user);
  const name = user.assignedAccount ?? own?.account ?? user.name;
  if (name === undefined) return refuse({ is: 'nameless' });
  const account = await db.selectFrom('accounts').selectAll().where('name', '=', name).executeTakeFirst();
  if (account === undefined) return decideCreation(user, name);
  if (Number(account.enabled) !== 1 || account.kind !== 'person') return refuse({ is: 'unusable', name });
  if (account.role === 'admin' && !isTrustedAdministrator(user, own)) return refuse({ is: 'administrator', name });
  const isIdentified = user.assignedAccount !== undefined || own?.account === name;
  if (!isIdentified && !(await mayLink(db, user, account))) return refuse({ is: 'name-taken', name });
  return { is: 'open', account };
}

function decideCreation(user: ProviderUser, name: string): ProviderDecision {
  if (!user.mayCreate) return refuse({ is: 'unknown', name });
  if (!AccountName.safeParse(name).success) return refuse({ is: 'nameless' });
  return isAssignedToOthers(user, name) ? refuse({ is: 'name-taken', name }) : { is: 'create', name };
}

/**
 * Returns whether the first sign-in with a name may link an existing account. Users may choose their name at many
 * providers, so the account must have no credentials that the link would bypass, and must not belong to another user.
 */
async function mayLink(db: Db, user: ProviderUser, { name, password_hash }: AccountRow): Promise<boolean> {
  if (password_hash !== null || isAssignedToOthers(user, name)) return false;
  if (await hasOtherSubject(db, user, name)) return false;
  for (const table of ['tokens', 'second_factors', 'passkeys'] as const) {
    const row = await db.selectFrom(table).select('account').where('account', '=', name).executeTakeFirst();
    if (row !== undefined) return false;
  }
  return true;
}

/** Names that differ only in case are the same name. */
function isAssignedToOthers({ assignedToOthers }: ProviderUser, name: string): boolean {
  return assignedToOthers.some((assigned) => assigned.toLowerCase() === name.toLowerCase());
}

/** The name at the provider may be chosen by the user, so it does not open an administrator's account. */
function isTrustedAdministrator({ assignedAccount }: ProviderUser, own: ProviderIdentityRow | undefined): boolean {
  if (assignedAccount !== undefined) return true;
  return own !== undefined && (own.link === 'created' || own.role === 'admin');
}

function refuse(refusal: Refusal): ProviderDecision {
  return { is: 'refuse', refusal };
}
