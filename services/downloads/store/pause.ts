import type { Kysely } from 'kysely';
import { idleState, queueStates, type Item } from '../domain/item.ts';
import { fromRow, type Tables } from './rows.ts';

/** Rows that go into one statement. */
const chunk = 500;

/** Whether the whole queue is paused; nothing is taken out of it then. */
export async function isPaused(db: Kysely<any>): Promise<boolean> {
  const row = await (db as Kysely<Tables>).selectFrom('downloads_pause').select('id').executeTakeFirst();
  return row !== undefined;
}

/** Pauses the whole queue, or lets it go on. True when that was a change. */
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

/** Marks items as paused at their places; who works on them stays known until the work has ended. */
export async function pauseItems(db: Kysely<any>, items: readonly Item[]): Promise<readonly Item[]> {
  return await setState(
    db,
    items.filter(({ state }) => state !== 'paused'),
    () => 'paused',
  );
}

/** Lets paused items wait again at their places. */
export async function resumeItems(db: Kysely<any>, items: readonly Item[]): Promise<readonly Item[]> {
  return await setState(
    db,
    items.filter(({ state }) => state === 'paused'),
    idleState,
  );
}

async function setState(
  db: Kysely<any>,
  items: readonly Item[],
  next: (item: Item) => 'paused' | 'waiting' | 'pending',
): Promise<readonly Item[]> {
  const changed: Item[] = [];
  for (const state of ['paused', 'waiting', 'pending'] as const) {
    const some = items.filter((item) => next(item) === state);
    for (let start = 0; start < some.length; start += chunk) {
      const rows = await (db as Kysely<Tables>)
        .updateTable('downloads')
        .set({ state })
        .where(
          'uid',
          'in',
          some.slice(start, start + chunk).map(({ uid }) => uid),
        )
        // Finished or failed in the meantime: that stays.
        .where('state', 'in', queueStates)
        .returningAll()
        .execute();
      changed.push(...rows.map(fromRow));
    }
  }
  return changed;
}
