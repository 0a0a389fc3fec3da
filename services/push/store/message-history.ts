import type { Kysely } from 'kysely';

interface Tables {
  messages: { seq: number; id: string; topic: string; time: number; expires: number; text: string };
}

/** Messages between two that belong together. */
const longestStretch = 20_000;

/** The message cache as a person looks through it. */
export class Browse {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Topics with cached messages, the one with the newest first. Times in unix seconds. */
  async topics(
    now: number,
    limit: number,
  ): Promise<readonly { readonly name: string; readonly messages: number; readonly latest: number }[]> {
    const rows = await this.#db
      .selectFrom('messages')
      .select(({ fn }) => ['topic as name', fn.countAll<number>().as('messages'), fn.max('time').as('latest')])
      .where('expires', '>', now)
      .groupBy('topic')
      // Not by time: that is in whole seconds.
      .orderBy(({ fn }) => fn.max('seq'), 'desc')
      .limit(limit)
      .execute();
    return rows.map(({ name, messages, latest }) => ({ name, messages: Number(messages), latest: Number(latest) }));
  }

  /** The newest cached message of each topic, as it went over the wire. */
  async lines(topics: readonly string[], now: number): Promise<ReadonlyMap<string, string>> {
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

  /** Cached messages of a topic as they went over the wire, newest first, stored before `before`. */
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
   * What was stored from `from` on and belongs to an earlier message, newest first: updates, and what was cleared or deleted.
   * Of a longer stretch the oldest part is looked at.
   */
  async sequenced(topic: string, from: number, now: number): Promise<readonly string[]> {
    const stretch = this.#db
      .selectFrom('messages')
      .select(['seq', 'text'])
      .where('topic', '=', topic)
      .where('seq', '>=', from)
      .where('expires', '>', now)
      .orderBy('seq')
      .limit(longestStretch)
      .as('stretch');
    const rows = await this.#db
      .selectFrom(stretch)
      .select('text')
      // A quote in a text is written with a backslash, so that only the field looks like this.
      .where('text', 'like', '%"sequence_id":"%')
      .orderBy('seq', 'desc')
      .execute();
    return rows.map(({ text }) => text);
  }

  /** A cached message as it went over the wire. */
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
