import type { Kysely } from 'kysely';
import type { Item } from '../domain/item.ts';
import { doneStates } from '../domain/item.ts';
import { fromRow, type Tables } from './rows.ts';

const maxUids = 500;

/** Returns the uids of at most 500 downloads that ended before a time, oldest first. */
export async function findEndedBefore(db: Kysely<any>, timestamp: number): Promise<readonly string[]> {
  const rows = await (db as Kysely<Tables>)
    .selectFrom('downloads')
    .select('uid')
    .where('finished_at', '<=', timestamp)
    .orderBy('finished_at')
    .limit(maxUids)
    .execute();
  return rows.map(({ uid }) => uid);
}

/** Rows per query, to bound the size of one result. */
const pageSize = 1000;

/** Returns the newest finished and failed downloads, newest first. */
export async function readNewestEnded(db: Kysely<any>, limit: number): Promise<readonly Item[]> {
  const items: Item[] = [];
  let last = Number.MAX_SAFE_INTEGER;
  while (items.length < limit) {
    const rows = await (db as Kysely<Tables>)
      .selectFrom('downloads')
      .selectAll()
      .where('state', 'in', doneStates)
      .where('finished_order', '<', last)
      .orderBy('finished_order', 'desc')
      .limit(Math.min(pageSize, limit - items.length))
      .execute();
    for (const row of rows) items.push(fromRow(row));
    last = Number(rows.at(-1)?.finished_order ?? 0);
    if (rows.length < pageSize) break;
  }
  return items;
}
