import { Alarm } from './alarm.ts';
import type { Context } from '../../contracts/service.ts';
import { withMaxRetention } from '../domain/retention.ts';
import type { Envelope } from '../messages/envelope.ts';
import { parseStoredMessage } from '../domain/stored-message.ts';
import type { WriteMessages, Recorded } from '../messages/write-messages.ts';
import type { DelayedMessageRow, DelayedMessageStore } from '../store/delayed-messages.ts';

/** Maximum number of messages published in one commit. */
const batchSize = 200;

export interface DelayedDeliveryDependencies {
  readonly context: Pick<Context, 'clock' | 'commit' | 'log'>;
  readonly store: DelayedMessageStore;
  readonly writeMessages: WriteMessages;
  /** Returns the number of seconds that messages of a topic are kept; 0 when they are not cached. */
  readonly keptSeconds: (topic: string) => number;
  readonly announce: (envelopes: readonly Envelope[]) => Promise<void>;
}

/** Publishes delayed messages at their time. */
export class DelayedDelivery {
  readonly #dependencies: DelayedDeliveryDependencies;
  readonly #alarm: Alarm;

  constructor(dependencies: DelayedDeliveryDependencies) {
    this.#dependencies = dependencies;
    this.#alarm = new Alarm({
      context: dependencies.context,
      failureMessage: 'delayed message delivery failed',
      run: (isOpen) => this.#deliverAll(isOpen),
    });
  }

  /** Begins to publish; the disposal waits for the commit in progress. */
  start(): AsyncDisposable {
    return this.#alarm.start();
  }

  /** Reads the time of the next message: at the start and periodically, because other hosts may share the table. */
  async refresh(): Promise<void> {
    this.#alarm.expect(await this.#dependencies.store.nextTime());
  }

  /** Schedules a delivery for this time, in unix seconds. */
  expect(time: number): void {
    this.#alarm.expect(time);
  }

  async #deliverAll(isOpen: () => boolean): Promise<number | undefined> {
    while (isOpen()) {
      const envelopes = await this.#deliver();
      await this.#dependencies.announce(envelopes);
      if (envelopes.length < batchSize) break;
    }
    return this.#dependencies.store.nextTime();
  }

  #deliver(): Promise<readonly Envelope[]> {
    const { context, store, writeMessages } = this.#dependencies;
    const now = Math.floor(context.clock.now() / 1000);
    return context.commit(async (transaction) => {
      const due = await store.takeDue(transaction, now, batchSize);
      return writeMessages(
        transaction,
        due.map((row) => this.#toRecorded(row, now)),
      );
    });
  }

  #toRecorded({ text, entry }: DelayedMessageRow, now: number): Recorded {
    const delayed = parseStoredMessage(text);
    const seconds = this.#dependencies.keptSeconds(delayed.topic);
    const withRetention = withMaxRetention(delayed, seconds);
    // Expired while the service was not running: kept once more for its retention, so that clients can read it.
    const hasExpired = withRetention.expires !== undefined && withRetention.expires <= now;
    const message = hasExpired ? { ...withRetention, expires: now + seconds } : withRetention;
    return { message, text: message === delayed ? text : JSON.stringify(message), inbox: entry ?? undefined };
  }
}
