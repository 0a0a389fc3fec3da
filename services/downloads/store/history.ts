import type { Kysely } from 'kysely';
import type { Item } from '../domain/item.ts';
import { doneStates } from '../domain/item.ts';
import { fromRow, type Tables } from './rows.ts';

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

/** Rows of a page: a hundred thousand at once would be too much for one answer of the database. */
const page = 1000;

/** The newest downloads that are done, newest first. */
export async function newestEnded(db: Kysely<any>, limit: number): Promise<readonly Item[]> {
  const items: Item[] = [];
  let last = Number.MAX_SAFE_INTEGER;
  while (items.length < limit) {
    const rows = await (db as Kysely<Tables>)
      .selectFrom('downloads')
      .selectAll()
      .where('state', 'in', doneStates)
      .where('finished_order', '<', last)
      .orderBy('finished_order', 'desc')
      .limit(Math.min(page, limit - items.length))
      .execute();
    for (const row of rows) items.push(fromRow(row));
    last = Number(rows.at(-1)?.finished_order ?? 0);
    if (rows.length < page) break;
  }
  return items;
}
