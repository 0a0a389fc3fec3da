import { sql, type Kysely } from 'kysely';
import { queueStates } from '../domain/item.ts';
import type { Tables } from './rows.ts';

/** Rows per statement; each takes three parameters. */
const chunk = 300;

/** Returns the uids and positions of all open downloads, in order. */
export async function readQueueOrder(db: Kysely<any>): Promise<readonly { uid: string; position: number }[]> {
  return await (db as Kysely<Tables>)
    .selectFrom('downloads')
    .select(['uid', 'position'])
    .where('state', 'in', [...queueStates, 'pending'])
    .orderBy('position')
    .orderBy('uid')
    .execute();
}

/**
 * Stores a new order of the queue. The existing positions are reassigned, so that downloads added in the meantime
 * follow, and only changed rows are written.
 */
export async function storeOrder(
  db: Kysely<any>,
  before: readonly { uid: string; position: number }[],
  order: readonly string[],
): Promise<void> {
  const currentPositions = new Map(before.map(({ uid, position }) => [uid, position]));
  const positions = makeDistinct(before.map(({ position }) => position));
  const moves = order.flatMap((uid, index) => {
    const position = positions[index];
    return position === undefined || currentPositions.get(uid) === position ? [] : [{ uid, position }];
  });
  for (let start = 0; start < moves.length; start += chunk) {
    const part = moves.slice(start, start + chunk);
    const cases = part.map(({ uid, position }) => sql`when ${uid} then ${sql.lit(position)}`);
    await (db as Kysely<Tables>)
      .updateTable('downloads')
      .set({ position: sql<number>`case uid ${sql.join(cases, sql` `)} else position end` })
      .where(
        'uid',
        'in',
        part.map(({ uid }) => uid),
      )
      .execute();
  }
}

/** Makes positions distinct: two hosts may have assigned the same one, and the later rows move up. */
function makeDistinct(positions: readonly number[]): readonly number[] {
  let last = Number.NEGATIVE_INFINITY;
  return positions.map((position) => (last = Math.max(position, last + 1)));
}
