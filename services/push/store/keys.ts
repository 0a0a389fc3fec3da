import type { Kysely } from 'kysely';
import type { Context } from '../../contracts/service.ts';

interface Tables {
  keys: { name: string; sealed: string };
}

/**
 * The key of that name, opened; made by `make` the first time. Where two hosts make one at the same time, both get the
 * one that was stored first.
 *
 * @throws Problem `vault.unreadable`
 */
export async function ensureKey(
  { db, commit, vault }: Pick<Context, 'db' | 'commit' | 'vault'>,
  name: string,
  make: () => string,
): Promise<string> {
  const purpose = `push.key.${name}`;
  const read = async (from: Kysely<Tables>): Promise<string | undefined> => {
    const row = await from.selectFrom('keys').select('sealed').where('name', '=', name).executeTakeFirst();
    return row?.sealed;
  };
  const known = await read(db);
  if (known !== undefined) return vault.open(known, purpose);
  const sealed = vault.seal(make(), purpose);
  const stored = await commit(async (transaction: Kysely<Tables>) => {
    await transaction
      .insertInto('keys')
      .values({ name, sealed })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return read(transaction);
  });
  return vault.open(stored ?? sealed, purpose);
}
