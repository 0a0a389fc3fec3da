import type { Context } from '../contracts/service.ts';
import { readEntry } from './inbox-copy.ts';
import { readStored, type Envelope } from './live/envelope.ts';
import type { Record, Recorded } from './record.ts';
import type { ScheduledMessage, ScheduleStore } from './store/schedule.ts';

/** Messages one commit delivers at most. */
const batch = 200;
/** The clock may be set, and the machine sleep: no timer waits longer. ms */
const longestWait = 1000;
/** After a failure; ms. */
const retryAfter = 5000;

export interface ScheduleParts {
  readonly context: Pick<Context, 'clock' | 'commit' | 'log'>;
  readonly store: ScheduleStore;
  readonly record: Record;
  /** Seconds that a message is kept. */
  readonly cacheSeconds: number;
  readonly announce: (envelopes: readonly Envelope[]) => Promise<void>;
}

/** Delivers messages at their time. There is one timer, for the next of them; the table holds the rest. */
export class Schedule implements AsyncDisposable {
  readonly #parts: ScheduleParts;
  #next: number | undefined;
  #timer: Disposable | undefined;
  #delivering: Promise<void> | undefined;
  #closed = false;

  constructor(parts: ScheduleParts) {
    this.#parts = parts;
  }

  /** Reads when the next message is due: at the start, and now and then, since others may share the table. */
  async look(): Promise<void> {
    const next = await this.#parts.store.nextTime();
    if (next !== undefined) this.expect(next);
  }

  /** A message is due at this time, in unix seconds. */
  expect(time: number): void {
    if (this.#next !== undefined && this.#next <= time) return;
    this.#next = time;
    this.#wait();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#timer?.[Symbol.dispose]();
    await this.#delivering;
  }

  #wait(): void {
    this.#timer?.[Symbol.dispose]();
    if (this.#closed || this.#next === undefined || this.#delivering !== undefined) return;
    const { clock } = this.#parts.context;
    const left = this.#next * 1000 - clock.now();
    if (left <= 0) return this.#tick();
    this.#timer = clock.after(Math.min(left, longestWait), () => this.#tick());
  }

  #tick(): void {
    const { clock, log } = this.#parts.context;
    // The clock may have been set back.
    if (this.#next === undefined || this.#next * 1000 > clock.now()) return this.#wait();
    this.#delivering = this.#deliverAll()
      .catch((error: unknown) => {
        log.error('scheduled messages were not delivered', { error });
        this.#next = Math.ceil((clock.now() + retryAfter) / 1000);
      })
      .finally(() => {
        this.#delivering = undefined;
        this.#wait();
      });
  }

  async #deliverAll(): Promise<void> {
    this.#next = undefined;
    while (!this.#closed) {
      const envelopes = await this.#deliver();
      await this.#parts.announce(envelopes);
      if (envelopes.length < batch) break;
    }
    await this.look();
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

  #recorded({ text, entry, expires }: ScheduledMessage, now: number): Recorded {
    const message = readStored(text);
    const inbox = entry === null ? undefined : readEntry(entry);
    // It was due while nothing ran: those who come back for it are to find it.
    if (expires > now) return { message, text, entry: inbox };
    const late = { ...message, expires: now + this.#parts.cacheSeconds };
    return { message: late, text: JSON.stringify(late), entry: inbox };
  }
}
