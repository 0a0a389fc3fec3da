import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { LocalDay } from '../../kit/local-days.ts';
import type { MailTables } from './tables.ts';

/** Numbers of mails per day by outcome, in the order of the days. */
export interface Outcomes {
  readonly told: number[];
  readonly waiting: number[];
  readonly failed: number[];
  readonly dropped: number[];
}

/** Maximum number of ids in one statement. */
const batchSize = 1000;

interface CountInput {
  readonly days: readonly LocalDay[];
  /** Includes mails received up to this time (ms since the epoch), when the jobs were read. */
  readonly until: number;
  /** Ids of mails that are not delivered, each in one list. */
  readonly unfinished: { readonly failed: readonly string[]; readonly waiting: readonly string[] };
}

/** Counts all mails of some days that were received before a time (ms since the epoch). */
export async function countMails(db: Kysely<MailTables>, days: readonly LocalDay[], until: number): Promise<number[]> {
  const dayOfMail = buildDayIndex(days);
  const rows = await db
    .selectFrom('messages')
    .where('received_at', '>=', days[0]?.from ?? 0)
    .where('received_at', '<', until)
    .select([dayOfMail.as('day')])
    .select((on) => on.fn.countAll<number>().as('count'))
    .groupBy(dayOfMail)
    .execute();
  return days.map((_, index) => Number(rows.find(({ day }) => Number(day) === index)?.count ?? 0));
}

/** Builds the index of the day on which a mail was received. */
function buildDayIndex(days: readonly LocalDay[]): RawBuilder<number> {
  const cases = days.map(({ from }, day) => sql`when received_at >= ${sql.lit(from)} then ${sql.lit(day)}`);
  return sql<number>`case ${sql.join(cases.toReversed(), sql` `)} end`;
}

/** Counts the mails of some days by outcome. */
export async function countOutcomes(
  db: Kysely<MailTables>,
  { days, until, unfinished }: CountInput,
): Promise<Outcomes> {
  const since = days[0]?.from ?? 0;
  const dayOfMail = buildDayIndex(days);
  const isDropped = sql<number>`case when deliveries = '[]' and note <> '' then 1 else 0 end`;
  const rows = await db
    .selectFrom('messages')
    .where('received_at', '>=', since)
    .where('received_at', '<=', until)
    .select([dayOfMail.as('day'), isDropped.as('isDropped')])
    .select((on) => on.fn.countAll<number>().as('count'))
    .groupBy([dayOfMail, isDropped])
    .execute();
  const zeroes = (): number[] => days.map(() => 0);
  const outcomes: Outcomes = { told: zeroes(), waiting: zeroes(), failed: zeroes(), dropped: zeroes() };
  for (const { day, isDropped: dropped, count } of rows)
    outcomes[Number(dropped) === 1 ? 'dropped' : 'told'][Number(day)] = Number(count);
  const move = async (ids: readonly string[], to: 'failed' | 'waiting'): Promise<void> => {
    for (let start = 0; start < ids.length; start += batchSize) {
      const rowsOfBatch = await db
        .selectFrom('messages')
        .where('id', 'in', ids.slice(start, start + batchSize))
        .where('received_at', '>=', since)
        .where('received_at', '<=', until)
        .select([dayOfMail.as('day')])
        .execute();
      for (const { day } of rowsOfBatch) {
        outcomes[to][Number(day)] = (outcomes[to][Number(day)] ?? 0) + 1;
        outcomes.told[Number(day)] = Math.max(0, (outcomes.told[Number(day)] ?? 0) - 1);
      }
    }
  };
  await move(unfinished.failed, 'failed');
  await move(unfinished.waiting, 'waiting');
  return outcomes;
}
