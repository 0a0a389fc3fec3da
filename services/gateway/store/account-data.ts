import type { Kysely } from 'kysely';
import type { AccountData } from '../../contracts/control/account-data.ts';
import type { Context } from '../../contracts/service.ts';
import type { Tables } from './tables.ts';

/** Deletes the sign-ins of a removed account, and a second factor of an earlier version. */
export function createGatewayAccountData({ commit }: Pick<Context, 'commit'>): AccountData {
  return {
    summary: async () => [],
    async release(account) {
      await commit(async (transaction: Kysely<Tables>) => {
        await transaction.deleteFrom('sessions').where('account', '=', account).execute();
        await transaction.deleteFrom('second_factors').where('account', '=', account).execute();
      });
    },
  };
}
