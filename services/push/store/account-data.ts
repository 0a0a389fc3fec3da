import type { Kysely } from 'kysely';
import { everyone } from '../../contracts/control/accounts.ts';
import type { AccountData } from '../../contracts/control/account-data.ts';
import type { Context } from '../../contracts/service.ts';
import { ProfileStore } from './profiles.ts';
import { QuietStore } from './quiet.ts';
import { RecurringStore } from './recurring.ts';
import { ScheduleStore } from './delayed-messages.ts';
import { WebPushStore } from './web-push.ts';

/**
 * Reserved topics, schedules, rules and browsers belong to the person who used the account, so they are deleted with every
 * disposition. Messages belong to their topics and stay.
 */
export function pushAccountData(context: Context): AccountData {
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
      for (const topic of await profiles.forget(account)) await accounts.setGrant(everyone, 'push', topic, undefined);
      await new WebPushStore(context).remove({ column: 'account', value: account });
      await commit(async (transaction) => {
        await new QuietStore(db).forget(transaction, account);
        await new RecurringStore(db).forget(transaction, account);
        await new ScheduleStore(db).disown(transaction, account);
      });
    },
  };
}
