import { sql, type Kysely } from 'kysely';
import { hidden } from './removal.ts';

/** Counts of a topic on one day. */
export interface TopicDay {
  readonly topic: string;
  /** Local date such as `2026-11-21`. */
  readonly day: string;
  readonly published: number;
  /** Number of deliveries to browsers. */
  readonly sent: number;
  readonly failed: number;
  /** Time of the last message in unix seconds; 0 without messages. */
  readonly latest: number;
}

/** Number of messages published to a topic in one hour with one priority. */
export interface TopicHour {
  readonly topic: string;
  /** Start of the hour in unix seconds. */
  readonly hour: number;
  readonly priority: number;
  readonly published: number;
}

interface CountUpdate {
  readonly days: readonly TopicDay[];
  readonly hours: readonly TopicHour[];
  /** Newest message included in these counts. */
  readonly seq: number;
}

/**
 * Priority of a stored message, read from its JSON: quotes inside of the text are escaped, so only the field matches.
 * The default is 3.
 */
export const storedPriority = sql<number>`case when text like '%"priority":5%' then 5 when text like '%"priority":4%' then 4
  when text like '%"priority":1%' then 1 when text like '%"priority":2%' then 2 else 3 end`;

interface Tables {
  messages: { seq: number; topic: string; time: number; expires: number; text: string };
  topic_days: TopicDay;
  topic_hours: TopicHour;
  topic_days_counted: { id: number; seq: number };
}

/** Message counts of topics by day and by hour. */
export class TopicCountStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Adds to the stored counts. */
  async add(transaction: Kysely<Tables>, { days, hours, seq }: CountUpdate): Promise<void> {
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
    if (hours.length > 0) {
      await transaction
        .insertInto('topic_hours')
        .values(hours)
        .onConflict((conflict) =>
          conflict
            .columns(['topic', 'hour', 'priority'])
            .doUpdateSet({ published: sql<number>`topic_hours.published + excluded.published` }),
        )
        .execute();
    }
    await transaction
      .insertInto('topic_days_counted')
      .values({ id: 1, seq })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ seq }))
      .execute();
  }

  /** Returns the number of messages that were published since a day. */
  async countPublished(since: string): Promise<number> {
    const row = await this.#db
      .selectFrom('topic_days')
      .select(({ fn }) => fn.sum<number | string | null>('published').as('published'))
      .where('day', '>=', since)
      .executeTakeFirst();
    return Number(row?.published ?? 0);
  }

  /** Returns the newest message included in the counts. */
  async countedUpTo(): Promise<number> {
    const row = await this.#db.selectFrom('topic_days_counted').select('seq').executeTakeFirst();
    return row?.seq ?? 0;
  }

  /** Returns cached messages after a number, oldest first. */
  async uncounted(
    seq: number,
    limit: number,
  ): Promise<
    readonly { readonly seq: number; readonly topic: string; readonly time: number; readonly priority: number }[]
  > {
    const rows = await this.#db
      .selectFrom('messages')
      .select(['seq', 'topic', 'time', storedPriority.as('priority')])
      .where('seq', '>', seq)
      .where('expires', '>', hidden)
      .where('text', 'like', '%"event":"message",%')
      .orderBy('seq')
      .limit(limit)
      .execute();
    return rows.map((row) => ({ ...row, priority: Number(row.priority) }));
  }

  /** Returns the counts since a day, of all topics or of one. */
  async read(since: string, topic?: string): Promise<readonly TopicDay[]> {
    return this.#db
      .selectFrom('topic_days')
      .selectAll()
      .where('day', '>=', since)
      .$if(topic !== undefined, (query) => query.where('topic', '=', topic ?? ''))
      .execute();
  }

  /** Returns the counts since an hour, given by its start in unix seconds. */
  async readHours(since: number): Promise<readonly TopicHour[]> {
    return this.#db.selectFrom('topic_hours').selectAll().where('hour', '>=', since).execute();
  }

  async removeBefore(transaction: Kysely<Tables>, day: string, hour: number): Promise<void> {
    await transaction.deleteFrom('topic_days').where('day', '<', day).execute();
    await transaction.deleteFrom('topic_hours').where('hour', '<', hour).execute();
  }
}
