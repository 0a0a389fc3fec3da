import type { Migration } from '../../contracts/service.ts';
import { repeatMigration } from './repeats.ts';
import { wordMigration } from './item-search-terms.ts';

export const migrations: readonly Migration[] = [
  {
    name: '001-create-items',
    async up(db) {
      await db.schema
        .createTable('items')
        .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
        .addColumn('title', 'text', (column) => column.notNull())
        .addColumn('body', 'text', (column) => column.notNull())
        .addColumn('format', 'text', (column) => column.notNull())
        .addColumn('priority', 'integer', (column) => column.notNull())
        .addColumn('tags', 'text', (column) => column.notNull())
        .addColumn('source', 'text', (column) => column.notNull())
        .addColumn('topic', 'text', (column) => column.notNull())
        .addColumn('link', 'text')
        .addColumn('time', 'integer', (column) => column.notNull())
        .addColumn('read', 'integer', (column) => column.notNull())
        .addColumn('done', 'integer', (column) => column.notNull())
        .addColumn('search', 'text', (column) => column.notNull())
        .execute();
      // Indexes for the list, the number of unread rows, one source, all sources, and retention.
      await db.schema.createIndex('items_list').on('items').columns(['done', 'id']).execute();
      await db.schema.createIndex('items_unread').on('items').columns(['done', 'read']).execute();
      await db.schema.createIndex('items_source').on('items').columns(['source', 'id']).execute();
      await db.schema.createIndex('items_time').on('items').column('time').execute();
      // Keys are stored longer than rows, so that a deleted message does not return when it is offered again.
      await db.schema
        .createTable('offers')
        .addColumn('key', 'text', (column) => column.primaryKey().notNull())
        .addColumn('time', 'integer', (column) => column.notNull())
        .execute();
      await db.schema.createIndex('offers_time').on('offers').column('time').execute();
    },
  },
  {
    name: '002-add-offered-item',
    async up(db) {
      await db.schema.alterTable('offers').addColumn('item', 'integer').execute();
      await db.schema.createIndex('offers_item').on('offers').column('item').execute();
    },
  },
  {
    name: '003-index-places',
    async up(db) {
      // Callers with limited access query the readable places on each request.
      await db.schema.createIndex('items_place').on('items').columns(['topic', 'source']).execute();
    },
  },
  {
    name: '004-create-feed-places',
    async up(db) {
      await db.schema
        .createTable('feed_places')
        .addColumn('feed', 'text', (column) => column.primaryKey().notNull())
        .addColumn('place', 'integer', (column) => column.notNull())
        .execute();
    },
  },
  wordMigration,
  repeatMigration,
  {
    name: '007-add-picture',
    async up(db) {
      await db.schema.alterTable('items').addColumn('picture', 'text').execute();
    },
  },
];
