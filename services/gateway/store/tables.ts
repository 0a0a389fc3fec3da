import type { Migration } from '../../contracts/service.ts';

/** Certificate authority and its latest certificate. Times are milliseconds since the epoch. */
export interface CertificateRow {
  readonly kind: 'authority' | 'leaf';
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

export interface Tables {
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
];
