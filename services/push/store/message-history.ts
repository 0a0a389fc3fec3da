import type { Kysely } from 'kysely';

interface Tables {
  messages: { seq: number; id: string; topic: string; time: number; expires: number; text: string };
}

/** Maximum number of messages that are searched for later versions of a message. */
const maxSequencedMessages = 20_000;

/** Reads the message cache for the pages. */
export class MessageHistoryStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Returns topics with cached messages, the most recently used first. Times are unix seconds. */
  async topics(
    now: number,
    limit: number,
  ): Promise<readonly { readonly name: string; readonly messages: number; readonly latest: number }[]> {
    const rows = await this.#db
      .selectFrom('messages')
      .select(({ fn }) => ['topic as name', fn.countAll<number>().as('messages'), fn.max('time').as('latest')])
      .where('expires', '>', now)
      .groupBy('topic')
      // Not ordered by `time`, which has a resolution of whole seconds.
      .orderBy(({ fn }) => fn.max('seq'), 'desc')
      .limit(limit)
      .execute();
    return rows.map(({ name, messages, latest }) => ({ name, messages: Number(messages), latest: Number(latest) }));
  }

  /** Returns the newest cached message of each topic as stored JSON. */
  async latestTexts(topics: readonly string[], now: number): Promise<ReadonlyMap<string, string>> {
    if (topics.length === 0) return new Map();
    const newest = this.#db
      .selectFrom('messages')
      .select(({ fn }) => fn.max('seq').as('seq'))
      .where('topic', 'in', topics)
      .where('expires', '>', now)
      .groupBy('topic');
    const rows = await this.#db.selectFrom('messages').select(['topic', 'text']).where('seq', 'in', newest).execute();
    return new Map(rows.map(({ topic, text }) => [topic, text]));
  }

  /** Returns cached messages of a topic as stored JSON, newest first, stored before `before`. */
  async newest(
    topic: string,
    { before, now, limit }: { readonly before: number | undefined; readonly now: number; readonly limit: number },
  ): Promise<readonly { readonly seq: number; readonly text: string }[]> {
    return this.#db
      .selectFrom('messages')
      .select(['seq', 'text'])
      .where('topic', '=', topic)
      .where('expires', '>', now)
      .$if(before !== undefined, (query) => query.where('seq', '<', before ?? 0))
      .orderBy('seq', 'desc')
      .limit(limit)
      .execute();
  }

  /**
   * Returns messages stored from `from` on that update, clear or delete an earlier message, newest first. Only the
   * oldest {@link maxSequencedMessages} messages are searched.
   */
  async sequenced(topic: string, from: number, now: number): Promise<readonly string[]> {
    const window = this.#db
      .selectFrom('messages')
      .select(['seq', 'text'])
      .where('topic', '=', topic)
      .where('seq', '>=', from)
      .where('expires', '>', now)
      .orderBy('seq')
      .limit(maxSequencedMessages)
      .as('stretch');
    const rows = await this.#db
      .selectFrom(window)
      .select('text')
      // Quotes inside of a text are escaped with a backslash, so only the field itself matches.
      .where('text', 'like', '%"sequence_id":"%')
      .orderBy('seq', 'desc')
      .execute();
    return rows.map(({ text }) => text);
  }

  /** Returns a cached message as stored JSON. */
  async find(topic: string, id: string, now: number): Promise<string | undefined> {
    const row = await this.#db
      .selectFrom('messages')
      .select('text')
      .where('id', '=', id)
      .where('topic', '=', topic)
      .where('expires', '>', now)
      .executeTakeFirst();
    return row?.text;
  }
}
