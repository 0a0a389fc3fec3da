import type { Grant } from './accounts.ts';

/** User whom an OpenID provider signed in, and what the settings allow. */
export interface ProviderUser {
  readonly issuer: string;
  /** Identifier of the user at the issuer, which is never assigned to another user (OpenID Connect Core, 5.7). */
  readonly subject: string;
  /** Account that the owner assigned to the subject in the settings. */
  readonly assignedAccount: string | undefined;
  /** Accounts that the settings assign to other subjects. */
  readonly assignedToOthers: readonly string[];
  /** Account name that the provider reports. Users may have chosen it. */
  readonly name: string | undefined;
  /** Creates an account for a subject that has none. */
  readonly mayCreate: boolean;
  /** The groups of the user include one for administrators. */
  readonly isAdministrator: boolean;
  /** Grants by the groups of the user. */
  readonly grants: readonly Grant[];
}

/**
 * Account of a user, or the reason why there is none: no name was reported; no such account exists; the name belongs
 * to an account that is not linked to the user and has credentials or another user; the account is disabled or for programs; or it is an administrator's
 * account that neither the owner nor a group assigned to the user.
 */
export type ProviderAccount =
  | { readonly is: 'account'; readonly name: string }
  | { readonly is: 'nameless' }
  | { readonly is: 'unknown' | 'name-taken' | 'unusable' | 'administrator'; readonly name: string };
