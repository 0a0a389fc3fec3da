import { sql, type Kysely } from 'kysely';
import type { LocalDay } from '../../kit/local-days.ts';
import type { MailTables } from './tables.ts';

/** Mails of each day by what became of them, in the order of the days. */
export interface Outcomes {
  readonly told: number[];
  readonly waiting: number[];
  readonly failed: number[];
  readonly dropped: number[];
}

/** Ids that go into one statement. */
const batch = 1000;

interface Counted {
  readonly days: readonly LocalDay[];
  /** Mails that came up to this moment, in ms since the epoch: the jobs are known as they stood then. */
  readonly until: number;
  /** Ids of mails that are not passed on, each in one of the lists. */
  readonly open: { readonly failed: readonly string[]; readonly waiting: readonly string[] };
}

/** Counts the mails of some days. */
export async function outcomesOf(db: Kysely<MailTables>, { days, until, open }: Counted): Promise<Outcomes> {
  const since = days[0]?.from ?? 0;
  const cases = days.map(({ from }, day) => sql`when received_at >= ${sql.lit(from)} then ${sql.lit(day)}`);
  const dayOfMail = sql<number>`case ${sql.join(cases.toReversed(), sql` `)} end`;
  const isDropped = sql<number>`case when deliveries = '[]' and note <> '' then 1 else 0 end`;
  const rows = await db
    .selectFrom('messages')
    .where('received_at', '>=', since)
    .where('received_at', '<=', until)
    .select([dayOfMail.as('day'), isDropped.as('isDropped')])
    .select((on) => on.fn.countAll<number>().as('count'))
    .groupBy([dayOfMail, isDropped])
    .execute();
  const none = (): number[] => days.map(() => 0);
  const outcomes: Outcomes = { told: none(), waiting: none(), failed: none(), dropped: none() };
  for (const { day, isDropped: dropped, count } of rows)
    outcomes[Number(dropped) === 1 ? 'dropped' : 'told'][Number(day)] = Number(count);
  const move = async (ids: readonly string[], to: 'failed' | 'waiting'): Promise<void> => {
    for (let start = 0; start < ids.length; start += batch) {
      const some = await db
        .selectFrom('messages')
        .where('id', 'in', ids.slice(start, start + batch))
        .where('received_at', '>=', since)
        .where('received_at', '<=', until)
        .select([dayOfMail.as('day')])
        .execute();
      for (const { day } of some) {
        outcomes[to][Number(day)] = (outcomes[to][Number(day)] ?? 0) + 1;
        outcomes.told[Number(day)] = Math.max(0, (outcomes.told[Number(day)] ?? 0) - 1);
      }
    }
  };
  await move(open.failed, 'failed');
  await move(open.waiting, 'waiting');
  return outcomes;
}
