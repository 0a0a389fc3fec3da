import { z } from 'zod';

/** Role of an account. */
export const Role = z.enum(['admin', 'user']);
export type Role = z.infer<typeof Role>;

/** Kind of an account: a person or a program. */
export const AccountKind = z.enum(['person', 'service']);
export type AccountKind = z.infer<typeof AccountKind>;

/** Identity behind a request. Determined per request, never stored per connection or address. */
export interface Identity {
  readonly account: string;
  readonly kind: AccountKind;
  readonly role: Role;
  readonly via: 'password' | 'token' | 'session';
  /** Set when `via` is token or session. */
  readonly credentialId?: string;
  /**
   * Authenticated with a token that has only some of the account's rights: `role` is `user`, and access depends only
   * on `Accounts.may`, never on ownership.
   */
  readonly limited?: true;
  /** Session that may only enrol the second factor that the administrator requires. */
  readonly needsEnrollment?: true;
}
