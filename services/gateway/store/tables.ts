import type { Migration } from '../../contracts/service.ts';

/**
 * Local certificate authority and its latest certificate, and the certificate of a public authority (`acme`). Times
 * are milliseconds since the epoch.
 */
export interface CertificateRow {
  readonly kind: 'authority' | 'leaf' | 'acme';
  readonly certificate: string;
  /** Sealed with the vault. */
  readonly key: string;
  /** JSON list of the names and addresses; for the authority, the names in addition to `.local`. */
  readonly names: string;
  readonly made_at: number;
  readonly expires_at: number;
}

/** Sign-in on a page of the gateway, by session ID. */
export interface SessionRow {
  readonly id: string;
  readonly account: string;
  readonly host: string;
  readonly address: string;
  readonly user_agent: string;
  readonly made_at: number;
}

/** Second factor of an account. */
export interface SecondFactorRow {
  readonly account: string;
  /** Sealed with the vault. */
  readonly secret: string;
  /** 0 until the first code was entered. */
  readonly confirmed: number;
  /** JSON list of fingerprints of unused recovery codes. */
  readonly recovery: string;
  /** Last time step whose code was used. */
  readonly last_step: number;
}

/** Account at a public certificate authority. */
export interface AcmeAccountRow {
  /** Address of the authority's directory. */
  readonly directory: string;
  /** Address of the account; empty until it is registered. */
  readonly url: string;
  /** Sealed with the vault. */
  readonly key: string;
}

/** Order of a certificate at a public authority; there is at most one, `current`. */
export interface AcmeOrderRow {
  readonly id: 'current';
  /** Keyed hash of the settings that the order was made with. */
  readonly settings: string;
  readonly stage: 'staging' | 'production';
  readonly phase: 'account' | 'order' | 'records' | 'propagation' | 'validation' | 'certificate' | 'done';
  /** `waiting`: for a record that the owner creates; `stopped`: no further attempt until the owner acts. */
  readonly state: 'due' | 'running' | 'waiting' | 'failed' | 'stopped' | 'done';
  /** Address of the order; empty until it was created. */
  readonly url: string;
  /** Key of the certificate, sealed with the vault; empty until the order is finalized. */
  readonly key: string;
  /** JSON list of the TXT records that exist or are being created. */
  readonly records: string;
  /** JSON of the settings of the DNS provider that has the records, sealed with the vault; empty without records. */
  readonly provider: string;
  /** Number of consecutive failed attempts. */
  readonly failures: number;
  /** JSON object with the code and values of the latest failure; empty without one. */
  readonly failure: string;
  /** Directory of the authority that issued the current certificate; empty without one. */
  readonly issued_by: string;
  /** Time of the next attempt or renewal; null for none. */
  readonly next_at: number | null;
  /** Start of the order. */
  readonly made_at: number;
}

export interface Tables {
  acme_accounts: AcmeAccountRow;
  acme_orders: AcmeOrderRow;
  second_factors: SecondFactorRow;
  sessions: SessionRow;
  certificates: CertificateRow;
}

export const migrations: readonly Migration[] = [
  {
    name: '001-create-certificates',
    async up(db) {
      await db.schema
        .createTable('certificates')
        .addColumn('kind', 'text', (column) => column.primaryKey().notNull())
        .addColumn('certificate', 'text', (column) => column.notNull())
        .addColumn('key', 'text', (column) => column.notNull())
        .addColumn('names', 'text', (column) => column.notNull())
        .addColumn('made_at', 'bigint', (column) => column.notNull())
        .addColumn('expires_at', 'bigint', (column) => column.notNull())
        .execute();
    },
  },
  {
    name: '002-create-sessions',
    async up(db) {
      await db.schema
        .createTable('sessions')
        .addColumn('id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('account', 'text', (column) => column.notNull())
        .addColumn('host', 'text', (column) => column.notNull())
        .addColumn('address', 'text', (column) => column.notNull())
        .addColumn('user_agent', 'text', (column) => column.notNull())
        .addColumn('made_at', 'bigint', (column) => column.notNull())
        .execute();
    },
  },
  {
    name: '003-create-second-factors',
    async up(db) {
      await db.schema
        .createTable('second_factors')
        .addColumn('account', 'text', (column) => column.primaryKey().notNull())
        .addColumn('secret', 'text', (column) => column.notNull())
        .addColumn('confirmed', 'integer', (column) => column.notNull())
        .addColumn('recovery', 'text', (column) => column.notNull())
        .addColumn('last_step', 'bigint', (column) => column.notNull())
        .execute();
    },
  },
  {
    name: '004-create-acme-orders',
    async up(db) {
      await db.schema
        .createTable('acme_accounts')
        .addColumn('directory', 'text', (column) => column.primaryKey().notNull())
        .addColumn('url', 'text', (column) => column.notNull())
        .addColumn('key', 'text', (column) => column.notNull())
        .execute();
      await db.schema
        .createTable('acme_orders')
        .addColumn('id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('settings', 'text', (column) => column.notNull())
        .addColumn('stage', 'text', (column) => column.notNull())
        .addColumn('phase', 'text', (column) => column.notNull())
        .addColumn('state', 'text', (column) => column.notNull())
        .addColumn('url', 'text', (column) => column.notNull())
        .addColumn('key', 'text', (column) => column.notNull())
        .addColumn('records', 'text', (column) => column.notNull())
        .addColumn('failures', 'integer', (column) => column.notNull())
        .addColumn('failure', 'text', (column) => column.notNull())
        .addColumn('issued_by', 'text', (column) => column.notNull())
        .addColumn('next_at', 'bigint')
        .addColumn('made_at', 'bigint', (column) => column.notNull())
        .execute();
    },
  },
  {
    name: '005-provider-of-records',
    async up(db) {
      await db.schema
        .alterTable('acme_orders')
        .addColumn('provider', 'text', (column) => column.notNull().defaultTo(''))
        .execute();
    },
  },
];
