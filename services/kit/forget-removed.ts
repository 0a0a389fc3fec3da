import type { Bus } from '../contracts/bus.ts';
import { accountsRemoved } from '../contracts/control/accounts.ts';
import type { Log } from '../contracts/service.ts';

/** Has a service forget what it keeps of an account once that is removed. */
export function forgetRemoved(
  { bus, log }: { readonly bus: Bus; readonly log: Log },
  /** What is kept, for the log. */
  kept: string,
  forget: (account: string) => Promise<unknown>,
): Disposable {
  return bus.subscribe(accountsRemoved, ({ account }) => {
    forget(account).catch((error: unknown) => log.error(`an account kept its ${kept}`, { account, error }));
  });
}
