import { z } from 'zod';

/**
 * What happens with the data that an account leaves in the services when it is removed, as the caller requests it.
 * `keep` sets the data aside under a name that no account can have, where administrators reach it.
 */
export const RemovalRequest = z.discriminatedUnion('action', [
  z.object({ action: z.literal('delete') }),
  z.object({ action: z.literal('transfer'), to: z.string().min(1).max(64).describe('Name of an account') }),
  z.object({ action: z.literal('keep') }),
]);
export type RemovalRequest = z.infer<typeof RemovalRequest>;

/** A removal request that the host has resolved: `as` is the reserved name that kept data belongs to from now on. */
export type AccountDisposition =
  | { readonly action: 'delete' }
  | { readonly action: 'transfer'; readonly to: string }
  | { readonly action: 'keep'; readonly as: string };

/** One kind of data that an account has in a service, for the dialog that removes it: `{ kind: 'repositories', count: 3 }`. */
export const AccountDataSummary = z.object({
  kind: z.string().describe('Plural noun for people: `repositories`.'),
  count: z.int().nonnegative(),
});
export type AccountDataSummary = z.infer<typeof AccountDataSummary>;

/** How a service treats the data that belongs to an account, for services that store data by account name. */
export interface AccountData {
  /** Counts what the account has; kinds without entries may be left out. */
  summary(account: string): Promise<readonly AccountDataSummary[]>;
  /**
   * Deletes the data, or moves it to the account `to` or to the reserved name `as`. What cannot belong to another account
   * (keys, tokens, personal preferences, webhooks to the former owner's addresses) is deleted with every action.
   * The account itself no longer exists. Runs before the service answers its first request where it was not running when
   * the account was removed, and is repeated until it resolves, so it must be idempotent.
   */
  release(account: string, disposition: AccountDisposition): Promise<void>;
}

/** A name that a service uses in the name space of the accounts, such as that of an organization. */
export interface NameReservation {
  readonly name: string;
  /** Singular noun for people: `organization`. */
  readonly kind: string;
}
