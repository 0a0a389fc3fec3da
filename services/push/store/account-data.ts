import * as m from '#messages/push-texts';
import type { Kysely } from 'kysely';
import { everyone } from '../../contracts/control/accounts.ts';
import type { AccountData, AccountDisposition, AccountDataSummary } from '../../contracts/control/account-data.ts';
import type { Context } from '../../contracts/service.ts';
import { ProfileStore } from './profiles.ts';
import { QuietStore } from './quiet.ts';
import { RecurringStore } from './recurring.ts';
import { DelayedMessageStore } from './delayed-messages.ts';
import { WebPushStore } from './web-push.ts';

/**
 * Returns the data of an account. Schedules, rules and browser subscriptions are deleted with the account. Its reserved
 * topics are deleted with their messages, transferred, or kept closed for administrators. Other messages belong to
 * their topics and stay.
 */
export function createPushAccountData(context: Context): AccountData {
  const { db, commit, accounts } = context;
  const profiles = new ProfileStore(context);
  const summarize = async (
    kind: (values: { readonly count: number }) => string,
    table: 'reservations' | 'recurring',
    account: string,
  ): Promise<AccountDataSummary> => {
    const rows = await (db as Kysely<Record<string, { account: string }>>)
      .selectFrom(table)
      .select('account')
      .where('account', '=', account)
      .execute();
    return { kind: kind({ count: rows.length }), count: rows.length };
  };
  return {
    summary: async (account) => [
      await summarize(m.reservedTopics, 'reservations', account),
      await summarize(m.schedules, 'recurring', account),
    ],
    async release(account, disposition) {
      await profiles.removeAccount(account);
      await releaseReservations({ accounts, profiles }, account, disposition);
      await new WebPushStore(context).remove({ column: 'account', value: account });
      await commit(async (transaction) => {
        await new QuietStore(db).removeAccount(transaction, account);
        await new RecurringStore(db).removeAccount(transaction, account);
        await new DelayedMessageStore(db).detachAccount(transaction, account);
      });
    },
  };
}

/** Releases the reserved topics of a removed account. A grant of everyone never outlives the reservation. */
async function releaseReservations(
  { accounts, profiles }: Pick<Context, 'accounts'> & { readonly profiles: ProfileStore },
  account: string,
  disposition: AccountDisposition,
): Promise<void> {
  const topics = (await profiles.reservations(account)).map(({ topic }) => topic);
  if (disposition.action === 'keep') return profiles.moveReservations(account, disposition.as, topics);
  if (disposition.action === 'transfer' && (await accounts.find(disposition.to)) !== undefined) {
    for (const topic of topics) await accounts.setGrant(disposition.to, 'push', topic, 'read-write');
    return profiles.moveReservations(account, disposition.to, topics);
  }
  for (const topic of topics) {
    await profiles.release(account, topic, true);
    await accounts.setGrant(everyone, 'push', topic, undefined);
  }
}
