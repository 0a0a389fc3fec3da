import { z } from 'zod';

/**
 * Treatment of an account's data in the services when the account is removed, as the caller requests it. `keep` sets
 * the data aside under a reserved name, where administrators can reach it.
 */
export const RemovalRequest = z.discriminatedUnion('action', [
  z.object({ action: z.literal('delete') }),
  z.object({ action: z.literal('transfer'), to: z.string().min(1).max(64).describe('Name of an account.') }),
  z.object({ action: z.literal('keep') }),
]);
export type RemovalRequest = z.infer<typeof RemovalRequest>;

/** Removal request resolved by the host: `as` is the reserved name that owns the kept data from now on. */
export type AccountDisposition =
  | { readonly action: 'delete' }
  | { readonly action: 'transfer'; readonly to: string }
  | { readonly action: 'keep'; readonly as: string };

/**
 * Number of objects of one kind that an account has in a service, for the removal dialog: `{ kind: 'repositories',
 * count: 3 }`.
 */
export const AccountDataSummary = z.object({
  kind: z.string().describe('Noun that agrees with the count, such as `repositories`.'),
  count: z.int().nonnegative(),
});
export type AccountDataSummary = z.infer<typeof AccountDataSummary>;

/** Account data of a service that stores data by account name. */
export interface AccountData {
  /** Counts the account's data; kinds without entries may be omitted. */
  summary(account: string): Promise<readonly AccountDataSummary[]>;
  /**
   * Deletes the data, or moves it to the account `to` or to the reserved name `as`. Data that cannot belong to
   * another account (keys, tokens, personal preferences, webhooks to the former owner's addresses) is deleted with
   * every action. The account itself no longer exists. A service that was not running during the removal runs this
   * before its first request. Repeated until it resolves, so it must be idempotent.
   */
  release(account: string, disposition: AccountDisposition): Promise<void>;
}

/** Name in the namespace of the accounts that a service uses, such as that of an organization. */
export interface NameReservation {
  readonly name: string;
  /** Singular noun for display: `organization`. */
  readonly kind: string;
}
