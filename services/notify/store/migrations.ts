import type { Kysely } from 'kysely';
import type { Migration } from '../../contracts/service.ts';
import { attachmentTable } from './attachments.ts';
import { deliveryCodes, remarkCodes } from './delivery-codes.ts';
import { deliveryPlans } from './delivery-plans.ts';
import { deliveryProgress } from './delivery-progress.ts';
import { escalations } from './escalations.ts';
import { engineUrls } from './engine-urls.ts';
import { destinationHealth, destinationHealthCodes } from './health.ts';
import { keyOptions } from './key-options.ts';
import { keySecret } from './key-secret.ts';
import { notificationSearchIndex } from './search-index.ts';

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
    // The preset key contains no secret, so it needs no seal, which migrations cannot create.
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
    // The health of a destination is derived from its latest deliveries.
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
  attachmentTable,
  deliveryPlans,
  escalations,
  keySecret,
  deliveryProgress,
  engineUrls,
  destinationHealth,
  deliveryCodes,
  notificationSearchIndex,
  destinationHealthCodes,
  remarkCodes,
];
