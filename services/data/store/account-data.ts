import * as m from '#messages/data-texts';
import type { AccountData } from '../../contracts/control/account-data.ts';
import type { SavedQueries } from './saved-queries.ts';

/** Data that remains when an account is removed: its saved queries. */
export function createAccountData(queries: SavedQueries): AccountData {
  return {
    async summary(account) {
      const count = (await queries.list([account])).length;
      return [{ kind: m.savedQueries({ count }), count }];
    },
    async release(account, disposition) {
      if (disposition.action === 'delete') await queries.deleteAccount(account);
      else await queries.move(account, disposition.action === 'transfer' ? disposition.to : disposition.as);
    },
  };
}
