import type { Kysely } from 'kysely';
import type { Context } from '../../contracts/service.ts';
import type { Tables } from './tables.ts';

/** Moves second factors of earlier versions to the accounts. */
export async function moveSecondFactors({ accounts, db, commit }: Pick<Context, 'accounts' | 'db' | 'commit'>) {
  const gatewayDb = db as Kysely<Tables>;
  const rows = await gatewayDb.selectFrom('second_factors').selectAll().execute();
  if (rows.length === 0) return;
  await accounts.factors.adopt(rows);
  await commit((transaction: Kysely<Tables>) => transaction.deleteFrom('second_factors').execute());
}
