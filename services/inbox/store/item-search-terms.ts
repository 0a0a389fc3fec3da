import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Migration } from '../../contracts/service.ts';
import { isPostgres } from '../../kit/dialect.ts';
import { foldTerms, type Phrase } from '../../kit/search-terms.ts';
import { ftsTokenizer, toFtsMatch, toTsQuery, toTsVector } from '../../kit/word-queries.ts';

/** Maximum number of characters of a row that are indexed. */
const maxIndexedLength = 32_000;
/** Maximum number of rows indexed by one statement. */
const batchSize = 200;
/** Another host may commit a lower id after a higher one, so this many recent rows are checked for missing words. */
const recheckedRows = 1000;

/**
 * Words of each row: a contentless full-text table in SQLite, an indexed vector in PostgreSQL. Rows are indexed later,
 * many at once. Rows of older versions, up to the id in `item_words_backlog`, are indexed from the newest to the
 * oldest; until then a search uses their column `search`, which is cleared afterwards.
 */
export const wordMigration: Migration = {
  name: '005-index-words',
  async up(db) {
    if (isPostgres(db)) {
      await sql`
        create table item_words (
          item bigint primary key references items (id) on delete cascade, words tsvector not null
        )`.execute(db);
      await sql`create index item_words_words on item_words using gin (words)`.execute(db);
    } else {
      await sql`
        create virtual table item_words using fts5(
          words, content = '', contentless_delete = 1, tokenize = ${sql.raw(ftsTokenizer)}
        )`.execute(db);
      await sql`
        create trigger items_forget_words after delete on items begin
          delete from item_words where rowid = old.id;
        end`.execute(db);
    }
    await db.schema
      .createTable('item_words_backlog')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('item', 'integer', (column) => column.notNull())
      .execute();
    await sql`
      insert into item_words_backlog (id, item)
      select 1, max(id) from items having max(id) is not null`.execute(db);
  },
};

interface Row {
  readonly id: number;
  readonly text: string;
}

/** Index of the words of rows. */
export class ItemWords {
  readonly #postgres: boolean;
  /** Id of the inbox row of an entry in `item_words`. */
  readonly number: RawBuilder<number>;

  constructor(db: Kysely<any>) {
    this.#postgres = isPostgres(db);
    this.number = sql<number>`item_words.${sql.ref(this.#postgres ? 'item' : 'rowid')}`;
  }

  /** Returns true when rows are not indexed yet. */
  async hasNew(db: Kysely<any>): Promise<boolean> {
    return (await this.#newRows(db, 1)).length > 0;
  }

  /** Indexes new rows, oldest first. Returns true when there may be more. */
  async addNew(transaction: Kysely<any>): Promise<boolean> {
    const rows = await this.#newRows(transaction, batchSize);
    await this.#add(transaction, rows);
    return rows.length === batchSize;
  }

  /** Returns the newest row of older versions that is not indexed yet; undefined when all are. */
  async backlog(db: Kysely<any>): Promise<number | undefined> {
    const { rows } = await sql<{ item: number }>`select item from item_words_backlog`.execute(db);
    return rows[0] && Number(rows[0].item);
  }

  /** Indexes some rows of older versions. Returns false when none is left. */
  async addOld(transaction: Kysely<any>): Promise<boolean> {
    const from = await this.backlog(transaction);
    if (from === undefined) return false;
    const { rows } = await sql<Row>`
      select id, substr(title || ${'\n'} || body, 1, ${maxIndexedLength}) as text
      from items
      where id <= ${from} and not exists (select 1 from item_words where ${this.number} = items.id)
      order by id desc limit ${sql.lit(batchSize)}`.execute(transaction);
    await this.#add(transaction, rows);
    const last = rows.at(-1)?.id;
    if (last === undefined) {
      await sql`delete from item_words_backlog`.execute(transaction);
      return false;
    }
    await sql`update items set search = '' where id between ${last} and ${from}`.execute(transaction);
    await sql`update item_words_backlog set item = ${last - 1}`.execute(transaction);
    return true;
  }

  /** Matches entries that contain all phrases. */
  match(phrases: readonly Phrase[]): RawBuilder<boolean> {
    return this.#postgres
      ? sql<boolean>`item_words.words @@ ${toTsQuery(phrases)}::tsquery`
      : sql<boolean>`item_words match ${toFtsMatch(phrases)}`;
  }

  async #newRows(db: Kysely<any>, limit: number): Promise<readonly Row[]> {
    const { rows } = await sql<Row>`
      select id, substr(title || ${'\n'} || body, 1, ${maxIndexedLength}) as text
      from items
      where id > coalesce((select ${this.number} from item_words order by ${this.number} desc limit 1), 0)
          - ${sql.lit(this.#postgres ? recheckedRows : 0)}
        and id > coalesce((select item from item_words_backlog), 0)
        and not exists (select 1 from item_words where ${this.number} = items.id)
      order by id limit ${limit}`.execute(db);
    return rows;
  }

  async #add(transaction: Kysely<any>, rows: readonly Row[]): Promise<void> {
    if (rows.length === 0) return;
    const entries = rows.map(({ id, text }): [number, readonly string[]] => [Number(id), foldTerms(text)]);
    if (this.#postgres) {
      const json = JSON.stringify(entries.map(([id, rowWords]) => [id, toTsVector(rowWords)]));
      await sql`
        insert into item_words (item, words)
        select (row->>0)::bigint, (row->>1)::tsvector from json_array_elements(${json}::json) as row
        on conflict do nothing`.execute(transaction);
    } else {
      const json = JSON.stringify(entries.map(([id, rowWords]) => [id, rowWords.join(' ')]));
      await sql`
        insert into item_words (rowid, words)
        select json_extract(value, '$[0]'), json_extract(value, '$[1]') from json_each(${json})`.execute(transaction);
    }
  }
}
