import type { ColumnType, Generated, Kysely } from 'kysely';
import type { Migration } from '../../contracts/service.ts';
import { attachmentsAndHops, type AttachmentTable } from './attachments.ts';
import { deliveryPlans } from './delivery-plans.ts';
import { deliveryProgress } from './delivery-progress.ts';
import { escalations, type EscalationTable } from './escalations.ts';
import { engineUrls, type EngineUrlTable } from './engine-urls.ts';
import { destinationHealth, type DestinationHealthTable } from './health.ts';
import { keyOptions } from './key-options.ts';
import { keySecret } from './key-secret.ts';
import { noticeWords } from './words.ts';

/** A big integer: PostgreSQL's driver returns it as text. */
type Milliseconds = ColumnType<number | string, number, number>;

export interface ConfigurationTable {
  key: string;
  format: string;
  /** The configuration as it was given; a seal of it unless `sealed` is 0. */
  body: string;
  sealed: number;
  /** JSON: what the owner chose for the key. */
  options: string;
  /** Sealed: what programs sign with; null for none. */
  secret: string | null;
  updated_at: Milliseconds;
}

export interface NoticeTable {
  id: string;
  /** Empty for a stateless call. */
  configuration: string;
  title: string;
  body: string;
  type: string;
  format: string;
  /** JSON list. */
  tags: string;
  link: string | null;
  /** How many files go with it. */
  files: number;
  /** How many aggregators passed it on before this one. */
  hops: number;
  /** What a repetition is told by; null where repetitions are sent. */
  fingerprint: string | null;
  source: string;
  created_at: Milliseconds;
}

export interface DeliveryTable {
  notice_id: string;
  destination_id: string;
  service: string;
  /** The destination's URL, sealed; empty once it is no longer needed. */
  sealed_url: string;
  /** The same with its passwords masked, sealed; plain where an older version wrote it. */
  shown_url: string;
  optional: number;
  /** The window whose notices come together; null when it comes alone. */
  digest: string | null;
  /** When it was accepted, where it counts against the rate of its destination. */
  rated_at: Milliseconds | null;
  state: 'waiting' | 'done' | 'dead';
  attempts: number;
  /** What the last attempt brought. */
  detail: string;
  /** JSON: what of several requests was confirmed; empty for nothing. */
  progress: Generated<string>;
  updated_at: Milliseconds;
}

export interface NotifyTables {
  configurations: ConfigurationTable;
  notices: NoticeTable;
  deliveries: DeliveryTable;
  attachments: AttachmentTable;
  escalations: EscalationTable;
  engine_urls: EngineUrlTable;
  destination_health: DestinationHealthTable;
}

export const migrations: readonly Migration[] = [
  {
    name: '001-create-notify',
    async up(db: Kysely<any>) {
      await db.schema
        .createTable('configurations')
        .addColumn('key', 'text', (column) => column.primaryKey())
        .addColumn('format', 'text', (column) => column.notNull())
        .addColumn('body', 'text', (column) => column.notNull())
        .addColumn('sealed', 'integer', (column) => column.notNull())
        .addColumn('updated_at', 'bigint', (column) => column.notNull())
        .execute();
      await db.schema
        .createTable('notices')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('configuration', 'text', (column) => column.notNull())
        .addColumn('title', 'text', (column) => column.notNull())
        .addColumn('body', 'text', (column) => column.notNull())
        .addColumn('type', 'text', (column) => column.notNull())
        .addColumn('format', 'text', (column) => column.notNull())
        .addColumn('tags', 'text', (column) => column.notNull())
        .addColumn('link', 'text')
        .addColumn('source', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .execute();
      await db.schema.createIndex('notices_by_age').on('notices').column('created_at').execute();
      await db.schema
        .createTable('deliveries')
        .addColumn('notice_id', 'text', (column) => column.notNull().references('notices.id').onDelete('cascade'))
        .addColumn('destination_id', 'text', (column) => column.notNull())
        .addColumn('service', 'text', (column) => column.notNull())
        .addColumn('sealed_url', 'text', (column) => column.notNull())
        .addColumn('shown_url', 'text', (column) => column.notNull())
        .addColumn('optional', 'integer', (column) => column.notNull())
        .addColumn('state', 'text', (column) => column.notNull())
        .addColumn('attempts', 'integer', (column) => column.notNull())
        .addColumn('detail', 'text', (column) => column.notNull())
        .addColumn('updated_at', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('deliveries_key', ['notice_id', 'destination_id'])
        .execute();
      await db.schema.createIndex('deliveries_by_state').on('deliveries').column('state').execute();
    },
  },
  {
    // The key that is there from the start. It holds no secret, so it needs no seal, which migrations could not make.
    name: '002-add-first-key',
    async up(db: Kysely<any>) {
      await db
        .insertInto('configurations')
        .values({
          key: 'aggregator',
          format: 'text',
          body: '# The inbox of this app and its own push server\ninbox://\npush://homeport\n',
          sealed: 0,
          updated_at: 0,
        })
        .execute();
    },
  },
  {
    // The health of a destination is its latest deliveries.
    name: '003-index-deliveries-by-destination',
    async up(db: Kysely<any>) {
      await db.schema
        .createIndex('deliveries_by_destination')
        .on('deliveries')
        .columns(['destination_id', 'updated_at'])
        .execute();
    },
  },
  keyOptions,
  attachmentsAndHops,
  deliveryPlans,
  escalations,
  keySecret,
  deliveryProgress,
  engineUrls,
  destinationHealth,
  noticeWords,
];
