import { sql, type Kysely } from 'kysely';
import { queueStates } from '../domain/item.ts';
import type { Tables } from './rows.ts';

/** Rows that go into one statement; each takes three parameters. */
const chunk = 300;

/** The uids of everything that is not done, in its order. */
export async function queueOrder(db: Kysely<any>): Promise<readonly { uid: string; position: number }[]> {
  return await (db as Kysely<Tables>)
    .selectFrom('downloads')
    .select(['uid', 'position'])
    .where('state', 'in', [...queueStates, 'pending'])
    .orderBy('position')
    .orderBy('uid')
    .execute();
}

/**
 * Gives the rows of the queue their places anew. The same places are dealt out again, so that what is added meanwhile
 * comes after them, and only rows whose place changes are written.
 */
export async function storeOrder(
  db: Kysely<any>,
  before: readonly { uid: string; position: number }[],
  order: readonly string[],
): Promise<void> {
  const now = new Map(before.map(({ uid, position }) => [uid, position]));
  const places = distinct(before.map(({ position }) => position));
  const moves = order.flatMap((uid, index) => {
    const position = places[index];
    return position === undefined || now.get(uid) === position ? [] : [{ uid, position }];
  });
  for (let start = 0; start < moves.length; start += chunk) {
    const some = moves.slice(start, start + chunk);
    const cases = some.map(({ uid, position }) => sql`when ${uid} then ${sql.lit(position)}`);
    await (db as Kysely<Tables>)
      .updateTable('downloads')
      .set({ position: sql<number>`case uid ${sql.join(cases, sql` `)} else position end` })
      .where(
        'uid',
        'in',
        some.map(({ uid }) => uid),
      )
      .execute();
  }
}

/** Two hosts may have given out one place twice; then the later rows move up by as much as it takes. */
function distinct(positions: readonly number[]): readonly number[] {
  let last = Number.NEGATIVE_INFINITY;
  return positions.map((position) => (last = Math.max(position, last + 1)));
}
