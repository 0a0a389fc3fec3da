import type { Context } from '../../contracts/service.ts';
import { toLocalDay, getLastHours } from '../../kit/local-days.ts';
import type { Envelope } from '../subscribe/envelope.ts';
import { TopicCountStore, type TopicDay, type TopicHour } from '../store/topic-counts.ts';

/** Days that are kept. */
const kept = 60;
const batch = 5000;
const hourSeconds = 3600;

/**
 * How much is published to each topic, and how much of it reached browsers, by day, and how much of it lately by hour. Counted in memory and saved each minute, so that
 * publishing pays nothing for it; after a crash what is cached is counted again.
 */
export class TopicCounts {
  readonly #context: Pick<Context, 'clock' | 'commit'>;
  readonly #store: TopicCountStore;
  readonly #reads: TopicCountStore;
  readonly #open = new Map<string, TopicDay>();
  readonly #openHours = new Map<string, TopicHour>();
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
      if (message.event !== 'message') continue;
      this.#count(message.topic, { published: 1, latest: message.time });
      this.#putHour(hourOf(message));
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
      for (const { seq, topic, time, priority } of rows) {
        this.#counted = seq;
        this.#putHour(hourOf({ topic, time, priority }));
        this.#count(topic, { published: 1, latest: time }, time * 1000);
      }
      more = rows.length === batch;
    }
  }

  /** Writes down what was counted. Call each minute and at the end. */
  async save(): Promise<void> {
    if (this.#open.size === 0 && this.#counted === this.#saved) return;
    const [days, hours, seq] = [[...this.#open.values()], [...this.#openHours.values()], this.#counted];
    this.#open.clear();
    this.#openHours.clear();
    try {
      await this.#context.commit(async (transaction) => {
        for (let at = 0; at === 0 || at < Math.max(days.length, hours.length); at += 500) {
          await this.#store.add(transaction, { days: days.slice(at, at + 500), hours: hours.slice(at, at + 500), seq });
        }
        await this.#store.removeBefore(transaction, this.#day(-kept), this.#firstHour());
      });
      this.#saved = seq;
    } catch (error) {
      for (const day of days) this.#put(day);
      for (const hour of hours) this.#putHour(hour);
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

  /** How much was published today. */
  async today(): Promise<number> {
    return (await this.read(this.#day(0))).reduce((sum, { published }) => sum + published, 0);
  }

  /** What came in the last 24 hours; several parts of one hour may be there. */
  async readHours(): Promise<readonly TopicHour[]> {
    const since = this.#firstHour();
    const open = [...this.#openHours.values()].filter(({ hour }) => hour >= since);
    return [...(await this.#reads.readHours(since)), ...open];
  }

  #firstHour(): number {
    const now = this.#context.clock.now();
    return (getLastHours(now)[0] ?? now) / 1000;
  }

  #count(topic: string, what: Partial<TopicDay>, time = this.#context.clock.now()): void {
    this.#put({ topic, day: toLocalDay(time), published: 0, sent: 0, failed: 0, latest: 0, ...what });
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

  #putHour(more: TopicHour): void {
    const key = `${String(more.hour)} ${String(more.priority)} ${more.topic}`;
    const published = (this.#openHours.get(key)?.published ?? 0) + more.published;
    this.#openHours.set(key, { ...more, published });
  }

  #day(from: number): string {
    const date = new Date(this.#context.clock.now());
    // By the calendar: a day is not always 24 hours long.
    date.setDate(date.getDate() + from);
    return toLocalDay(date.getTime());
  }
}

/** One message, as a part of its hour. `time`: unix seconds. */
function hourOf({ topic, time, priority = 3 }: Pick<Envelope['message'], 'topic' | 'time' | 'priority'>): TopicHour {
  return { topic, hour: Math.floor(time / hourSeconds) * hourSeconds, priority, published: 1 };
}
