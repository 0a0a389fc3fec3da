import type { Bus } from '../contracts/bus.ts';
import { accountsRemoved } from '../contracts/control/accounts.ts';
import type { Log } from '../contracts/service.ts';

/** Deletes the data that a service stores for an account when the account is removed. */
export function deleteWithAccount(
  { bus, log }: { readonly bus: Bus; readonly log: Log },
  /** Description of the data, for the log. */
  description: string,
  deleteData: (account: string) => Promise<unknown>,
): Disposable {
  return bus.subscribe(accountsRemoved, ({ account }) => {
    deleteData(account).catch((error: unknown) =>
      log.error('account data deletion failed', { account, data: description, error }),
    );
  });
}
