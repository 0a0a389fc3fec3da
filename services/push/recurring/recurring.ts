import type { ApiHandler } from '../../contracts/api.ts';
import type { Context } from '../../contracts/service.ts';
import { deleteWithAccount } from '../../kit/delete-with-account.ts';
import type { Publisher } from '../publish/publisher.ts';
import type { WriteMessages } from '../publish/write-messages.ts';
import { scheduleHandlers } from '../app-api/schedules.ts';
import type { MessageStore } from '../store/messages.ts';
import { RecurringStore } from '../store/recurring.ts';
import { RecurringRuns } from './runs.ts';
import { Schedules } from './schedules.ts';

export interface RecurringParts {
  readonly context: Context;
  readonly messages: MessageStore;
  readonly publisher: Publisher;
  readonly record: WriteMessages;
  readonly reserved: ReadonlySet<string>;
  /** Bytes. */
  readonly messageSizeLimit: () => number;
  /** Schedules are others than before. */
  readonly changed: () => void;
}

/** Messages that go out again and again. */
export interface Recurring extends AsyncDisposable {
  readonly handlers: readonly ApiHandler[];
  start(): Promise<Disposable>;
  eachMinute(): Promise<void>;
}

export function openRecurring(parts: RecurringParts): Recurring {
  const { context, reserved, messageSizeLimit } = parts;
  const store = new RecurringStore(context.db);
  const runs = new RecurringRuns({ ...parts, store });
  const schedules = new Schedules({
    context,
    store,
    publisher: parts.publisher,
    expect: (time) => runs.expect(time),
    changed: parts.changed,
  });
  return {
    handlers: scheduleHandlers({ schedules, clock: context.clock, reserved, messageSizeLimit }),
    async start() {
      const removed = deleteWithAccount(context, 'schedules', (account) => schedules.forget(account));
      await runs.look();
      return removed;
    },
    eachMinute: () => runs.look(),
    [Symbol.asyncDispose]: () => runs[Symbol.asyncDispose](),
  };
}
