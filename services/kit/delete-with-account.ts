import type { Bus } from '../contracts/bus.ts';
import { accountsRemoved } from '../contracts/control/accounts.ts';
import type { Log } from '../contracts/service.ts';

/** Has a service forget what it keeps of an account once that is removed. */
export function deleteWithAccount(
  { bus, log }: { readonly bus: Bus; readonly log: Log },
  /** What is kept, for the log. */
  description: string,
  deleteData: (account: string) => Promise<unknown>,
): Disposable {
  return bus.subscribe(accountsRemoved, ({ account }) => {
    deleteData(account).catch((error: unknown) => log.error(`an account kept its ${description}`, { account, error }));
  });
}
