import type { Context } from '../../contracts/service.ts';
import { dayOf } from '../../kit/last-days.ts';
import type { Envelope } from '../subscribe/envelope.ts';
import { TopicCountStore, type TopicDay } from '../store/topic-counts.ts';

/** Days that are kept. */
const kept = 60;
const batch = 5000;

/**
 * How much is published to each topic, and how much of it reached browsers, by day. Counted in memory and saved each minute, so that
 * publishing pays nothing for it; after a crash what is cached is counted again.
 */
export class TopicCounts {
  readonly #context: Pick<Context, 'clock' | 'commit'>;
  readonly #store: TopicCountStore;
  readonly #reads: TopicCountStore;
  readonly #open = new Map<string, TopicDay>();
  #counted = 0;
  #saved = 0;

  constructor(context: Pick<Context, 'clock' | 'commit' | 'db' | 'reads'>) {
    this.#context = context;
    this.#store = new TopicCountStore(context.db);
    this.#reads = new TopicCountStore(context.reads);
  }

  /** Messages that have just been published. */
  add(envelopes: readonly Envelope[]): void {
    for (const { message, seq } of envelopes) {
      if (seq !== undefined && seq > this.#counted) this.#counted = seq;
      if (message.event === 'message') this.#count(message.topic, { published: 1, latest: message.time });
    }
  }

  /** A message was sent to a browser, or could not be. */
  delivered(topic: string, done: boolean): void {
    this.#count(topic, done ? { sent: 1 } : { failed: 1 });
  }

  /** Counts what was published since it was last saved; call it before anything is published. */
  async resume(): Promise<void> {
    this.#counted = await this.#store.counted();
    this.#saved = this.#counted;
    for (let more = true; more;) {
      const rows = await this.#store.uncounted(this.#counted, batch);
      for (const { seq, topic, time } of rows) {
        this.#counted = seq;
        this.#count(topic, { published: 1, latest: time }, time * 1000);
      }
      more = rows.length === batch;
    }
  }

  /** Writes down what was counted. Call each minute and at the end. */
  async save(): Promise<void> {
    if (this.#open.size === 0 && this.#counted === this.#saved) return;
    const [days, seq] = [[...this.#open.values()], this.#counted];
    this.#open.clear();
    try {
      await this.#context.commit(async (transaction) => {
        for (let at = 0; at === 0 || at < days.length; at += 500) {
          await this.#store.add(transaction, days.slice(at, at + 500), seq);
        }
        await this.#store.removeBefore(transaction, this.#day(-kept));
      });
      this.#saved = seq;
    } catch (error) {
      for (const day of days) this.#put(day);
      throw error;
    }
  }

  /** The last days, oldest first, today last. */
  days(count: number): readonly string[] {
    return Array.from({ length: count }, (_, index) => this.#day(index + 1 - count));
  }

  /** What came since a day, of all topics or one; several parts of one day may be there. */
  async read(since: string, topic?: string): Promise<readonly TopicDay[]> {
    const open = [...this.#open.values()].filter((each) => each.day >= since && (topic ?? each.topic) === each.topic);
    return [...(await this.#reads.read(since, topic)), ...open];
  }

  #count(topic: string, what: Partial<TopicDay>, time = this.#context.clock.now()): void {
    this.#put({ topic, day: dayOf(time), published: 0, sent: 0, failed: 0, latest: 0, ...what });
  }

  #put(more: TopicDay): void {
    const key = `${more.day} ${more.topic}`;
    const known = this.#open.get(key);
    this.#open.set(
      key,
      known === undefined
        ? more
        : {
            ...known,
            published: known.published + more.published,
            sent: known.sent + more.sent,
            failed: known.failed + more.failed,
            latest: Math.max(known.latest, more.latest),
          },
    );
  }

  #day(from: number): string {
    const date = new Date(this.#context.clock.now());
    // By the calendar: a day is not always 24 hours long.
    date.setDate(date.getDate() + from);
    return dayOf(date.getTime());
  }
}
