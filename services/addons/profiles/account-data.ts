import * as t from '#messages/addons-texts';
import type { AccountData } from '../../contracts/control/account-data.ts';
import type { Profiles } from './profiles.ts';

/** Configurations belong to an account, which can be removed. */
export function createAccountData(profiles: Profiles): AccountData {
  return {
    async summary(account) {
      return [{ kind: t.configurationsKind(), count: await profiles.countByOwner(account) }];
    },
    release: (account, disposition) => profiles.release(account, disposition),
  };
}
