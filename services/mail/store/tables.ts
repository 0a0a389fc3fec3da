import type { ColumnType, Kysely } from 'kysely';
import type { Migration } from '../../contracts/service.ts';

export interface MessageTable {
  id: string;
  /** Envelope sender; empty for bounces. */
  sender: string;
  /** JSON list of the accepted envelope recipients. */
  recipients: string;
  size: number;
  /** JSON list of deliveries; the index is the part number. */
  deliveries: ColumnType<string, string | undefined, string>;
  /** Note about special handling; empty without one. */
  note: ColumnType<string, string | undefined, string>;
  /** Decoded subject; null for mails of older versions. */
  subject: ColumnType<string | null, string, string>;
  /** Sender, recipients and subject in lower case, for searching. */
  words: ColumnType<string, string, string>;
  /**
   * Identifies the same source with the same targets; null for mails without Message-ID, whose copies may be intended.
   */
  fingerprint: string | null;
  /** ms since the epoch; a big integer, which PostgreSQL's driver returns as text. */
  received_at: ColumnType<number | string, number, number>;
}

/** Small sources. */
interface SourceTable {
  /** Id of the message. */
  id: string;
  raw: Uint8Array;
}

export interface MailTables {
  messages: MessageTable;
  sources: SourceTable;
}

export const migrations: readonly Migration[] = [
  {
    name: '001-create-messages',
    async up(db: Kysely<any>) {
      await db.schema
        .createTable('messages')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('sender', 'text', (column) => column.notNull())
        .addColumn('recipients', 'text', (column) => column.notNull())
        .addColumn('size', 'integer', (column) => column.notNull())
        .addColumn('fingerprint', 'text')
        .addColumn('received_at', 'bigint', (column) => column.notNull())
        .execute();
      await db.schema.createIndex('messages_by_age').on('messages').column('received_at').execute();
      await db.schema.createIndex('messages_by_fingerprint').on('messages').column('fingerprint').execute();
    },
  },
  {
    name: '002-note-deliveries',
    async up(db: Kysely<any>) {
      for (const [name, empty] of [
        ['deliveries', '[]'],
        ['note', ''],
      ] as const) {
        await db.schema
          .alterTable('messages')
          .addColumn(name, 'text', (column) => column.notNull().defaultTo(empty))
          .execute();
      }
    },
  },
  {
    name: '003-note-subjects',
    async up(db: Kysely<any>) {
      await db.schema.alterTable('messages').addColumn('subject', 'text').execute();
      await db.schema
        .alterTable('messages')
        .addColumn('words', 'text', (column) => column.notNull().defaultTo(''))
        .execute();
    },
  },
  {
    name: '004-create-sources',
    async up(db: Kysely<any>) {
      // A separate table, so that lists and searches of messages do not read sources.
      await db.schema
        .createTable('sources')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('raw', 'blob', (column) => column.notNull())
        .execute();
    },
  },
];
