import type { Migration } from '../../../services/contracts/service.ts';

/**
 * Times are ms since the epoch. PostgreSQL's driver may return bigints as text, so they are converted with `Number`.
 */
export interface AccountRow {
  readonly name: string;
  readonly kind: string;
  readonly role: string;
  readonly enabled: number;
  readonly description: string;
  readonly password_hash: string | null;
  readonly created_at: number;
  /** Language of the pages; absent until the person selects one. */
  readonly language?: string | null | undefined;
}

export interface GrantRow {
  readonly account: string;
  /** Order of the grants as set. */
  readonly position: number;
  readonly service: string;
  readonly resource: string;
  readonly permission: string;
}

export interface TokenRow {
  readonly id: string;
  readonly hash: string;
  readonly account: string;
  readonly label: string;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly last_used_at: number | null;
  readonly last_used_from: string | null;
  /** JSON list of grants, of which `none` denies. */
  readonly scopes: string | null;
}

export interface SessionRow {
  readonly id: string;
  readonly hash: string;
  readonly account: string;
  readonly created_at: number;
  readonly expires_at: number;
  readonly used_at: number;
  readonly address: string;
  readonly user_agent: string;
  /** 0 for sessions opened by a provider, a trusted proxy or the desktop window instead of a password. */
  readonly by_password: number;
}

/** Declared object of the settings: an account, a grant (`<service> <pattern>`) or a token (its id). */
export interface DeclaredRow {
  readonly kind: 'account' | 'grant' | 'token';
  readonly account: string;
  readonly name: string;
  /** For accounts a digest of the declared password hash, to detect changes. */
  readonly value: string;
}

/** Name that a service uses in the namespace of the accounts. */
export interface ReservedNameRow {
  /** Lower case. */
  readonly lower_name: string;
  readonly name: string;
  readonly service: string;
  readonly kind: string;
}

/** Pending deletion or transfer of a removed account's data in one service. */
export interface ReleaseRow {
  readonly id: string;
  readonly account: string;
  readonly service: string;
  readonly action: string;
  /** Account or reserved name that receives the data; empty for deletion. */
  readonly target: string;
  /** Revision of the accounts at the removal: releases run in this order. */
  readonly revision: number;
  /** 1 after a failed attempt. */
  readonly failed: number;
}

/** Second factor of an account: an authenticator app and recovery codes. */
export interface SecondFactorRow {
  readonly account: string;
  /** Sealed by the vault. */
  readonly secret: string;
  /** 0 until the first code was confirmed. */
  readonly confirmed: number;
  /** JSON list of fingerprints of the unused recovery codes. */
  readonly recovery: string;
  /** Last time step whose code was used. */
  readonly last_step: number;
}

export interface PasskeyRow {
  /** Credential id, base64url. */
  readonly id: string;
  readonly account: string;
  readonly label: string;
  /** The relying party id: a host name, or the base name of the gateway. */
  readonly host: string;
  /** base64url */
  readonly public_key: string;
  readonly counter: number;
  /** JSON list. */
  readonly transports: string;
  readonly created_at: number;
  readonly last_used_at: number | null;
}

/** Unused one-time link. */
export interface OneTimeLinkRow {
  readonly id: string;
  /** SHA-256 of the token. */
  readonly hash: string;
  readonly kind: string;
  /** Account of a reset; proposed name of an invitation or empty. */
  readonly account: string;
  readonly role: string;
  /** JSON list of the grants of an invitation. */
  readonly grants: string;
  readonly removes_second_factor: number;
  readonly created_at: number;
  readonly expires_at: number;
  /** Administrator who created it; empty for the command line. */
  readonly created_by: string;
}

/**
 * User of an OpenID provider who has an account. Assignments in the settings have rows of their own, so that an
 * assignment to another account does not replace the account that the user has without it.
 */
export interface ProviderIdentityRow {
  readonly issuer: string;
  readonly subject: string;
  readonly account: string;
  /**
   * How the user got the account: `created` by the first sign-in; by the `name` that the provider reported; or
   * `assigned` in the settings, which links the user only as long as the settings say so.
   */
  readonly link: string;
  /** `admin` when the groups of the user assigned this role, else empty. */
  readonly role: string;
  /** JSON list of the grants that the groups of the user added. */
  readonly grants: string;
  readonly created_at: number;
}

export interface Tables {
  accounts: AccountRow;
  grants: GrantRow;
  tokens: TokenRow;
  sessions: SessionRow;
  declared: DeclaredRow;
  reserved_names: ReservedNameRow;
  releases: ReleaseRow;
  second_factors: SecondFactorRow;
  passkeys: PasskeyRow;
  one_time_links: OneTimeLinkRow;
  provider_identities: ProviderIdentityRow;
  /** Single row. Every change increments it first, which also serializes changes on any database. */
  revision: { readonly id: number; readonly value: number };
  /** At most one row: hash of the valid set-up code. */
  setup: { readonly id: number; readonly code_hash: string };
}

export const accountsMigrations: readonly Migration[] = [
  {
    name: '001-create-accounts',
    async up(db) {
      await db.schema
        .createTable('accounts')
        .addColumn('name', 'text', (column) => column.primaryKey())
        .addColumn('kind', 'text', (column) => column.notNull())
        .addColumn('role', 'text', (column) => column.notNull())
        .addColumn('enabled', 'integer', (column) => column.notNull())
        .addColumn('description', 'text', (column) => column.notNull())
        .addColumn('password_hash', 'text')
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .execute();
      await db.schema
        .createTable('grants')
        .addColumn('account', 'text', (column) => column.notNull())
        .addColumn('position', 'integer', (column) => column.notNull())
        .addColumn('service', 'text', (column) => column.notNull())
        .addColumn('resource', 'text', (column) => column.notNull())
        .addColumn('permission', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('grants_key', ['account', 'position'])
        .execute();
      await db.schema
        .createTable('tokens')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('hash', 'text', (column) => column.notNull().unique())
        .addColumn('account', 'text', (column) => column.notNull())
        .addColumn('label', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('expires_at', 'bigint')
        .addColumn('last_used_at', 'bigint')
        .addColumn('last_used_from', 'text')
        .execute();
      await db.schema.createIndex('tokens_account').on('tokens').column('account').execute();
      await db.schema
        .createTable('sessions')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('hash', 'text', (column) => column.notNull().unique())
        .addColumn('account', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('expires_at', 'bigint', (column) => column.notNull())
        .addColumn('used_at', 'bigint', (column) => column.notNull())
        .addColumn('address', 'text', (column) => column.notNull())
        .addColumn('user_agent', 'text', (column) => column.notNull())
        .execute();
      await db.schema.createIndex('sessions_account').on('sessions').column('account').execute();
      await db.schema
        .createTable('revision')
        .addColumn('id', 'integer', (column) => column.primaryKey())
        .addColumn('value', 'bigint', (column) => column.notNull())
        .execute();
      await db.insertInto('revision').values({ id: 1, value: 0 }).execute();
      await db.schema
        .createTable('setup')
        .addColumn('id', 'integer', (column) => column.primaryKey())
        .addColumn('code_hash', 'text', (column) => column.notNull())
        .execute();
    },
  },
  {
    // Their secrets were in cookies, which other programs on this computer could read.
    name: '002-end-sessions-of-cookies',
    async up(db) {
      await db.deleteFrom('sessions').execute();
    },
  },
  {
    name: '003-create-declared',
    async up(db) {
      await db.schema
        .createTable('declared')
        .addColumn('kind', 'text', (column) => column.notNull())
        .addColumn('account', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('value', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('declared_key', ['kind', 'account', 'name'])
        .execute();
    },
  },
  {
    name: '004-add-token-scopes',
    async up(db) {
      await db.schema.alterTable('tokens').addColumn('scopes', 'text').execute();
    },
  },
  {
    name: '005-create-reserved-names-and-releases',
    async up(db) {
      await db.schema
        .createTable('reserved_names')
        .addColumn('lower_name', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('service', 'text', (column) => column.notNull())
        .addColumn('kind', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('reserved_names_key', ['lower_name', 'service'])
        .execute();
      await db.schema
        .createTable('releases')
        .addColumn('id', 'text', (column) => column.notNull())
        .addColumn('account', 'text', (column) => column.notNull())
        .addColumn('service', 'text', (column) => column.notNull())
        .addColumn('action', 'text', (column) => column.notNull())
        .addColumn('target', 'text', (column) => column.notNull())
        .addColumn('revision', 'bigint', (column) => column.notNull())
        .addColumn('failed', 'integer', (column) => column.notNull())
        .addPrimaryKeyConstraint('releases_key', ['id', 'service'])
        .execute();
    },
  },
  {
    name: '006-create-second-factors',
    async up(db) {
      await db.schema
        .createTable('second_factors')
        .addColumn('account', 'text', (column) => column.primaryKey().notNull())
        .addColumn('secret', 'text', (column) => column.notNull())
        .addColumn('confirmed', 'integer', (column) => column.notNull())
        .addColumn('recovery', 'text', (column) => column.notNull())
        .addColumn('last_step', 'bigint', (column) => column.notNull())
        .execute();
      await db.schema
        .createTable('passkeys')
        .addColumn('id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('account', 'text', (column) => column.notNull())
        .addColumn('label', 'text', (column) => column.notNull())
        .addColumn('host', 'text', (column) => column.notNull())
        .addColumn('public_key', 'text', (column) => column.notNull())
        .addColumn('counter', 'bigint', (column) => column.notNull())
        .addColumn('transports', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('last_used_at', 'bigint')
        .execute();
      await db.schema.createIndex('passkeys_account').on('passkeys').column('account').execute();
    },
  },
  {
    // The origin of earlier sessions is unknown, so they are treated like sign-ins with a password.
    name: '007-add-by-password-to-sessions',
    async up(db) {
      await db.schema
        .alterTable('sessions')
        .addColumn('by_password', 'integer', (column) => column.notNull().defaultTo(1))
        .execute();
    },
  },
  {
    name: '008-add-language-to-accounts',
    async up(db) {
      await db.schema.alterTable('accounts').addColumn('language', 'text').execute();
    },
  },
  {
    name: '009-create-one-time-links',
    async up(db) {
      await db.schema
        .createTable('one_time_links')
        .addColumn('id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('hash', 'text', (column) => column.notNull().unique())
        .addColumn('kind', 'text', (column) => column.notNull())
        .addColumn('account', 'text', (column) => column.notNull())
        .addColumn('role', 'text', (column) => column.notNull())
        .addColumn('grants', 'text', (column) => column.notNull())
        .addColumn('removes_second_factor', 'integer', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('expires_at', 'bigint', (column) => column.notNull())
        .addColumn('created_by', 'text', (column) => column.notNull())
        .execute();
    },
  },
  {
    name: '010-create-provider-identities',
    async up(db) {
      await db.schema
        .createTable('provider_identities')
        .addColumn('issuer', 'text', (column) => column.notNull())
        .addColumn('subject', 'text', (column) => column.notNull())
        .addColumn('account', 'text', (column) => column.notNull())
        .addColumn('link', 'text', (column) => column.notNull())
        .addColumn('role', 'text', (column) => column.notNull())
        .addColumn('grants', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('provider_identities_key', ['issuer', 'subject'])
        .execute();
    },
  },
  {
    // An assignment to another account overwrote the row of the account that belongs to the user.
    name: '011-add-account-to-key-of-provider-identities',
    async up(db) {
      await db.schema.alterTable('provider_identities').renameTo('former_provider_identities').execute();
      await db.schema
        .createTable('provider_identities')
        .addColumn('issuer', 'text', (column) => column.notNull())
        .addColumn('subject', 'text', (column) => column.notNull())
        .addColumn('account', 'text', (column) => column.notNull())
        .addColumn('link', 'text', (column) => column.notNull())
        .addColumn('role', 'text', (column) => column.notNull())
        .addColumn('grants', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('provider_identities_account_key', ['issuer', 'subject', 'account'])
        .execute();
      const columns = ['issuer', 'subject', 'account', 'link', 'role', 'grants', 'created_at'] as const;
      await db
        .insertInto('provider_identities')
        .columns(columns)
        .expression((query) => query.selectFrom('former_provider_identities').select(columns))
        .execute();
      await db.schema.dropTable('former_provider_identities').execute();
    },
  },
];
