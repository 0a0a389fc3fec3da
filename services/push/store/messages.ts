import type { Generated, Kysely } from 'kysely';
import { executeCached, chunkRows } from '../../kit/cached-statement.ts';
import { lockForInsert } from './feed.ts';
import { hidden, isReadByInbox } from './removal.ts';

interface Tables {
  messages: {
    seq: Generated<number>;
    id: string;
    topic: string;
    time: number;
    expires: number;
    text: string;
    inbox: string | null;
  };
  offers: { key: string; time: number };
  totals: { id: number; messages: number; seq: number };
}

/** Cached message. `seq` increases with each stored message; `text` is its JSON as it is sent to clients. */
export interface StoredMessage {
  readonly seq: number;
  readonly time: number;
  readonly text: string;
}

export interface NewMessage {
  readonly id: string;
  readonly topic: string;
  readonly time: number;
  /** Unix seconds, or {@link hidden}. */
  readonly expires: number;
  readonly text: string;
  /** Inbox fields that the text does not contain; undefined when the inbox does not store the message. */
  readonly inbox?: string | undefined;
}

/** Range of the cache. Times are unix seconds. */
export interface MessageRange {
  readonly topics: readonly string[];
  /** Excludes messages stored after this one. */
  readonly upTo: number;
  /** Excludes this message and those stored before it. */
  readonly from: number;
  /** Position of the last row already read: rows after it by time, then by `seq`. */
  readonly after: { readonly time: number; readonly seq: number };
  readonly now: number;
  readonly limit: number;
}

/** Message cache, publication keys and the total number of messages. */
export class MessageStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Stores messages in this order and returns the `seq` of each by id. */
  async insert(transaction: Kysely<Tables>, messages: readonly NewMessage[]): Promise<ReadonlyMap<string, number>> {
    const seqs = new Map<string, number>();
    if (messages.length === 0) return seqs;
    await lockForInsert(transaction);
    for (const chunk of chunkRows(messages)) {
      const rows = chunk.map(({ inbox = null, ...message }) => toRow(message, inbox));
      const build = () => transaction.insertInto('messages').values(rows).returning(['seq', 'id']).compile();
      const values = rows.flatMap((row) => Object.values(row));
      const inserted = await executeCached(transaction, `push.messages ${String(rows.length)}`, values, build);
      for (const { id, seq } of inserted.rows) seqs.set(id, seq);
    }
    return seqs;
  }

  /** Stores messages whose id does not exist yet and returns their `seq` by id. */
  async insertMissing(
    transaction: Kysely<Tables>,
    messages: readonly NewMessage[],
  ): Promise<ReadonlyMap<string, number>> {
    const rows = await transaction
      .insertInto('messages')
      .values(messages)
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning(['seq', 'id'])
      .execute();
    return new Map(rows.map((row) => [row.id, row.seq]));
  }

  /** Records publication keys and returns those that are new. */
  async claimKeys(transaction: Kysely<Tables>, keys: readonly string[], time: number): Promise<Set<string>> {
    if (keys.length === 0) return new Set();
    const rows = await transaction
      .insertInto('offers')
      .values(keys.map((key) => ({ key, time })))
      .onConflict((conflict) => conflict.doNothing())
      .returning('key')
      .execute();
    return new Set(rows.map((row) => row.key));
  }

  /** Returns the newest `seq`, or 0 when nothing is cached. */
  async top(db: Kysely<Tables> = this.#db): Promise<number> {
    const row = await db.selectFrom('messages').select('seq').orderBy('seq', 'desc').limit(1).executeTakeFirst();
    return row?.seq ?? 0;
  }

  /** Returns the topics of all cached messages. */
  async topics(): Promise<readonly string[]> {
    const rows = await this.#db.selectFrom('messages').select('topic').distinct().execute();
    return rows.map(({ topic }) => topic);
  }

  /** Returns the ids that are cached. */
  async existingIds(transaction: Kysely<Tables>, ids: readonly string[]): Promise<ReadonlySet<string>> {
    if (ids.length === 0) return new Set();
    const rows = await transaction.selectFrom('messages').select('id').where('id', 'in', ids).execute();
    return new Set(rows.map(({ id }) => id));
  }

  async findSeq(id: string): Promise<number | undefined> {
    const row = await this.#db
      .selectFrom('messages')
      .select('seq')
      .where('id', '=', id)
      .where('expires', '>', hidden)
      .executeTakeFirst();
    return row?.seq;
  }

  async read({ topics, upTo, from, after, now, limit }: MessageRange): Promise<readonly StoredMessage[]> {
    return this.#db
      .selectFrom('messages')
      .select(['seq', 'time', 'text'])
      .where('topic', 'in', topics)
      .where('time', '>=', after.time)
      .where((row) => row.or([row('time', '>', after.time), row('seq', '>', after.seq)]))
      .where('seq', '>', from)
      .where('seq', '<=', upTo)
      .where('expires', '>', now)
      .orderBy('time')
      .orderBy('seq')
      .limit(limit)
      .execute();
  }

  /** Returns the newest message of a topic. */
  async latest(topic: string, upTo: number, now: number): Promise<StoredMessage | undefined> {
    return this.#db
      .selectFrom('messages')
      .select(['seq', 'time', 'text'])
      .where('topic', '=', topic)
      .where('seq', '<=', upTo)
      .where('expires', '>', now)
      .orderBy('time', 'desc')
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst();
  }

  /**
   * Deletes up to `limit` expired messages that the inbox has read (`inboxCursor`) or does not store, and returns their
   * numbers.
   */
  async removeExpired(
    transaction: Kysely<Tables>,
    now: number,
    limit: number,
    inboxCursor: number,
  ): Promise<readonly number[]> {
    const due = transaction
      .selectFrom('messages')
      .select('seq')
      .where('expires', '<=', now)
      .orderBy('expires')
      .limit(limit);
    const rows = await transaction
      .deleteFrom('messages')
      .where('seq', 'in', due)
      .where((row) => isReadByInbox(row, inboxCursor, now))
      .returning('seq')
      .execute();
    return rows.map(({ seq }) => seq);
  }

  /** Deletes up to `limit` publication keys recorded before `time` and returns their number. */
  async removeOffers(transaction: Kysely<Tables>, time: number, limit: number): Promise<number> {
    const due = transaction.selectFrom('offers').select('key').where('time', '<', time).limit(limit);
    const result = await transaction.deleteFrom('offers').where('key', 'in', due).executeTakeFirst();
    return Number(result.numDeletedRows);
  }

  /** Returns the number of cached messages. */
  async count(): Promise<number> {
    const row = await this.#db
      .selectFrom('messages')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('expires', '>', hidden)
      .executeTakeFirstOrThrow();
    return Number(row.count);
  }

  /**
   * Returns the number of messages ever published: the saved total and the messages cached since, so that a crash loses
   * no cached message.
   */
  async total(): Promise<number> {
    const saved = await this.#db.selectFrom('totals').selectAll().where('id', '=', 1).executeTakeFirst();
    const later = await this.#db
      .selectFrom('messages')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('seq', '>', saved?.seq ?? 0)
      .where('expires', '>', hidden)
      .executeTakeFirstOrThrow();
    return (saved?.messages ?? 0) + Number(later.count);
  }

  /** Saves the total including the message with this `seq`. */
  async saveTotal(transaction: Kysely<Tables>, messages: number, seq: number): Promise<void> {
    await transaction
      .insertInto('totals')
      .values({ id: 1, messages, seq })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ messages, seq }))
      .execute();
  }
}

/** Returns the columns in a fixed order, so that the compiled statement can be reused. */
function toRow({ id, topic, time, expires, text }: NewMessage, inbox: string | null) {
  return { id, topic, time, expires, text, inbox };
}
