import type { ColumnType, Kysely } from 'kysely';
import type { Migration } from '../../contracts/service.ts';

export interface MessageTable {
  id: string;
  /** Envelope sender; empty for bounces. */
  sender: string;
  /** JSON list of the accepted envelope recipients. */
  recipients: string;
  size: number;
  /** JSON list of deliveries; the place in it is the delivery's part number. */
  deliveries: ColumnType<string, string | undefined, string>;
  /** What the gateway did with it besides, as a sentence; empty for nothing. */
  note: ColumnType<string, string | undefined, string>;
  /** As a person reads it; null for a mail that came before it was noted. */
  subject: ColumnType<string | null, string, string>;
  /** Sender, recipients and subject in lower case, for searching. */
  words: ColumnType<string, string, string>;
  /** Same source to the same targets; null for a mail without Message-ID, of which a copy may be meant. */
  fingerprint: string | null;
  /** ms since the epoch; a big integer, which PostgreSQL's driver returns as text. */
  received_at: ColumnType<number | string, number, number>;
}

/** Sources that are small. */
interface SourceTable {
  /** Of its message. */
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
      // Not a column of the messages: lists and searches look at all of these and should not leaf through sources.
      await db.schema
        .createTable('sources')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('raw', 'blob', (column) => column.notNull())
        .execute();
    },
  },
];
