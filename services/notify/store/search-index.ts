import { sql, type Kysely, type RawBuilder } from 'kysely';
import { isPostgres } from '../../kit/dialect.ts';
import { foldTerms, type Phrase } from '../../kit/search-terms.ts';
import { ftsTokenizer, toFtsMatch, toTsQuery, toTsVector } from '../../kit/word-queries.ts';
import type { Migration } from '../../contracts/service.ts';

/** Maximum number of characters of a notification that are searchable. */
const maxIndexedLength = 32_000;
/** Maximum number of notifications per statement. */
const batchSize = 200;
/** On a server, another host may commit a number after a higher one. Missing numbers are searched this far back. */
const maxNumberGap = 1000;

/**
 * Tables for the full-text search: a stable number for each notification, and its words: on SQLite a contentless
 * full-text table, on PostgreSQL a vector with an index. Triggers assign and delete numbers, so that accepting a
 * notification stays cheap; words are added later.
 */
export const notificationSearchIndex: Migration = {
  name: '013-index-notice-words',
  async up(db) {
    await db.schema
      .createTable('notice_numbers')
      .addColumn('number', 'integer', (column) => column.primaryKey().autoIncrement())
      .addColumn('notice_id', 'text', (column) =>
        column.notNull().unique().references('notices.id').onDelete('cascade'),
      )
      .execute();
    await sql`insert into notice_numbers (notice_id) select id from notices order by created_at, id`.execute(db);
    if (isPostgres(db)) {
      await sql`
        create table notice_words (
          number bigint primary key references notice_numbers (number) on delete cascade, words tsvector not null
        )`.execute(db);
      await sql`create index notice_words_words on notice_words using gin (words)`.execute(db);
      await sql`
        create function number_notice() returns trigger language plpgsql as $$
        begin
          insert into notice_numbers (notice_id) values (new.id);
          return null;
        end $$`.execute(db);
      await sql`
        create trigger notices_number after insert on notices for each row execute function number_notice()`.execute(
        db,
      );
    } else {
      await sql`
        create virtual table notice_words using fts5(
          words, content = '', contentless_delete = 1, tokenize = ${sql.raw(ftsTokenizer)}
        )`.execute(db);
      await sql`
        create trigger notices_number after insert on notices begin
          insert into notice_numbers (notice_id) values (new.id);
        end`.execute(db);
      await sql`
        create trigger notice_numbers_forget after delete on notice_numbers begin
          delete from notice_words where rowid = old.number;
        end`.execute(db);
    }
  },
};

/** Full-text index of notifications. */
export class NotificationSearchIndex {
  readonly #postgres: boolean;

  constructor(db: Kysely<any>) {
    this.#postgres = isPostgres(db);
  }

  /** Indexes the oldest notifications that are not indexed yet. Returns true if there may be more. */
  async indexNext(transaction: Kysely<any>): Promise<boolean> {
    const numberColumn = this.#number();
    const { rows } = await sql<{ number: number; text: string }>`
      select notice_numbers.number, substr(notices.title || ${'\n'} || notices.body, 1, ${maxIndexedLength}) as text
      from notice_numbers join notices on notices.id = notice_numbers.notice_id
      where notice_numbers.number > coalesce(
          (select ${numberColumn} from notice_words order by ${numberColumn} desc limit 1), 0) - ${sql.lit(maxNumberGap)}
        and not exists (select 1 from notice_words where ${numberColumn} = notice_numbers.number)
      order by notice_numbers.number limit ${sql.lit(batchSize)}`.execute(transaction);
    if (rows.length === 0) return false;
    const indexedTerms = rows.map((row): [number, readonly string[]] => [Number(row.number), foldTerms(row.text)]);
    if (this.#postgres) {
      const json = JSON.stringify(indexedTerms.map(([each, terms]) => [each, toTsVector(terms)]));
      await sql`
        insert into notice_words (number, words)
        select (row->>0)::bigint, (row->>1)::tsvector from json_array_elements(${json}::json) as row
        on conflict do nothing`.execute(transaction);
    } else {
      const json = JSON.stringify(indexedTerms.map(([each, terms]) => [each, terms.join(' ')]));
      await sql`
        insert into notice_words (rowid, words)
        select json_extract(value, '$[0]'), json_extract(value, '$[1]') from json_each(${json})`.execute(transaction);
    }
    return rows.length === batchSize;
  }

  /** Builds a condition that matches notifications with all phrases. */
  buildCondition(phrases: readonly Phrase[]): RawBuilder<boolean> {
    const matches = this.#postgres
      ? sql`notice_words.words @@ ${toTsQuery(phrases)}::tsquery`
      : sql`notice_words match ${toFtsMatch(phrases)}`;
    return sql<boolean>`notices.id in (
      select notice_numbers.notice_id from notice_words
      join notice_numbers on notice_numbers.number = ${this.#number()} where ${matches})`;
  }

  #number(): RawBuilder<number> {
    return sql<number>`notice_words.${sql.ref(this.#postgres ? 'number' : 'rowid')}`;
  }
}
