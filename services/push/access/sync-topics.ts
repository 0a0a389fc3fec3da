import { createHmac } from 'node:crypto';
import type { Accounts } from '../../contracts/control/accounts.ts';

/**
 * Topics through which the devices of an account notify each other about changes. Each account has access to its own.
 */
export class SyncTopics {
  #key: string | undefined;

  /** Sets the key from which topic names are derived. Before that, no account has a sync topic. */
  setKey(key: string): void {
    this.#key = key;
  }

  /** Returns `st_` and 13 characters, always the same for one account; undefined before the key is set. */
  findTopic(account: string): string | undefined {
    if (this.#key === undefined) return undefined;
    return `st_${createHmac('sha256', this.#key).update(account).digest('base64url').slice(0, 13)}`;
  }
}

/** Returns the accounts API, extended with full access of each account to its own sync topic. */
export function withSyncTopics(accounts: Accounts, topics: SyncTopics): Accounts {
  return {
    ...accounts,
    may(identity, service, permission, resource) {
      if (accounts.may(identity, service, permission, resource)) return true;
      if (identity === undefined || identity.limited === true || !resource.startsWith('st_')) return false;
      return resource === topics.findTopic(identity.account) && accounts.isStillValid(identity);
    },
  };
}
