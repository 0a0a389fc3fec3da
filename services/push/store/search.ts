import { sql, type Kysely, type RawBuilder } from 'kysely';
import { executeCached } from '../../kit/cached-statement.ts';
import { isPostgres } from '../../kit/dialect.ts';
import type { Phrase } from '../../kit/search-terms.ts';
import { toFtsMatch, toTsQuery, toTsVector } from '../../kit/word-queries.ts';

interface Tables {
  messages: { seq: number; id: string; topic: string; time: number; expires: number; text: string };
  message_words: { seq: number };
  message_sequences: { seq: number; topic: string; sequence: string };
}

/** Number of a message and the words by which it is found. */
export interface IndexEntry {
  readonly seq: number;
  readonly words: readonly string[];
}

/** Search criteria. Numbers are between `from` and `before`, both exclusive; times are unix seconds. */
export interface SearchCriteria {
  readonly phrases: readonly Phrase[];
  readonly from: number;
  readonly before: number;
  /** Undefined for all topics. */
  readonly topics: readonly string[] | undefined;
  readonly since: number;
  readonly until: number;
  readonly now: number;
  readonly limit: number;
}

export interface SearchRow {
  readonly seq: number;
  readonly text: string;
}

/**
 * Search index of cached messages: a contentless full-text table in SQLite, an indexed vector in PostgreSQL. Words are
 * folded by the caller, so both databases return the same results.
 */
export class SearchStore {
  readonly #db: Kysely<Tables>;
  readonly #postgres: boolean;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
    this.#postgres = isPostgres(db);
  }

  async add(transaction: Kysely<Tables>, messages: readonly IndexEntry[]): Promise<void> {
    const rows = messages.filter(({ words }) => words.length > 0);
    if (rows.length === 0) return;
    if (this.#postgres) {
      const json = JSON.stringify(rows.map(({ seq, words }) => [seq, toTsVector(words)]));
      await sql`
        insert into message_words (seq, words)
        select (row->>0)::bigint, (row->>1)::tsvector from json_array_elements(${json}::json) as row
        on conflict do nothing`.execute(transaction);
    } else {
      const json = JSON.stringify(rows.map(({ seq, words }) => [seq, words.join(' ')]));
      const statement = sql`
        insert into message_words (rowid, words)
        select json_extract(value, '$[0]'), json_extract(value, '$[1]') from json_each(${json})`;
      await executeCached(transaction, 'push.words', [json], () => statement.compile(transaction));
    }
  }

  async remove(transaction: Kysely<Tables>, seqs: readonly number[]): Promise<void> {
    if (seqs.length === 0) return;
    const json = JSON.stringify(seqs);
    if (this.#postgres) {
      const list = sql`(select value::bigint from json_array_elements_text(${json}::json))`;
      await sql`delete from message_words where seq in ${list}`.execute(transaction);
      await sql`delete from message_sequences where seq in ${list}`.execute(transaction);
    } else {
      const list = sql`(select value from json_each(${json}))`;
      await sql`delete from message_words where rowid in ${list}`.execute(transaction);
      await sql`delete from message_sequences where seq in ${list}`.execute(transaction);
    }
  }

  /** Records the sequences of messages. */
  async addSequences(transaction: Kysely<Tables>, rows: readonly Tables['message_sequences'][]): Promise<void> {
    if (rows.length > 0) await transaction.insertInto('message_sequences').values(rows).execute();
  }

  /** Returns the messages of a sequence, including the first one, whose id is the sequence id. */
  async findBySequence(transaction: Kysely<Tables>, topic: string, sequence: string): Promise<readonly number[]> {
    const later = await transaction
      .selectFrom('message_sequences')
      .select('seq')
      .where('topic', '=', topic)
      .where('sequence', '=', sequence)
      .execute();
    const first = await transaction
      .selectFrom('messages')
      .select('seq')
      .where('id', '=', sequence)
      .where('topic', '=', topic)
      .execute();
    return [...later, ...first].map(({ seq }) => seq);
  }

  /** Returns matching messages, newest first; without phrases all messages match. */
  async find(criteria: SearchCriteria): Promise<readonly SearchRow[]> {
    const { from, before, topics, since, until, now, limit } = criteria;
    let query = this.#db
      .selectFrom('messages')
      .select(['messages.seq', 'messages.text'])
      .where('messages.expires', '>', now)
      .where('messages.time', '>=', since)
      .where('messages.time', '<=', until)
      .limit(limit);
    if (topics !== undefined) query = query.where('messages.topic', 'in', topics);
    if (criteria.phrases.length === 0) {
      const range = query.where('messages.seq', '>', from).where('messages.seq', '<', before);
      return range.orderBy('messages.seq', 'desc').execute();
    }
    // Uses the numbers of the word table in every condition, so that the word index drives the join.
    const number = this.#number();
    return query
      .innerJoin('message_words', (join) => join.on(number, '=', sql.ref('messages.seq')))
      .where(this.#matches(criteria.phrases))
      .where(sql<boolean>`${number} > ${from} and ${number} < ${before}`)
      .orderBy(number, 'desc')
      .execute();
  }

  /** Returns the oldest and the newest cached number. */
  async bounds(): Promise<{ readonly first: number; readonly last: number } | undefined> {
    const endRows = await Promise.all(
      (['asc', 'desc'] as const).map((order) =>
        this.#db.selectFrom('messages').select('seq').orderBy('seq', order).limit(1).executeTakeFirst(),
      ),
    );
    const [first, last] = endRows.map((row) => row?.seq);
    return first === undefined || last === undefined ? undefined : { first, last };
  }

  /** Returns the topics of all cached messages with one index look-up per topic. */
  async topics(): Promise<readonly string[]> {
    const { rows } = await sql<{ topic: string }>`
      with recursive each(topic) as (
        select min(topic) from messages
        union all
        select (select min(messages.topic) from messages where messages.topic > each.topic)
        from each where each.topic is not null
      )
      select topic from each where topic is not null`.execute(this.#db);
    return rows.map(({ topic }) => topic);
  }

  #number(): RawBuilder<number> {
    return sql<number>`message_words.${sql.ref(this.#postgres ? 'seq' : 'rowid')}`;
  }

  #matches(phrases: readonly Phrase[]): RawBuilder<boolean> {
    if (!this.#postgres) return sql<boolean>`message_words match ${toFtsMatch(phrases)}`;
    return sql<boolean>`message_words.words @@ ${toTsQuery(phrases)}::tsquery`;
  }
}
