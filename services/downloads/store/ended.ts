import type { Kysely } from 'kysely';
import type { Tables } from './rows.ts';

const mostAtOnce = 500;

/** Uids of downloads that ended before then, the oldest first; at most 500. */
export async function endedBefore(db: Kysely<any>, at: number): Promise<readonly string[]> {
  const rows = await (db as Kysely<Tables>)
    .selectFrom('downloads')
    .select('uid')
    .where('finished_at', '<=', at)
    .orderBy('finished_at')
    .limit(mostAtOnce)
    .execute();
  return rows.map(({ uid }) => uid);
}
