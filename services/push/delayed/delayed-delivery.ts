import { Alarm } from './alarm.ts';
import type { Context } from '../../contracts/service.ts';
import { keptFor } from '../domain/retention.ts';
import { readStored, type Envelope } from '../subscribe/envelope.ts';
import type { WriteMessages, Recorded } from '../publish/write-messages.ts';
import type { DelayedMessage, DelayedMessageStore } from '../store/delayed-messages.ts';

/** Messages one commit delivers at most. */
const batch = 200;

export interface ScheduleParts {
  readonly context: Pick<Context, 'clock' | 'commit' | 'log'>;
  readonly store: DelayedMessageStore;
  readonly record: WriteMessages;
  /** Seconds that a message of a topic is kept; 0: it is not. */
  readonly keptSeconds: (topic: string) => number;
  readonly announce: (envelopes: readonly Envelope[]) => Promise<void>;
}

/** Delivers messages at their time. */
export class Schedule implements AsyncDisposable {
  readonly #parts: ScheduleParts;
  readonly #alarm: Alarm;

  constructor(parts: ScheduleParts) {
    this.#parts = parts;
    this.#alarm = new Alarm({
      context: parts.context,
      failed: 'scheduled messages were not delivered',
      ring: (going) => this.#deliverAll(going),
    });
  }

  /** Reads when the next message is due: at the start, and now and then, since others may share the table. */
  async look(): Promise<void> {
    this.#alarm.expect(await this.#parts.store.nextTime());
  }

  /** A message is due at this time, in unix seconds. */
  expect(time: number): void {
    this.#alarm.expect(time);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#alarm[Symbol.asyncDispose]();
  }

  async #deliverAll(going: () => boolean): Promise<number | undefined> {
    while (going()) {
      const envelopes = await this.#deliver();
      await this.#parts.announce(envelopes);
      if (envelopes.length < batch) break;
    }
    return this.#parts.store.nextTime();
  }

  #deliver(): Promise<readonly Envelope[]> {
    const { context, store, record } = this.#parts;
    const now = Math.floor(context.clock.now() / 1000);
    return context.commit(async (transaction) => {
      const due = await store.takeDue(transaction, now, batch);
      return record(
        transaction,
        due.map((row) => this.#recorded(row, now)),
      );
    });
  }

  #recorded({ text, entry }: DelayedMessage, now: number): Recorded {
    const planned = readStored(text);
    const seconds = this.#parts.keptSeconds(planned.topic);
    const kept = keptFor(planned, seconds);
    // It was due while nothing ran: those who come back for it are to find it.
    const late = kept.expires !== undefined && kept.expires <= now;
    const message = late ? { ...kept, expires: now + seconds } : kept;
    return { message, text: message === planned ? text : JSON.stringify(message), inbox: entry ?? undefined };
  }
}
