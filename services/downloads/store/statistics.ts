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

/** Returns the finished and failed downloads of some days, oldest first, and their sites. */
export async function readStatistics(db: Kysely<any>, days: readonly LocalDay[]): Promise<Statistics> {
  const since = days[0]?.from ?? 0;
  const tables = db as Kysely<Tables>;
  const cases = days.map(({ from }, day) => sql`when finished_at >= ${sql.lit(from)} then ${sql.lit(day)}`);
  const dayOfRow = sql<number>`case ${sql.join(cases.toReversed(), sql` `)} end`;
  const countRows = await tables
    .selectFrom('downloads')
    .select([dayOfRow.as('day'), 'state'])
    .select((on) => [on.fn.countAll<number>().as('count'), on.fn.sum<number>('size').as('bytes')])
    .where('finished_at', '>=', since)
    .where('state', 'in', ['finished', 'failed'])
    .groupBy([dayOfRow, 'state'])
    .execute();
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
    days: days.map(({ day }, index) => {
      const findCount = (state: string) => countRows.find((row) => Number(row.day) === index && row.state === state);
      const finished = findCount('finished');
      return {
        day,
        files: Number(finished?.count ?? 0),
        failed: Number(findCount('failed')?.count ?? 0),
        bytes: Number(finished?.bytes ?? 0),
      };
    }),
    sites: [...sites.values()].sort((a, b) => b.bytes - a.bytes || b.files - a.files).slice(0, maxSites),
    largest: largest.map(({ uid, title, size }) => ({ uid, title, bytes: Number(size) })),
  };
}

function getSite(url: string): string {
  return URL.parse(url)?.hostname.replace(/^www\./, '') || 'elsewhere';
}
