import * as m from '#messages/control-problems';
import { z } from 'zod';
import { defineTopic } from '../bus.ts';
import type { SessionLink } from '../session.ts';
import type { NameReservation, RemovalRequest } from './account-data.ts';
import { AccountName } from './account-name.ts';
import { Grant, Permission } from './grant.ts';
import { AccountKind, Role, type Identity } from './identity.ts';
import type { OneTimeLinks } from './one-time-links.ts';
import type { SecondFactors } from './second-factor.ts';
import type { SecurityEvent } from './security-log.ts';

export { AccountKind, AccountName, Grant, Permission, Role, type Identity };

/** New password. The host refuses common passwords as well. */
export const Password = z.string().min(10, { error: m.passwordTooShort }).max(1024, { error: m.passwordTooLong });

/** Language tag of BCP 47, such as `de` or `pt-BR`; empty for the language of the browser. */
export const AccountLanguage = z
  .string()
  .max(35)
  .regex(/^([A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*)?$/);

/** Account as administrators see it, without credentials. */
export const Account = z.object({
  name: AccountName,
  kind: AccountKind,
  role: Role,
  enabled: z.boolean(),
  /** Purpose of a service account. */
  description: z.string(),
  hasPassword: z.boolean(),
  grants: z.array(Grant),
  createdAt: z.number().describe('ms since the epoch'),
  /** Language of the pages that the person selected; absent for the language of the browser. */
  language: AccountLanguage.optional(),
  /** Present when sign-ins with the password need a second factor. */
  secondFactor: z.literal(true).optional(),
  /** Declared in homeport.yaml; password and role can only be changed there. */
  provisioned: z.literal(true).optional(),
});
export type Account = z.infer<typeof Account>;

/** Subset of the account's rights that a token has. A token never has more rights than its account. */
export const TokenScopes = z.array(Grant).min(1).max(50);

/** List entry of a token. Its text is shown only once, when it is created. */
export const AccessToken = z.object({
  id: z.string(),
  account: AccountName,
  label: z.string(),
  createdAt: z.number(),
  expiresAt: z.number().nullable(),
  lastUsedAt: z.number().nullable(),
  lastUsedFrom: z.string().nullable(),
  /** When absent, the token has all rights of its account. */
  scopes: TokenScopes.optional(),
  /** Declared in homeport.yaml and can only be changed there. */
  provisioned: z.literal(true).optional(),
});
export type AccessToken = z.infer<typeof AccessToken>;

/** Token to be created. */
export const NewToken = z.object({
  label: z.string().max(100).default(''),
  expiresAt: z.number().nullable().default(null).describe('ms since the epoch; null if it never expires.'),
  scopes: TokenScopes.optional().describe(
    'Limits what the token can do. Without scopes, the token can do everything that its account can.',
  ),
});

/**
 * Credentials that a request may contain, in the order in which they are checked: authorization, session, link,
 * gateway.
 */
export interface Credentials {
  /** Authorization header: `Basic` (a token is accepted as the password of an empty or matching name) or `Bearer`. */
  readonly authorization?: string | undefined;
  /** Secret of a session, as `findSessionSecret` returns it. */
  readonly session?: string | undefined;
  /** Link created by {@link Accounts.link}. Pass it only on routes that read a file. */
  readonly link?: SessionLink | undefined;
  /** Used for rate limits and for a token's last use. */
  readonly remoteAddress: string;
  /**
   * The browser reports that a page of another site caused the request. Failed attempts are throttled separately for
   * such requests. See `Context.caller`.
   */
  readonly isCrossSite?: boolean;
  /** Identity that a gateway in this process has verified; checked for validity again. See `Context.caller`. */
  readonly gatewayIdentity?: Identity | undefined;
  /**
   * Also accepts a session that must enrol a second factor first; its identity has `needsEnrollment`. Pass it only
   * where such an identity is refused or limited to the enrolment.
   */
  readonly forEnrollment?: boolean;
}

/** Attempt to use a secret that a service stores itself. */
export interface SecretAttempt {
  readonly service: string;
  readonly name: string;
  readonly secret: string;
  readonly remoteAddress: string;
}

/** Fields of an account to create. */
export interface NewAccount {
  readonly name: string;
  readonly password?: string;
  /** Bcrypt hash of another program in place of a password. The first sign-in replaces it. */
  readonly passwordHash?: string;
  readonly kind?: AccountKind;
  readonly role?: Role;
  readonly description?: string;
  readonly enabled?: boolean;
  readonly grants?: readonly Grant[];
}

/** Changes of an account; absent fields stay. */
export interface AccountChange {
  readonly password?: string;
  /** As in {@link NewAccount}. */
  readonly passwordHash?: string;
  readonly role?: Role;
  readonly enabled?: boolean;
  readonly description?: string;
  /** Empty for the language of the browser. */
  readonly language?: string;
  /** Replaces all grants. */
  readonly grants?: readonly Grant[];
}

/** Name of the anonymous caller in grants: `*`, as in ntfy. */
export const everyone = '*';

/** Published after any change that may revoke access; open streams check their access again. */
export const accountsChanged = defineTopic(
  'accounts.changed',
  z.object({
    account: z.string(),
    /** Only the language of the account changed, which lists of accounts do not show. */
    onlyLanguage: z.literal(true).optional(),
  }),
);
/**
 * Published after the removal of an account; services delete its data. A new account with the same name is a
 * different one.
 */
export const accountsRemoved = defineTopic('accounts.removed', z.object({ account: z.string() }));

/** Users and service accounts of all services. */
export interface Accounts {
  /**
   * Returns the identity of the caller; undefined when the request has no credentials of Homeport (an unknown scheme
   * counts as none). Delays the answer after several wrong passwords. A password alone does not authenticate an
   * account with a second factor: its programs use access tokens.
   * @throws Problem `accounts.bad_credentials`, `accounts.token_needed` or `accounts.second_factor_required` (401),
   * `accounts.too_many_attempts` (429 with Retry-After).
   */
  authenticate(credentials: Credentials): Promise<Identity | undefined>;
  /**
   * Checks a secret that the service stores itself, with the same throttling as for passwords. Returns the result of
   * `isRight`.
   * @throws Problem `accounts.too_many_attempts` (429).
   */
  checkSecret(attempt: SecretAttempt, isRight: () => boolean | Promise<boolean>): Promise<boolean>;
  /**
   * Returns whether an identity has a permission. The scopes of a token limit it. Administrators have all
   * permissions. Otherwise the account's own grants precede those of {@link everyone}; the longest matching pattern
   * wins, a tie goes to the grant that allows writing, and no grant means no permission.
   */
  may(identity: Identity | undefined, service: string, permission: 'read' | 'write', resource: string): boolean;

  /**
   * Returns whether the credentials behind an identity are still valid: the account, its password, the token, the
   * session.
   */
  isStillValid(identity: Identity): boolean;

  /**
   * Rejects a new password that is short, common or similar to the name. {@link create} and {@link change} accept the
   * passwords that clients of the peers set; call this for passwords that users choose.
   * @throws Problem `accounts.weak_password` (422)
   */
  refuseWeakPassword(name: string, password: string): Promise<void>;

  list(): Promise<readonly Account[]>;
  find(name: string): Promise<Account | undefined>;
  /**
   * Creates an account. Names are unique without regard to case, among accounts and reserved names.
   * @throws Problem `accounts.exists`, `accounts.name_reserved` or `accounts.data_pending` (409).
   */
  create(account: NewAccount): Promise<Account>;
  /** @throws Problem `accounts.unknown` (404), `accounts.last_admin` (409), `accounts.provisioned` (409). */
  change(name: string, change: AccountChange): Promise<Account>;
  /**
   * Removes an account; every service deletes, transfers or sets aside its data, by default `keep`. Resolves when the
   * running services are done; the others follow at their next start.
   * @throws Problem `accounts.unknown` (404), `accounts.last_admin` (409), `accounts.bad_recipient` (422).
   */
  remove(name: string, request?: RemovalRequest): Promise<void>;
  /**
   * Reserves a name for an object of a service, so that no account can have it. Call it before the object is created.
   * Idempotent for the same service and name.
   * @throws Problem `accounts.exists` or `accounts.name_reserved` (409).
   */
  reserveName(service: string, reservation: NameReservation): Promise<void>;
  /** Releases a name that the service reserved. */
  releaseName(service: string, name: string): Promise<void>;
  /**
   * Replaces all reservations of a service; call it at the service's start. Names that already belong to an account
   * or another service are reserved nevertheless, so that no further collision occurs.
   * @returns the colliding names, for the service's health
   */
  synchronizeNames(service: string, reservations: readonly NameReservation[]): Promise<readonly string[]>;
  /**
   * Writes an event to the security log. The host already records sign-ins through {@link authenticate}, {@link
   * checkSecret} and {@link signIn}, and changes of accounts.
   */
  record(event: SecurityEvent): void;
  /**
   * Sets the grant for exactly this pattern, or removes it when the permission is undefined; other grants are
   * unchanged. Also for {@link everyone}.
   * @throws Problem `accounts.unknown` (404).
   */
  setGrant(name: string, service: string, resource: string, permission: Permission | undefined): Promise<void>;

  tokens(account: string): Promise<readonly AccessToken[]>;
  /** Returns the account's token with this text, even when it has expired. */
  findToken(account: string, text: string): Promise<AccessToken | undefined>;
  /**
   * Creates a token. `expiresAt` null: it never expires. The returned text (`tk_` and 29 characters) is not stored
   * and cannot be shown again. `text` imports a token of another server, so that its clients continue to work.
   * `scopes` limit the token to a subset of the account's rights.
   * @throws Problem `accounts.token_exists` (409)
   */
  createToken(
    account: string,
    options: { label: string; expiresAt: number | null; text?: string; scopes?: readonly Grant[] | undefined },
  ): Promise<{ token: AccessToken; text: string }>;
  /** @throws Problem `accounts.unknown_token` (404) */
  changeToken(
    account: string,
    id: string,
    change: { readonly label?: string; readonly expiresAt?: number | null },
  ): Promise<AccessToken>;
  removeToken(account: string, id: string): Promise<void>;

  /**
   * Checks name and password and opens a session. The secret is returned only here. With `forEnrollment`, an account
   * that still has to enrol a required second factor gets a session that may only do that.
   * @throws SecondFactorNeeded when the account has a second factor
   * @throws Problem `accounts.second_factor_required` (403) when it has none and must have one
   */
  signIn(
    name: string,
    password: string,
    from: { remoteAddress: string; userAgent: string; forEnrollment?: boolean },
  ): Promise<{ identity: Identity; secret: string }>;
  signOut(identity: Identity): Promise<void>;
  /** Second factors, required by every sign-in with a password. */
  readonly factors: SecondFactors;
  /** Invitations and links that set a new password. */
  readonly oneTimeLinks: OneTimeLinks;
  /**
   * Creates a link that lets a browser read one path of the API without headers, as images, players and downloads
   * need it. It is valid for a day and as long as the session. The same path yields the same link for half a day, so
   * that browsers can cache the content.
   * @throws Problem `accounts.session_needed` (403) without a session of the pages.
   */
  link(identity: Identity, path: string): string;
}
