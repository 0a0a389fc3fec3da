import type { Migration } from '../../contracts/service.ts';

/** The authority and what it issued last. Times are ms since the epoch. */
export interface CertificateRow {
  readonly kind: 'authority' | 'leaf';
  readonly certificate: string;
  /** Sealed by the vault. */
  readonly key: string;
  /** JSON list of the names and addresses that it is for; of the authority the names besides `.local`. */
  readonly names: string;
  readonly made_at: number;
  readonly expires_at: number;
}

/** A sign-in on a page of the gateway, by the id of its session. */
export interface SessionRow {
  readonly id: string;
  readonly account: string;
  readonly host: string;
  readonly address: string;
  readonly user_agent: string;
  readonly made_at: number;
}

/** Of an account whose sign-in asks for a code. */
export interface SecondFactorRow {
  readonly account: string;
  /** Sealed by the vault. */
  readonly secret: string;
  /** 0 until a first code was given. */
  readonly confirmed: number;
  /** JSON list of fingerprints of the codes on paper that are left. */
  readonly recovery: string;
  /** Codes up to this step have been used. */
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
