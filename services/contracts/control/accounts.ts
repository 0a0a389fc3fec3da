import { z } from 'zod';
import { defineTopic } from '../bus.ts';
import type { SessionLink } from '../session.ts';
import type { NameReservation, RemovalRequest } from './account-data.ts';
import { AccountKind, Role, type Identity } from './identity.ts';
import type { SecondFactors } from './second-factor.ts';
import type { SecurityEvent } from './security-log.ts';

export { AccountKind, Role, type Identity };

/** What a grant allows; `none` denies and wins over a shorter pattern. */
export const Permission = z.enum(['read-write', 'read', 'write', 'none']);
export type Permission = z.infer<typeof Permission>;

/** Account names are what the peers accept: letters, digits and `-_.+@`. */
export const AccountName = z
  .string()
  .regex(/^[-_.+@a-zA-Z0-9]{1,64}$/, 'Use letters, digits and - _ . + @ only, 64 at most.');
/** A new password; the host refuses common ones as well. */
export const Password = z.string().min(10, 'Use at least 10 characters.').max(1024, 'Use at most 1024 characters.');

/** `resource` is a pattern in which `*` stands for any run of characters: for push, topics such as `*-*-backup`. */
export const Grant = z.object({ service: z.string(), resource: z.string().min(1).max(128), permission: Permission });
export type Grant = z.infer<typeof Grant>;

export const Account = z.object({
  name: AccountName,
  kind: AccountKind,
  role: Role,
  enabled: z.boolean(),
  /** For service accounts: what it is there for. */
  description: z.string(),
  hasPassword: z.boolean(),
  grants: z.array(Grant),
  createdAt: z.number().describe('ms since the epoch'),
  /** Present when sign-ins with the password need a second factor. */
  secondFactor: z.literal(true).optional(),
  /** It is declared in homeport.yaml, where alone its password and role are changed. */
  provisioned: z.literal(true).optional(),
});
export type Account = z.infer<typeof Account>;

/** What a token has of its account's rights; it never has more than the account. */
export const TokenScopes = z.array(Grant).min(1).max(50);

/** A token as it is listed; its text is shown only once, when it is made. */
export const AccessToken = z.object({
  id: z.string(),
  account: AccountName,
  label: z.string(),
  createdAt: z.number(),
  expiresAt: z.number().nullable(),
  lastUsedAt: z.number().nullable(),
  lastUsedFrom: z.string().nullable(),
  /** All that its account may do where there are none. */
  scopes: TokenScopes.optional(),
  /** It is declared in homeport.yaml, where alone it is changed. */
  provisioned: z.literal(true).optional(),
});
export type AccessToken = z.infer<typeof AccessToken>;

/** A token that is to be made. */
export const NewToken = z.object({
  label: z.string().max(100).default(''),
  expiresAt: z.number().nullable().default(null).describe('ms since the epoch; null: never'),
  scopes: TokenScopes.optional().describe('What it may do at most; without, all that its account may.'),
});

/** Everything a request may prove its sender with, in the order it is looked at: authorization, session, link, a gateway's word. */
export interface Credentials {
  /** The Authorization header: `Basic` (a token is accepted as the password of an empty or matching name) or `Bearer`. */
  readonly authorization?: string | undefined;
  /** The secret of a session, as `sessionOf` reads it. */
  readonly session?: string | undefined;
  /** A link as {@link Accounts.link} made it. Give it only where a file is read. */
  readonly link?: SessionLink | undefined;
  /** For rate limits and a token's last use. */
  readonly remoteAddress: string;
  /**
   * The browser says that a page of another site makes it send this. Its wrong guesses slow down such pages alone. See
   * `Context.caller`.
   */
  readonly isCrossSite?: boolean;
  /** Whom a gateway of this process found to have sent it; counts while it still stands. See `Context.caller`. */
  readonly gatewayIdentity?: Identity | undefined;
}

/** A secret that a service keeps itself, as somebody gives it. */
export interface SecretAttempt {
  /** The service's id. */
  readonly service: string;
  readonly name: string;
  readonly secret: string;
  readonly remoteAddress: string;
}

export interface NewAccount {
  readonly name: string;
  readonly password?: string;
  /** In place of a password: the bcrypt hash that another program kept of it. The first sign-in replaces it by one of ours. */
  readonly passwordHash?: string;
  readonly kind?: AccountKind;
  readonly role?: Role;
  readonly description?: string;
  readonly enabled?: boolean;
  readonly grants?: readonly Grant[];
}

export interface AccountChange {
  readonly password?: string;
  /** As in {@link NewAccount}. */
  readonly passwordHash?: string;
  readonly role?: Role;
  readonly enabled?: boolean;
  readonly description?: string;
  /** Replaces all grants. */
  readonly grants?: readonly Grant[];
}

/** The anonymous caller's name in grants: `*`, as the push peer calls it. */
export const everyone = '*';

/** Published after any change that may take access away; open streams look again at theirs. */
export const accountsChanged = defineTopic('accounts.changed', z.object({ account: z.string() }));
/** An account is gone: what a service keeps for it goes too. A new one of that name is somebody else. */
export const accountsRemoved = defineTopic('accounts.removed', z.object({ account: z.string() }));

/** One list of people and service accounts for all services. */
export interface Accounts {
  /**
   * Undefined when no credential of ours was given (an unknown scheme counts as none).
   * After some wrong passwords it takes its time to answer.
   * A password alone does not prove an account with a second factor: its programs use access tokens.
   * @throws Problem `accounts.bad_credentials` or `accounts.token_needed` (401), `accounts.too_many_attempts` (429 with
   * Retry-After).
   */
  authenticate(credentials: Credentials): Promise<Identity | undefined>;
  /**
   * Lets a service check a secret of its own with the same protection against guessing. Answers what `isRight` says.
   * @throws Problem `accounts.too_many_attempts` (429).
   */
  checkSecret(attempt: SecretAttempt, isRight: () => boolean | Promise<boolean>): Promise<boolean>;
  /**
   * What the scopes of a token do not grant is not allowed. Administrators may do everything. Else the account's own grants are asked before those of {@link everyone}; among
   * them the longest matching pattern wins, a tie goes to the one that grants writing; no grant means no.
   */
  may(identity: Identity | undefined, service: string, permission: 'read' | 'write', resource: string): boolean;

  /** Whether what the identity was proven with would still prove it: the account, its password, the token, the session. */
  isStillValid(identity: Identity): boolean;

  /**
   * Refuses a new password that is short, common, or little more than the name. {@link create} and {@link change} accept
   * what clients of the peers set; call this for passwords that people choose.
   * @throws Problem `accounts.weak_password` (422)
   */
  refuseWeakPassword(name: string, password: string): void;

  list(): Promise<readonly Account[]>;
  find(name: string): Promise<Account | undefined>;
  /**
   * Names are unique without regard to case, among accounts and among the names that services have reserved.
   * @throws Problem `accounts.exists`, `accounts.name_reserved` or `accounts.data_pending` (409).
   */
  create(account: NewAccount): Promise<Account>;
  /** @throws Problem `accounts.unknown` (404), `accounts.last_admin` (409), `accounts.provisioned` (409). */
  change(name: string, change: AccountChange): Promise<Account>;
  /**
   * Removes an account and has every service delete, transfer or set aside its data; default `keep`. Resolves when the
   * services that run have done so; the others do it at their next start.
   * @throws Problem `accounts.unknown` (404), `accounts.last_admin` (409), `accounts.bad_recipient` (422).
   */
  remove(name: string, request?: RemovalRequest): Promise<void>;
  /**
   * Takes a name for something of a service, so that no account can have it. Call it before the thing is created.
   * Repeating it for the same service and name does nothing.
   * @throws Problem `accounts.exists` or `accounts.name_reserved` (409).
   */
  reserveName(service: string, reservation: NameReservation): Promise<void>;
  /** Gives a name back that the service reserved. */
  releaseName(service: string, name: string): Promise<void>;
  /**
   * Replaces all reservations of a service by those that it has; call it at its start. Names that an account or another
   * service has already are reserved nevertheless, so that nothing new collides.
   * @returns the names that collide, for the service's health
   */
  synchronizeNames(service: string, reservations: readonly NameReservation[]): Promise<readonly string[]>;
  /**
   * Writes an event to the security log. Sign-ins through {@link authenticate}, {@link checkSecret} and {@link signIn} and
   * changes of accounts are recorded by the host already.
   */
  record(event: SecurityEvent): void;
  /**
   * Sets the one grant for exactly this pattern, or removes it where the permission is undefined; the others stay. Also
   * for {@link everyone}. @throws Problem `accounts.unknown` (404).
   */
  setGrant(name: string, service: string, resource: string, permission: Permission | undefined): Promise<void>;

  tokens(account: string): Promise<readonly AccessToken[]>;
  /** The account's own token of that text, also an expired one; undefined when it has none such. */
  findToken(account: string, text: string): Promise<AccessToken | undefined>;
  /**
   * `expiresAt` null: never. The returned text (`tk_` and 29 characters) is not stored and cannot be shown again.
   * `text` takes over a token that another server gave out, so that its clients go on working. With `scopes` it may only do
   * what they grant and the account may, too.
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
   * Checks name and password and opens a session. Its secret is shown only now.
   * @throws SecondFactorNeeded where the account has a second factor
   */
  signIn(
    name: string,
    password: string,
    from: { remoteAddress: string; userAgent: string },
  ): Promise<{ identity: Identity; secret: string }>;
  signOut(identity: Identity): Promise<void>;
  /** One set of factors for an account, which all sign-ins with its password ask for. */
  readonly factors: SecondFactors;
  /**
   * Lets a browser read one path of our API by its address alone, as pictures, players and downloads need it, for a day and
   * while the session lasts. The same for the same path within half a day, so that browsers may keep what they read.
   * @throws Problem `accounts.session_needed` (403) for who did not sign in on a page.
   */
  link(identity: Identity, path: string): string;
}
