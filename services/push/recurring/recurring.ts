import type { Context } from '../../contracts/service.ts';
import { deleteWithAccount } from '../../kit/delete-with-account.ts';
import type { Delivery } from '../publish/delivery.ts';
import { RecurringStore } from '../store/recurring.ts';
import { RecurringRuns } from './runs.ts';
import { Schedules } from './schedules.ts';

/** Recurring messages. */
export interface Recurring {
  readonly schedules: Schedules;
  start(): Disposable;
  /** Begins to publish due messages; the disposal waits for the commit in progress. */
  startRuns(): AsyncDisposable;
  /** Reads the time of the next message, which another host may have changed. */
  refresh(): Promise<void>;
}

export function openRecurring(context: Context, delivery: Delivery, reserved: ReadonlySet<string>): Recurring {
  const { messages, notifyDelayedChanged: onChanged, publisher, writeMessages } = delivery;
  const store = new RecurringStore(context.db);
  const runs = new RecurringRuns({ context, store, messages, publisher, writeMessages, reserved, onChanged });
  const schedules = new Schedules({
    context,
    store,
    publisher,
    expect: (time) => runs.expect(time),
    onChanged,
  });
  return {
    schedules,
    start: () => deleteWithAccount(context, 'schedules', (account) => schedules.removeAccount(account)),
    startRuns: () => runs.start(),
    refresh: () => runs.refresh(),
  };
}
