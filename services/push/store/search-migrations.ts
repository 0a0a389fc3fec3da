import { sql, type Kysely } from 'kysely';
import type { Migration } from '../../contracts/service.ts';
import { parseStoredMessage } from '../domain/stored-message.ts';
import { toSearchWords } from '../domain/search-terms.ts';
import { isPostgres } from '../../kit/dialect.ts';
import { SearchStore } from './search.ts';

const pageSize = 1000;

/** Creates the search index and adds the messages that are already cached. */
export const searchMigrations: readonly Migration[] = [
  {
    name: '032-create-search',
    async up(db) {
      if (isPostgres(db)) {
        await sql`create table message_words (seq bigint primary key, words tsvector not null)`.execute(db);
        await sql`create index message_words_words on message_words using gin (words)`.execute(db);
      } else {
        // The table stores only words, not the text, and rows can be deleted without the original words.
        await sql`
          create virtual table message_words using fts5(
            words, content = '', contentless_delete = 1,
            tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
          )`.execute(db);
      }
      await db.schema
        .createTable('message_sequences')
        .addColumn('seq', 'integer', (column) => column.primaryKey())
        .addColumn('topic', 'text', (column) => column.notNull())
        .addColumn('sequence', 'text', (column) => column.notNull())
        .execute();
      await db.schema
        .createIndex('message_sequences_sequence')
        .on('message_sequences')
        .columns(['topic', 'sequence'])
        .execute();
      await indexExisting(db);
    },
  },
];

async function indexExisting(db: Kysely<any>): Promise<void> {
  const store = new SearchStore(db);
  for (let last = 0; ;) {
    const rows: { seq: number; text: string }[] = await db
      .selectFrom('messages')
      .select(['seq', 'text'])
      .where('seq', '>', last)
      .orderBy('seq')
      .limit(pageSize)
      .execute();
    const messages = rows.map(({ seq, text }) => ({ seq, message: parseStoredMessage(text) }));
    await store.add(
      db,
      messages.map(({ seq, message }) => ({ seq, words: toSearchWords(message) })),
    );
    await store.addSequences(
      db,
      messages.flatMap(({ seq, message: { topic, sequence_id: sequence } }) =>
        sequence === undefined ? [] : [{ seq, topic, sequence }],
      ),
    );
    if (rows.length < pageSize) return;
    last = rows.at(-1)?.seq ?? last;
  }
}
