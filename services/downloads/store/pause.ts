import type { Kysely } from 'kysely';
import { getIdleState, queueStates, type Item } from '../domain/item.ts';
import { fromRow, type Tables } from './rows.ts';

/** Rows per statement. */
const chunk = 500;

/** Returns whether the whole queue is paused, so that no download starts. */
export async function isPaused(db: Kysely<any>): Promise<boolean> {
  const row = await (db as Kysely<Tables>).selectFrom('downloads_pause').select('id').executeTakeFirst();
  return row !== undefined;
}

/** Pauses or resumes the whole queue. Returns true when this was a change. */
export async function setPaused(db: Kysely<any>, since: number | null): Promise<boolean> {
  const tables = db as Kysely<Tables>;
  const before = await isPaused(db);
  if (since === null) await tables.deleteFrom('downloads_pause').execute();
  else {
    const row = { id: 1, since };
    await tables
      .insertInto('downloads_pause')
      .values(row)
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute();
  }
  return before !== (since !== null);
}

/** Marks items as paused at their positions. The owner of a run remains stored until the run ends. */
export async function pauseItems(db: Kysely<any>, items: readonly Item[]): Promise<readonly Item[]> {
  return await setState(
    db,
    items.filter(({ state }) => state !== 'paused'),
    () => 'paused',
  );
}

/** Returns paused items to the waiting state at their positions. */
export async function resumeItems(db: Kysely<any>, items: readonly Item[]): Promise<readonly Item[]> {
  return await setState(
    db,
    items.filter(({ state }) => state === 'paused'),
    getIdleState,
  );
}

async function setState(
  db: Kysely<any>,
  items: readonly Item[],
  next: (item: Item) => 'paused' | 'waiting' | 'pending',
): Promise<readonly Item[]> {
  const changed: Item[] = [];
  for (const state of ['paused', 'waiting', 'pending'] as const) {
    const matching = items.filter((item) => next(item) === state);
    for (let start = 0; start < matching.length; start += chunk) {
      const rows = await (db as Kysely<Tables>)
        .updateTable('downloads')
        .set({ state })
        .where(
          'uid',
          'in',
          matching.slice(start, start + chunk).map(({ uid }) => uid),
        )
        // A download that ended in the meantime remains ended.
        .where('state', 'in', queueStates)
        .returningAll()
        .execute();
      changed.push(...rows.map(fromRow));
    }
  }
  return changed;
}
