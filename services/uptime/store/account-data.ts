import type { AccountData } from '../../contracts/control/account-data.ts';
import type { Context } from '../../contracts/service.ts';
import type { IncidentStore } from './incidents.ts';

/** Author of the content of a removed account. No account can have this name, because it contains a space. */
const deletedAuthor = 'deleted account';

/** Monitors and incidents belong to the household; only the name of a removed account is replaced. */
export function createUptimeAccountData({ commit }: Pick<Context, 'commit'>, incidents: IncidentStore): AccountData {
  return {
    summary: async () => [],
    async release(account, disposition) {
      const author = disposition.action === 'keep' ? disposition.as : deletedAuthor;
      await commit((transaction) => incidents.renameAuthor(transaction, account, author));
    },
  };
}
