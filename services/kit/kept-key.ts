import type { Kysely } from 'kysely';
import { Problem } from '../contracts/problem.ts';
import type { Context } from '../contracts/service.ts';

/** Where a key is kept: a table of the service with the columns `name` (its key) and `sealed`, both text. */
export interface KeyPlace {
  readonly table: string;
  readonly name: string;
  /** The vault's purpose. */
  readonly purpose: string;
}

type KeyTables = Record<string, { readonly name: string; readonly sealed: string }>;

/**
 * A key of the service's own, opened; made by `make` the first time. Where two hosts make one at the same time, both get
 * the one that was stored first.
 * One that the vault cannot open any more, as after a move without its key, is replaced: what was made with it is void.
 */
export async function keptKey(
  { db, commit, log, vault }: Pick<Context, 'db' | 'commit' | 'log' | 'vault'>,
  { table, name, purpose }: KeyPlace,
  make: () => string,
): Promise<string> {
  const read = async (from: Kysely<KeyTables>): Promise<string | undefined> => {
    const row = await from.selectFrom(table).select('sealed').where('name', '=', name).executeTakeFirst();
    return row?.sealed;
  };
  const known = await read(db);
  if (known !== undefined) {
    try {
      return vault.open(known, purpose);
    } catch (error) {
      // Without the vault it was sealed in it is lost. The server must start all the same.
      if (!(error instanceof Problem)) throw error;
      log.warn('a stored key cannot be read, a new one takes its place', { name, error });
    }
  }
  const sealed = vault.seal(make(), purpose);
  const stored = await commit(async (transaction) => {
    if (known !== undefined)
      await transaction.deleteFrom(table).where('name', '=', name).where('sealed', '=', known).execute();
    await transaction
      .insertInto(table)
      .values({ name, sealed })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute();
    return read(transaction);
  });
  return vault.open(stored ?? sealed, purpose);
}
