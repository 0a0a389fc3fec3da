import { sql, type Kysely } from 'kysely';
import type { z } from 'zod';
import type { downloadStatistics } from '../../contracts/downloads/statistics.ts';
import type { LocalDay } from '../../kit/local-days.ts';
import type { Tables } from './rows.ts';

type Statistics = z.infer<typeof downloadStatistics.reply>;

const maxSites = 10;
const maxLargest = 5;
/** Maximum number of rows that are summed up by site. */
const maxAddresses = 20_000;

/**
 * Returns the finished and failed downloads of some days, oldest first, and their sites. The first half of the days is
 * the previous period, which only has counts.
 */
export async function readStatistics(db: Kysely<any>, allDays: readonly LocalDay[]): Promise<Statistics> {
  const days = allDays.slice(allDays.length / 2);
  const since = days[0]?.from ?? 0;
  const tables = db as Kysely<Tables>;
  const previous = await countByDay(tables, allDays.slice(0, allDays.length / 2), since);
  const counts = await countByDay(tables, days, Number.MAX_SAFE_INTEGER);
  const rows = await tables
    .selectFrom('downloads')
    .select(['url', 'size'])
    .where('finished_at', '>=', since)
    .where('state', '=', 'finished')
    .orderBy('finished_order', 'desc')
    .limit(maxAddresses)
    .execute();
  const largest = await tables
    .selectFrom('downloads')
    .select(['uid', 'title', 'size'])
    .where('finished_at', '>=', since)
    .where('state', '=', 'finished')
    .where('size', '>', 0)
    .orderBy('size', 'desc')
    .limit(maxLargest)
    .execute();
  const sites = new Map<string, { site: string; files: number; bytes: number }>();
  for (const { url, size } of rows) {
    const site = getSite(url);
    const current = sites.get(site) ?? { site, files: 0, bytes: 0 };
    sites.set(site, { site, files: current.files + 1, bytes: current.bytes + Number(size ?? 0) });
  }
  return {
    days: counts.map((each, index) => ({ day: days[index]?.day ?? '', ...each })),
    previous,
    sites: [...sites.values()].sort((a, b) => b.bytes - a.bytes || b.files - a.files).slice(0, maxSites),
    largest: largest.map(({ uid, title, size }) => ({ uid, title, bytes: Number(size) })),
  };
}

/** Counts the downloads of each day that ended before `until`, in ms since the epoch. */
async function countByDay(
  tables: Kysely<Tables>,
  days: readonly LocalDay[],
  until: number,
): Promise<Statistics['previous']> {
  const cases = days.map(({ from }, day) => sql`when finished_at >= ${sql.lit(from)} then ${sql.lit(day)}`);
  const dayOfRow = sql<number>`case ${sql.join(cases.toReversed(), sql` `)} end`;
  const rows = await tables
    .selectFrom('downloads')
    .select([dayOfRow.as('day'), 'state'])
    .select((on) => [on.fn.countAll<number>().as('count'), on.fn.sum<number>('size').as('bytes')])
    .where('finished_at', '>=', days[0]?.from ?? 0)
    .where('finished_at', '<', until)
    .where('state', 'in', ['finished', 'failed'])
    .groupBy([dayOfRow, 'state'])
    .execute();
  return days.map((_, index) => {
    const findCount = (state: string) => rows.find((row) => Number(row.day) === index && row.state === state);
    const finished = findCount('finished');
    return {
      files: Number(finished?.count ?? 0),
      failed: Number(findCount('failed')?.count ?? 0),
      bytes: Number(finished?.bytes ?? 0),
    };
  });
}

function getSite(url: string): string {
  return URL.parse(url)?.hostname.replace(/^www\./, '') || 'elsewhere';
}
