import type { Kysely } from 'kysely';
import { everyone } from '../../contracts/control/accounts.ts';
import type { AccountData } from '../../contracts/control/account-data.ts';
import type { Context } from '../../contracts/service.ts';
import { ProfileStore } from './profiles.ts';
import { QuietStore } from './quiet.ts';
import { RecurringStore } from './recurring.ts';
import { DelayedMessageStore } from './delayed-messages.ts';
import { WebPushStore } from './web-push.ts';

/**
 * Returns the personal data of an account. Reserved topics, schedules, rules and browser subscriptions are deleted with
 * the account; messages belong to their topics and stay.
 */
export function createPushAccountData(context: Context): AccountData {
  const { db, commit, accounts } = context;
  const profiles = new ProfileStore(context);
  const count = async (table: 'reservations' | 'recurring', account: string): Promise<number> => {
    const rows = await (db as Kysely<Record<string, { account: string }>>)
      .selectFrom(table)
      .select('account')
      .where('account', '=', account)
      .execute();
    return rows.length;
  };
  return {
    summary: async (account) => [
      { kind: 'reserved topics', count: await count('reservations', account) },
      { kind: 'schedules', count: await count('recurring', account) },
    ],
    async release(account) {
      for (const topic of await profiles.removeAccount(account))
        await accounts.setGrant(everyone, 'push', topic, undefined);
      await new WebPushStore(context).remove({ column: 'account', value: account });
      await commit(async (transaction) => {
        await new QuietStore(db).removeAccount(transaction, account);
        await new RecurringStore(db).removeAccount(transaction, account);
        await new DelayedMessageStore(db).detachAccount(transaction, account);
      });
    },
  };
}
