import { z } from 'zod';
import { AccountName } from './account-name.ts';
import { Grant } from './grant.ts';
import { Role } from './identity.ts';

/** `reset`: the person sets a new password. `invitation`: the person creates an account. */
export const OneTimeLinkKind = z.enum(['reset', 'invitation']);
export type OneTimeLinkKind = z.infer<typeof OneTimeLinkKind>;

/** List entry of an unused link. Its token is shown only once, when it is created. */
export const OneTimeLink = z.object({
  id: z.string(),
  kind: OneTimeLinkKind,
  /** Account of a reset; proposed name of an invitation, empty when the person chooses it. */
  account: z.string(),
  /** Role and grants of the account that an invitation creates. */
  role: Role,
  grants: z.array(Grant),
  /** The reset also disables the second factor. */
  removesSecondFactor: z.boolean(),
  createdAt: z.number().describe('ms since the epoch'),
  expiresAt: z.number(),
  /** Administrator who created it; empty for the command line. */
  createdBy: z.string(),
});
export type OneTimeLink = z.infer<typeof OneTimeLink>;

/** Invitation to be created. */
export const NewInvitation = z.object({
  name: AccountName.or(z.literal('')).default(''),
  role: Role.default('user'),
  grants: z.array(Grant).max(100).default([]),
});
export type NewInvitation = z.infer<typeof NewInvitation>;

/** Purpose of a link, as its holder sees it. */
export const OneTimeLinkPurpose = OneTimeLink.pick({ kind: true, account: true, expiresAt: true });
export type OneTimeLinkPurpose = z.infer<typeof OneTimeLinkPurpose>;

/** Link that was just created, with the only copy of its token. */
export interface CreatedOneTimeLink {
  readonly link: OneTimeLink;
  readonly token: string;
}

/** Fields that the holder of a link enters. `name` is required for invitations and ignored by resets. */
export interface OneTimeLinkUse {
  readonly name: string;
  readonly password: string;
}

/**
 * Links that let a person set a password or create an account without an administrator. Only the hash of a token is
 * stored, and each link works once.
 */
export interface OneTimeLinks {
  list(): Promise<readonly OneTimeLink[]>;
  /**
   * Creates a link that sets a new password. An earlier one of the same account stops working.
   * @throws Problem `accounts.unknown` (404), `accounts.link_not_possible` (409), `accounts.provisioned` (409)
   */
  createReset(
    account: string,
    options: { readonly removesSecondFactor: boolean; readonly createdBy: string },
  ): Promise<CreatedOneTimeLink>;
  /** @throws Problem `accounts.too_many_links` (409), and those of a new account */
  createInvitation(invitation: NewInvitation, createdBy: string): Promise<CreatedOneTimeLink>;
  /** @throws Problem `accounts.unknown_link` (404) */
  revoke(id: string): Promise<void>;
  /**
   * Returns what a token is for, without using it.
   * @throws Problem `accounts.link_invalid` (403), `accounts.too_many_attempts` (429)
   */
  open(token: string, remoteAddress: string): Promise<OneTimeLinkPurpose>;
  /**
   * Sets the password or creates the account, and returns its name. The link is still valid after an error.
   * @throws Problem as {@link open}, `accounts.weak_password` (422), and those of a new account
   */
  use(token: string, use: OneTimeLinkUse, remoteAddress: string): Promise<string>;
}
