import { sql, type Kysely } from 'kysely';

interface Tables {
  messages: { topic: string; time: number; expires: number; text: string };
}

/** Messages of a topic with one priority in one hour. */
interface CountedMessages {
  readonly topic: string;
  /** Hours since the first one that was asked for. */
  readonly hour: number;
  readonly priority: number;
  readonly count: number;
}

const hourSeconds = 3600;

/** Counts the messages that can still be read. `since`, `now`: unix seconds. */
export async function messagesByHour(
  db: Kysely<Tables>,
  since: number,
  now: number,
): Promise<readonly CountedMessages[]> {
  const hour = sql<number>`(time - ${sql.lit(since)}) / ${sql.lit(hourSeconds)}`;
  // As the line is written: within a text the quotes would have a backslash. Without the field it is 3.
  const priority = sql<number>`case when text like '%"priority":5%' then 5 when text like '%"priority":4%' then 4
    when text like '%"priority":1%' then 1 when text like '%"priority":2%' then 2 else 3 end`;
  const rows = await db
    .selectFrom('messages')
    .select(['topic', hour.as('hour'), priority.as('priority')])
    .select((on) => on.fn.countAll<number>().as('count'))
    .where('time', '>=', since)
    .where('expires', '>', now)
    .where('text', 'like', '%"event":"message"%')
    .groupBy(['topic', hour, priority])
    .execute();
  return rows.map((row) => ({
    ...row,
    hour: Number(row.hour),
    priority: Number(row.priority),
    count: Number(row.count),
  }));
}
