import { z } from 'zod';

export const Role = z.enum(['admin', 'user']);
export type Role = z.infer<typeof Role>;
export const AccountKind = z.enum(['person', 'service']);
export type AccountKind = z.infer<typeof AccountKind>;

/** Who a request comes from. Decided per request, never kept per connection or address. */
export interface Identity {
  readonly account: string;
  readonly kind: AccountKind;
  readonly role: Role;
  readonly via: 'password' | 'token' | 'session';
  /** Set when `via` is token or session. */
  readonly credentialId?: string;
  /**
   * Proven with a token that has only some of the account's rights: `role` is `user`, and nothing may be done or shown because
   * it is this account, only what `Accounts.may` allows.
   */
  readonly limited?: true;
}
