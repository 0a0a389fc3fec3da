import { createHmac } from 'node:crypto';
import type { Accounts } from '../../contracts/control/accounts.ts';

/** Topics through which a person's devices tell each other that the account changed. They belong to it by nature. */
export class SyncTopics {
  #key: string | undefined;

  /** Topics are made out of this key; before it is there nobody has one. */
  use(key: string): void {
    this.#key = key;
  }

  /** `st_` and 13 characters, always the same for one account; undefined before the key is there. */
  of(account: string): string | undefined {
    if (this.#key === undefined) return undefined;
    return `st_${createHmac('sha256', this.#key).update(account).digest('base64url').slice(0, 13)}`;
  }
}

/** The accounts, with everyone's full access to the topic of his own. */
export function withSyncTopics(accounts: Accounts, topics: SyncTopics): Accounts {
  return {
    ...accounts,
    may(identity, service, permission, resource) {
      if (accounts.may(identity, service, permission, resource)) return true;
      if (identity === undefined || identity.limited === true || !resource.startsWith('st_')) return false;
      return resource === topics.of(identity.account) && accounts.isStillValid(identity);
    },
  };
}
