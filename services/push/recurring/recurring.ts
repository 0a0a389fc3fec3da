import type { Context } from '../../contracts/service.ts';
import { deleteWithAccount } from '../../kit/delete-with-account.ts';
import type { Publisher } from '../publish/publisher.ts';
import type { WriteMessages } from '../messages/write-messages.ts';
import type { MessageStore } from '../store/messages.ts';
import { RecurringStore } from '../store/recurring.ts';
import { RecurringRuns } from './runs.ts';
import { Schedules } from './schedules.ts';

export interface RecurringDependencies {
  readonly context: Context;
  readonly messages: MessageStore;
  readonly publisher: Publisher;
  readonly writeMessages: WriteMessages;
  readonly reserved: ReadonlySet<string>;
  /** Called after schedules changed. */
  readonly onChanged: () => void;
}

/** Recurring messages. */
export interface Recurring extends AsyncDisposable {
  readonly schedules: Schedules;
  start(): Promise<Disposable>;
  runMinutely(): Promise<void>;
}

export function openRecurring(dependencies: RecurringDependencies): Recurring {
  const { context } = dependencies;
  const store = new RecurringStore(context.db);
  const runs = new RecurringRuns({ ...dependencies, store });
  const schedules = new Schedules({
    context,
    store,
    publisher: dependencies.publisher,
    expect: (time) => runs.expect(time),
    onChanged: dependencies.onChanged,
  });
  return {
    schedules,
    async start() {
      const removed = deleteWithAccount(context, 'schedules', (account) => schedules.removeAccount(account));
      await runs.refresh();
      return removed;
    },
    runMinutely: () => runs.refresh(),
    [Symbol.asyncDispose]: () => runs[Symbol.asyncDispose](),
  };
}
