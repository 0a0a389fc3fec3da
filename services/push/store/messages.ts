import type { Generated, Kysely } from 'kysely';
import { executeCached, chunkRows } from '../../kit/cached-statement.ts';
import { announceInsert } from './feed.ts';
import { hidden, isTaken } from './removal.ts';

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

/** A cached message. `seq` grows with each one that is stored; `text` is its JSON as it goes over the wire. */
export interface StoredMessage {
  readonly seq: number;
  readonly time: number;
  readonly text: string;
}

export interface NewMessage {
  readonly id: string;
  readonly topic: string;
  readonly time: number;
  /** Or {@link hidden}. */
  readonly expires: number;
  readonly text: string;
  /** What the inbox shows of it beyond its own text; undefined: it is not meant for the inbox. */
  readonly inbox?: string | undefined;
}

/** A stretch of the cache; times in unix seconds. */
export interface Stretch {
  readonly topics: readonly string[];
  /** What was stored after this one is left out. */
  readonly upTo: number;
  /** What was stored before or at this one is left out. */
  readonly from: number;
  /** The last row that is known, or where to begin: rows after it by time, then by `seq`. */
  readonly after: { readonly time: number; readonly seq: number };
  readonly now: number;
  readonly limit: number;
}

/** The message cache, the keys of offers that were taken, and the count of all messages. */
export class MessageStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Stores messages in this order; answers the `seq` of each by its id. */
  async insert(transaction: Kysely<Tables>, messages: readonly NewMessage[]): Promise<ReadonlyMap<string, number>> {
    const seqs = new Map<string, number>();
    if (messages.length === 0) return seqs;
    await announceInsert(transaction);
    for (const some of chunkRows(messages)) {
      const rows = some.map(({ inbox = null, ...message }) => columns(message, inbox));
      const build = () => transaction.insertInto('messages').values(rows).returning(['seq', 'id']).compile();
      const values = rows.flatMap((row) => Object.values(row));
      const inserted = await executeCached(transaction, `push.messages ${String(rows.length)}`, values, build);
      for (const { id, seq } of inserted.rows) seqs.set(id, seq);
    }
    return seqs;
  }

  /** Stores those whose id is not there yet; answers the `seq` of each of them by its id. */
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

  /** Marks keys as taken; answers those that were not before. */
  async take(transaction: Kysely<Tables>, keys: readonly string[], time: number): Promise<Set<string>> {
    if (keys.length === 0) return new Set();
    const rows = await transaction
      .insertInto('offers')
      .values(keys.map((key) => ({ key, time })))
      .onConflict((conflict) => conflict.doNothing())
      .returning('key')
      .execute();
    return new Set(rows.map((row) => row.key));
  }

  /** The newest `seq`, 0 when nothing is cached. */
  async top(db: Kysely<Tables> = this.#db): Promise<number> {
    const row = await db.selectFrom('messages').select('seq').orderBy('seq', 'desc').limit(1).executeTakeFirst();
    return row?.seq ?? 0;
  }

  /** The topics of all cached messages. */
  async topics(): Promise<readonly string[]> {
    const rows = await this.#db.selectFrom('messages').select('topic').distinct().execute();
    return rows.map(({ topic }) => topic);
  }

  /** Those of `ids` that are cached. */
  async known(transaction: Kysely<Tables>, ids: readonly string[]): Promise<ReadonlySet<string>> {
    if (ids.length === 0) return new Set();
    const rows = await transaction.selectFrom('messages').select('id').where('id', 'in', ids).execute();
    return new Set(rows.map(({ id }) => id));
  }

  async seqOf(id: string): Promise<number | undefined> {
    const row = await this.#db
      .selectFrom('messages')
      .select('seq')
      .where('id', '=', id)
      .where('expires', '>', hidden)
      .executeTakeFirst();
    return row?.seq;
  }

  async read({ topics, upTo, from, after, now, limit }: Stretch): Promise<readonly StoredMessage[]> {
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

  /** The newest message of a topic. */
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
   * Removes messages that have expired, of the first `limit` those that the inbox has `taken` up to a number or need not
   * take; answers the numbers of those that went.
   */
  async removeExpired(
    transaction: Kysely<Tables>,
    now: number,
    limit: number,
    taken: number,
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
      .where((row) => isTaken(row, taken, now))
      .returning('seq')
      .execute();
    return rows.map(({ seq }) => seq);
  }

  /** Forgets up to `limit` keys taken before `time`; answers how many went. */
  async forgetOffers(transaction: Kysely<Tables>, time: number, limit: number): Promise<number> {
    const due = transaction.selectFrom('offers').select('key').where('time', '<', time).limit(limit);
    const result = await transaction.deleteFrom('offers').where('key', 'in', due).executeTakeFirst();
    return Number(result.numDeletedRows);
  }

  /** How many messages are cached. */
  async count(): Promise<number> {
    const row = await this.#db
      .selectFrom('messages')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('expires', '>', hidden)
      .executeTakeFirstOrThrow();
    return Number(row.count);
  }

  /** All messages ever published, as far as it was saved, plus those cached since: a crash forgets no cached one. */
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

  /** Saves the total as of the message with this `seq`. */
  async saveTotal(transaction: Kysely<Tables>, messages: number, seq: number): Promise<void> {
    await transaction
      .insertInto('totals')
      .values({ id: 1, messages, seq })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ messages, seq }))
      .execute();
  }
}

/** In one order, whoever made the message: the statement's text is kept. */
function columns({ id, topic, time, expires, text }: NewMessage, inbox: string | null) {
  return { id, topic, time, expires, text, inbox };
}
