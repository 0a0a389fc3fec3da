import type { Context } from '../../contracts/service.ts';
import { toLocalDay, getLastHours } from '../../kit/local-days.ts';
import type { Envelope } from '../messages/envelope.ts';
import { TopicCountStore, type TopicDay, type TopicHour } from '../store/topic-counts.ts';
import { SerialQueue } from '../../kit/serial-queue.ts';

/** Number of days for which counts are stored. */
const retainedDays = 60;
const batchSize = 5000;
const hourSeconds = 3600;
/** Number of hours for which counts are stored: the last day and, for comparison, the one before. */
const retainedHours = 48;

/**
 * Counts published messages and deliveries to browsers by topic, per day and for the last hours per hour. Counts are
 * kept in memory and saved every minute, so that publishing is not slowed down; after a crash, cached messages are
 * counted again.
 */
export class TopicCounts {
  readonly #context: Pick<Context, 'clock' | 'commit'>;
  readonly #store: TopicCountStore;
  readonly #reads: TopicCountStore;
  readonly #unsavedDays = new Map<string, TopicDay>();
  readonly #unsavedHours = new Map<string, TopicHour>();
  #countedSeq = 0;
  #savedSeq = 0;
  /** Number of saves that have begun. */
  #saves = 0;
  readonly #saving = new SerialQueue();

  constructor(context: Pick<Context, 'clock' | 'commit' | 'db' | 'reads'>) {
    this.#context = context;
    this.#store = new TopicCountStore(context.db);
    this.#reads = new TopicCountStore(context.reads);
  }

  /** Counts messages that were published. */
  add(envelopes: readonly Envelope[]): void {
    for (const { message, seq } of envelopes) {
      if (seq !== undefined && seq > this.#countedSeq) this.#countedSeq = seq;
      if (message.event !== 'message') continue;
      this.#count(message.topic, { published: 1, latest: message.time });
      this.#putHour(toTopicHour(message));
    }
  }

  /** Counts a delivery to a browser, successful or failed. */
  countDelivery(topic: string, successful: boolean): void {
    this.#count(topic, successful ? { sent: 1 } : { failed: 1 });
  }

  /** Counts messages published since the last save. Must be called before anything is published. */
  async resume(): Promise<void> {
    this.#countedSeq = await this.#store.countedUpTo();
    this.#savedSeq = this.#countedSeq;
    for (let added = true; added;) {
      const rows = await this.#store.uncounted(this.#countedSeq, batchSize);
      for (const { seq, topic, time, priority } of rows) {
        this.#countedSeq = seq;
        this.#putHour(toTopicHour({ topic, time, priority }));
        this.#count(topic, { published: 1, latest: time }, time * 1000);
      }
      added = rows.length === batchSize;
    }
  }

  /** Saves the counts. Called every minute and on shutdown. */
  async save(): Promise<void> {
    this.#saves += 1;
    await this.#saving.run(() => this.#saveChanges());
  }

  async #saveChanges(): Promise<void> {
    if (this.#unsavedDays.size === 0 && this.#countedSeq === this.#savedSeq) return;
    const [days, hours, seq] = [[...this.#unsavedDays.values()], [...this.#unsavedHours.values()], this.#countedSeq];
    this.#unsavedDays.clear();
    this.#unsavedHours.clear();
    try {
      await this.#context.commit(async (transaction) => {
        for (let offset = 0; offset === 0 || offset < Math.max(days.length, hours.length); offset += 500) {
          await this.#store.add(transaction, {
            days: days.slice(offset, offset + 500),
            hours: hours.slice(offset, offset + 500),
            seq,
          });
        }
        await this.#store.removeBefore(transaction, this.#day(-retainedDays), this.#firstHour());
      });
      this.#savedSeq = seq;
    } catch (error) {
      for (const day of days) this.#put(day);
      for (const hour of hours) this.#putHour(hour);
      throw error;
    }
  }

  /** Repeats a read during which a save moved counts, which would otherwise be missing or be counted twice. */
  async #readBetweenSaves<Result>(read: () => Promise<Result>): Promise<Result> {
    for (;;) {
      await this.#saving.settled();
      const saves = this.#saves;
      const result = await read();
      if (saves === this.#saves) return result;
    }
  }

  /** Returns the last days, oldest first, ending with today. */
  days(count: number): readonly string[] {
    return Array.from({ length: count }, (_, index) => this.#day(index + 1 - count));
  }

  /** Returns counts since a day, of all topics or of one. A day may have several entries, which add up. */
  async read(since: string, topic?: string): Promise<readonly TopicDay[]> {
    return this.#readBetweenSaves(async () => {
      const unsaved = [...this.#unsavedDays.values()].filter(
        (each) => each.day >= since && (topic ?? each.topic) === each.topic,
      );
      return [...(await this.#reads.read(since, topic)), ...unsaved];
    });
  }

  /** Returns the number of messages published today. */
  async today(): Promise<number> {
    const today = this.#day(0);
    return this.#readBetweenSaves(async () => {
      const unsaved = [...this.#unsavedDays.values()].filter(({ day }) => day >= today);
      // One row that the start needs: a reader thread would take longer and use memory.
      const saved = await this.#store.countPublished(today);
      return unsaved.reduce((sum, { published }) => sum + published, saved);
    });
  }

  /** Returns the counts of the last 48 hours. An hour may have several entries, which add up. */
  async readHours(): Promise<readonly TopicHour[]> {
    const since = this.#firstHour();
    return this.#readBetweenSaves(async () => {
      const unsaved = [...this.#unsavedHours.values()].filter(({ hour }) => hour >= since);
      return [...(await this.#reads.readHours(since)), ...unsaved];
    });
  }

  #firstHour(): number {
    const now = this.#context.clock.now();
    return (getLastHours(now, retainedHours)[0] ?? now) / 1000;
  }

  #count(topic: string, counts: Partial<TopicDay>, time = this.#context.clock.now()): void {
    this.#put({ topic, day: toLocalDay(time), published: 0, sent: 0, failed: 0, latest: 0, ...counts });
  }

  #put(added: TopicDay): void {
    const key = `${added.day} ${added.topic}`;
    const existing = this.#unsavedDays.get(key);
    this.#unsavedDays.set(
      key,
      existing === undefined
        ? added
        : {
            ...existing,
            published: existing.published + added.published,
            sent: existing.sent + added.sent,
            failed: existing.failed + added.failed,
            latest: Math.max(existing.latest, added.latest),
          },
    );
  }

  #putHour(added: TopicHour): void {
    const key = `${String(added.hour)} ${String(added.priority)} ${added.topic}`;
    const published = (this.#unsavedHours.get(key)?.published ?? 0) + added.published;
    this.#unsavedHours.set(key, { ...added, published });
  }

  #day(offsetDays: number): string {
    const date = new Date(this.#context.clock.now());
    // Uses the calendar, because a day is not always 24 hours long.
    date.setDate(date.getDate() + offsetDays);
    return toLocalDay(date.getTime());
  }
}

/** Returns a message as a count of its hour. `time` is in unix seconds. */
function toTopicHour({
  topic,
  time,
  priority = 3,
}: Pick<Envelope['message'], 'topic' | 'time' | 'priority'>): TopicHour {
  return { topic, hour: Math.floor(time / hourSeconds) * hourSeconds, priority, published: 1 };
}
