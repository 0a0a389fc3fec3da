import { sql, type Kysely } from 'kysely';
import { placeColumns, toItemPlace, type ItemPlace } from './items.ts';
import { updateLatest } from './repeats.ts';
import { isWithinScope, type Scope } from './scope.ts';
import { toBit, type Tables } from './tables.ts';

export interface Change {
  readonly read?: boolean | undefined;
  readonly done?: boolean | undefined;
}

/** Rows affected by a change, and its number for undoing it. */
interface ChangeOptions {
  readonly scope?: Scope | undefined;
  readonly number?: number | undefined;
}

/** Row after a change was undone. */
interface UndoneItem extends ItemPlace {
  readonly read: boolean;
  readonly done: boolean;
}

/** Marks rows and returns those that changed. */
export async function changeItems(
  transaction: Kysely<Tables>,
  ids: readonly number[],
  change: Change,
  { scope, number }: ChangeOptions = {},
): Promise<ItemPlace[]> {
  const { read, done } = change;
  if (read === undefined && done === undefined) return [];
  const changed = await transaction
    .updateTable('items')
    .set({
      ...(read !== undefined && { read: toBit(read) }),
      ...(done !== undefined && { done: toBit(done) }),
      ...(number !== undefined && { change: number, was: sql<number>`read + 2 * done` }),
    })
    .where((row) =>
      row.or([
        ...(read === undefined ? [] : [row('read', '!=', toBit(read))]),
        ...(done === undefined ? [] : [row('done', '!=', toBit(done))]),
      ]),
    )
    .where('id', 'in', ids)
    .where((row) => isWithinScope(row, scope))
    .returning([...placeColumns, 'likeness', 'since'])
    .execute();
  if (done !== undefined) await updateLatest(transaction, changed);
  return changed.map(toItemPlace);
}

/** Returns some of the rows up to an id that a change would affect. */
export async function findChangeable(
  db: Kysely<Tables>,
  { read, done }: Change,
  { scope, upTo, limit }: { readonly scope: Scope | undefined; readonly upTo: number; readonly limit: number },
): Promise<number[]> {
  if (read === undefined && done === undefined) return [];
  const rows = await db
    .selectFrom('items')
    .select('id')
    // Lists both values, so that the index on both columns is used.
    .where((row) =>
      row.or([
        ...(read === undefined ? [] : [row.and([row('done', 'in', [0, 1]), row('read', '=', toBit(!read))])]),
        ...(done === undefined ? [] : [row('done', '=', toBit(!done))]),
      ]),
    )
    .where('id', '<=', upTo)
    .where((row) => isWithinScope(row, scope))
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Undoes a change of up to `limit` rows that were not changed since, and returns them. */
export async function undoChange(
  transaction: Kysely<Tables>,
  number: number,
  { scope, limit }: { readonly scope: Scope | undefined; readonly limit: number },
): Promise<UndoneItem[]> {
  const due = transaction
    .selectFrom('items')
    .select('id')
    .where('change', '=', number)
    .where((row) => isWithinScope(row, scope))
    .limit(limit);
  const restored = await transaction
    .updateTable('items')
    .set({ read: sql<0 | 1>`was & 1`, done: sql<0 | 1>`was / 2`, change: null, was: null })
    .where('id', 'in', due)
    .returning([...placeColumns, 'likeness', 'since', 'read', 'done'])
    .execute();
  await updateLatest(transaction, restored);
  return restored.map((row) => ({ ...toItemPlace(row), read: row.read === 1, done: row.done === 1 }));
}
