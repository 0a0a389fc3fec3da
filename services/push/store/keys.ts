import type { Kysely } from 'kysely';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';

interface Tables {
  keys: { name: string; sealed: string };
}

/**
 * The key of that name, opened; made by `make` the first time. Where two hosts make one at the same time, both get the
 * one that was stored first.
 * One that the vault cannot open any more, as after a move without its key, is replaced: what was made with it is void.
 */
export async function ensureKey(
  { db, commit, log, vault }: Pick<Context, 'db' | 'commit' | 'log' | 'vault'>,
  name: string,
  make: () => string,
): Promise<string> {
  const purpose = `push.key.${name}`;
  const read = async (from: Kysely<Tables>): Promise<string | undefined> => {
    const row = await from.selectFrom('keys').select('sealed').where('name', '=', name).executeTakeFirst();
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
  const stored = await commit(async (transaction: Kysely<Tables>) => {
    if (known !== undefined)
      await transaction.deleteFrom('keys').where('name', '=', name).where('sealed', '=', known).execute();
    await transaction
      .insertInto('keys')
      .values({ name, sealed })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return read(transaction);
  });
  return vault.open(stored ?? sealed, purpose);
}
