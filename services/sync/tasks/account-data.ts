import * as m from '#messages/sync-texts';
import { sql, type Expression, type Kysely, type SqlBool } from 'kysely';
import type { AccountData, AccountDisposition } from '../../contracts/control/account-data.ts';
import type { Context } from '../../contracts/service.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Tables } from '../store/tables.ts';

type Dependencies = Pick<Context, 'commit' | 'db'> & { readonly jobs: Pick<Jobs, 'removeJobsOf'> };

/**
 * Releases sync tasks and the history of a deleted account. Transferred tasks run with the permissions of the new owner; tasks
 * that are kept for administrators are paused, because no account's permissions apply. Remotes belong to no account.
 */
export function syncAccountData({ commit, db, jobs }: Dependencies): AccountData {
  return {
    async summary(account) {
      const readDb: Kysely<Tables> = db;
      const count = async (table: 'tasks' | 'runs'): Promise<number> => {
        const query = readDb.selectFrom(table).select((each) => each.fn.countAll().as('count'));
        const row = await query.where(matchesAccount(account)).executeTakeFirst();
        return Number(row?.count ?? 0);
      };
      const [tasks, runs] = [await count('tasks'), await count('runs')];
      return [
        { kind: m.savedSyncs({ count: tasks }), count: tasks },
        { kind: m.runsInHistory({ count: runs }), count: runs },
      ];
    },
    async release(account, disposition) {
      const isAffected = (name: string): boolean => name === account || name.startsWith(`${account}/`);
      jobs.removeJobsOf(isAffected);
      await commit((transaction: Kysely<Tables>) => releaseRows(transaction, account, disposition));
    },
  };
}

/** Matches the account and its limited tokens. */
function matchesAccount(account: string): Expression<SqlBool> {
  const start = `${account}/`;
  return sql<boolean>`(account = ${account} or substr(account, 1, ${sql.lit(start.length)}) = ${start})`;
}

async function releaseRows(
  transaction: Kysely<Tables>,
  account: string,
  disposition: AccountDisposition,
): Promise<void> {
  const runs = transaction.selectFrom('runs').select('id').where(matchesAccount(account));
  const tasks = transaction.selectFrom('tasks').select('id').where(matchesAccount(account));
  if (disposition.action === 'delete') {
    await transaction.deleteFrom('run_files').where('job_id', 'in', runs).execute();
    await transaction.deleteFrom('runs').where(matchesAccount(account)).execute();
    await transaction.deleteFrom('plans').where('task_id', 'in', tasks).execute();
    await transaction.deleteFrom('tasks').where(matchesAccount(account)).execute();
    return;
  }
  const owner = disposition.action === 'transfer' ? disposition.to : disposition.as;
  const paused = disposition.action === 'keep' ? { paused: 1 as const } : {};
  await transaction
    .updateTable('tasks')
    .set({ account: owner, ...paused })
    .where(matchesAccount(account))
    .execute();
  await transaction.updateTable('runs').set({ account: owner }).where(matchesAccount(account)).execute();
}
