import { sql, type Kysely } from 'kysely';
import { placed, placedOf, type Placed } from './items.ts';
import { settleRuns } from './repeats.ts';
import { within, type Scope } from './scope.ts';
import { bit, type Tables } from './tables.ts';

export interface Change {
  readonly read?: boolean | undefined;
  readonly done?: boolean | undefined;
}

/** Which rows a change is for, and the number it can be taken back by. */
interface ChangeOptions {
  readonly scope?: Scope | undefined;
  readonly number?: number | undefined;
}

/** A row as it is after a change was taken back. */
interface TakenBack extends Placed {
  readonly read: boolean;
  readonly done: boolean;
}

/** Marks rows; answers those that were not so before. */
export async function changeItems(
  transaction: Kysely<Tables>,
  ids: readonly number[],
  change: Change,
  { scope, number }: ChangeOptions = {},
): Promise<Placed[]> {
  const { read, done } = change;
  if (read === undefined && done === undefined) return [];
  const changed = await transaction
    .updateTable('items')
    .set({
      ...(read !== undefined && { read: bit(read) }),
      ...(done !== undefined && { done: bit(done) }),
      ...(number !== undefined && { change: number, was: sql<number>`read + 2 * done` }),
    })
    .where((row) =>
      row.or([
        ...(read === undefined ? [] : [row('read', '!=', bit(read))]),
        ...(done === undefined ? [] : [row('done', '!=', bit(done))]),
      ]),
    )
    .where('id', 'in', ids)
    .where((row) => within(row, scope))
    .returning([...placed, 'likeness', 'since'])
    .execute();
  if (done !== undefined) await settleRuns(transaction, changed);
  return changed.map(placedOf);
}

/** Some of the rows up to a number that a change would change. */
export async function changeable(
  db: Kysely<Tables>,
  { read, done }: Change,
  { scope, upTo, limit }: { readonly scope: Scope | undefined; readonly upTo: number; readonly limit: number },
): Promise<number[]> {
  if (read === undefined && done === undefined) return [];
  const rows = await db
    .selectFrom('items')
    .select('id')
    // Both values, so that the index on both serves for one of them.
    .where((row) =>
      row.or([
        ...(read === undefined ? [] : [row.and([row('done', 'in', [0, 1]), row('read', '=', bit(!read))])]),
        ...(done === undefined ? [] : [row('done', '=', bit(!done))]),
      ]),
    )
    .where('id', '<=', upTo)
    .where((row) => within(row, scope))
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Takes back what a change did to up to `limit` rows that nobody changed since; answers them. */
export async function takeBack(
  transaction: Kysely<Tables>,
  number: number,
  { scope, limit }: { readonly scope: Scope | undefined; readonly limit: number },
): Promise<TakenBack[]> {
  const due = transaction
    .selectFrom('items')
    .select('id')
    .where('change', '=', number)
    .where((row) => within(row, scope))
    .limit(limit);
  const back = await transaction
    .updateTable('items')
    .set({ read: sql<0 | 1>`was & 1`, done: sql<0 | 1>`was / 2`, change: null, was: null })
    .where('id', 'in', due)
    .returning([...placed, 'likeness', 'since', 'read', 'done'])
    .execute();
  await settleRuns(transaction, back);
  return back.map((row) => ({ ...placedOf(row), read: row.read === 1, done: row.done === 1 }));
}
