import { sql, type Kysely } from 'kysely';
import { hidden } from './removal.ts';

/** What came of a topic on one day. */
export interface TopicDay {
  readonly topic: string;
  /** Local, as `2026-11-21`. */
  readonly day: string;
  readonly published: number;
  /** Deliveries to browsers. */
  readonly sent: number;
  readonly failed: number;
  /** When the last message came, in unix seconds; 0: none did. */
  readonly latest: number;
}

interface Tables {
  messages: { seq: number; topic: string; time: number; expires: number; text: string };
  topic_days: TopicDay;
  topic_days_counted: { id: number; seq: number };
}

/** The counts of topics by day. */
export class TopicCountStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Adds to what is there; `seq`: the newest message that is counted with these. */
  async add(transaction: Kysely<Tables>, days: readonly TopicDay[], seq: number): Promise<void> {
    if (days.length > 0) {
      await transaction
        .insertInto('topic_days')
        .values(days)
        .onConflict((conflict) =>
          conflict.columns(['topic', 'day']).doUpdateSet({
            published: sql<number>`topic_days.published + excluded.published`,
            sent: sql<number>`topic_days.sent + excluded.sent`,
            failed: sql<number>`topic_days.failed + excluded.failed`,
            latest: sql<number>`case when topic_days.latest > excluded.latest then topic_days.latest else excluded.latest end`,
          }),
        )
        .execute();
    }
    await transaction
      .insertInto('topic_days_counted')
      .values({ id: 1, seq })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ seq }))
      .execute();
  }

  /** The newest message that is counted. */
  async counted(): Promise<number> {
    const row = await this.#db.selectFrom('topic_days_counted').select('seq').executeTakeFirst();
    return row?.seq ?? 0;
  }

  /** Cached messages after this one, oldest first. */
  async uncounted(
    seq: number,
    limit: number,
  ): Promise<readonly { readonly seq: number; readonly topic: string; readonly time: number }[]> {
    return this.#db
      .selectFrom('messages')
      .select(['seq', 'topic', 'time'])
      .where('seq', '>', seq)
      .where('expires', '>', hidden)
      .where('text', 'like', '%"event":"message",%')
      .orderBy('seq')
      .limit(limit)
      .execute();
  }

  /** Of these days, all topics or one. */
  async read(since: string, topic?: string): Promise<readonly TopicDay[]> {
    return this.#db
      .selectFrom('topic_days')
      .selectAll()
      .where('day', '>=', since)
      .$if(topic !== undefined, (query) => query.where('topic', '=', topic ?? ''))
      .execute();
  }

  async removeBefore(transaction: Kysely<Tables>, day: string): Promise<void> {
    await transaction.deleteFrom('topic_days').where('day', '<', day).execute();
  }
}
