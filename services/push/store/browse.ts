import type { Kysely } from 'kysely';

interface Tables {
  messages: { seq: number; id: string; topic: string; time: number; expires: number; text: string };
}

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
}
