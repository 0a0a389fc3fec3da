import { eventsMissed } from '../../contracts/bus.ts';
import { pushRelayed } from '../../contracts/push/topics.ts';
import type { Context } from '../../contracts/service.ts';
import { CoalescedRun } from '../../kit/coalesced-run.ts';
import { parseStoredMessage } from '../domain/stored-message.ts';
import { Envelope } from '../messages/envelope.ts';
import type { LiveMessage, LiveMessages } from '../store/live-messages.ts';
import type { MessageStore } from '../store/messages.ts';
import type { Subscribers } from './subscribers.ts';

/** Time in ms in which the event with a missing number can arrive before the database is read. */
const gapDelayMs = 25;
const pageSize = 500;
/** Maximum number of messages that wait for one with a lower number. */
const maxPending = 5000;
/** Age in seconds up to which a message is delivered to open streams; older ones were imported. */
const maxAgeSeconds = 3600;

export interface LiveFeedDependencies {
  readonly context: Pick<Context, 'bus' | 'clock' | 'log' | 'singleHost'>;
  readonly messages: Pick<MessageStore, 'top'>;
  readonly live: Pick<LiveMessages, 'after' | 'settle'>;
  readonly subscribers: Pick<Subscribers, 'deliver' | 'deliverAll' | 'waitForCapacity'>;
}

interface RelayedMessage {
  /** Number of a stored message. */
  readonly seq?: number | undefined;
  readonly text: string;
}

/**
 * Delivers messages to the open streams of this host, wherever they were published. Stored messages are delivered once
 * and in the order of their numbers: an event of another host delivers those that directly follow, and a gap is filled
 * from the database. Messages that are not stored are delivered as they arrive.
 */
export class LiveFeed implements AsyncDisposable {
  readonly #dependencies: LiveFeedDependencies;
  readonly #resources = new DisposableStack();
  readonly #catchUp = new CoalescedRun(() => this.#readMissing());
  /** All stored messages up to this number were delivered. */
  #position = 0;
  /** Messages after a gap, by number. */
  readonly #pending = new Map<number, Envelope>();
  #gapTimer: Disposable | undefined;
  #failure: unknown;

  constructor(dependencies: LiveFeedDependencies) {
    this.#dependencies = dependencies;
  }

  /** Must be called before anything is published. */
  async start(): Promise<void> {
    const { context, messages, live } = this.#dependencies;
    if (context.singleHost) return;
    const receive = (event: { readonly messages: readonly RelayedMessage[] }): void => this.#receive(event.messages);
    this.#resources.use(context.bus.subscribe(pushRelayed, receive, 'other hosts'));
    this.#resources.use(context.bus.subscribe(eventsMissed, () => this.#catchUp.request()));
    const top = await messages.top();
    await live.settle();
    this.#position = Math.max(this.#position, top);
  }

  /** Delivers messages that this host has published, and resolves when more can be accepted. */
  deliver(envelopes: readonly Envelope[]): Promise<void> {
    const { context, subscribers } = this.#dependencies;
    if (context.singleHost) return subscribers.deliverAll(envelopes);
    for (const envelope of envelopes) this.#accept(envelope);
    const relayed = envelopes.map(({ seq, text }) => ({ text, ...(seq !== undefined && { seq }) }));
    if (relayed.length > 0) context.bus.publish(pushRelayed, { messages: relayed });
    return subscribers.waitForCapacity();
  }

  /**
   * Returns the number up to which all messages are stored and delivered: history up to it and live messages after it
   * are complete.
   */
  async top(): Promise<number> {
    if (this.#dependencies.context.singleHost) return this.#dependencies.messages.top();
    this.#catchUp.request();
    await this.#catchUp.settled();
    if (this.#failure !== undefined) throw this.#failure as Error;
    return this.#position;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#resources.dispose();
    this.#gapTimer?.[Symbol.dispose]();
    await this.#catchUp[Symbol.asyncDispose]();
  }

  #receive(messages: readonly RelayedMessage[]): void {
    for (const { seq, text } of messages) {
      try {
        this.#accept(new Envelope(parseStoredMessage(text), text, seq));
      } catch (error) {
        this.#dependencies.context.log.warn('message of another host rejected', { error });
      }
    }
  }

  #accept(envelope: Envelope): void {
    const { seq } = envelope;
    if (seq === undefined) return this.#dependencies.subscribers.deliver(envelope);
    if (seq <= this.#position) return;
    if (this.#pending.size >= maxPending) this.#pending.clear();
    this.#pending.set(seq, envelope);
    this.#deliverPending();
    if (this.#pending.size > 0 && !this.#resources.disposed) this.#waitForGap();
  }

  /** Delivers the messages that directly follow. */
  #deliverPending(): void {
    for (let next = this.#takeNext(); next !== undefined; next = this.#takeNext()) {
      this.#dependencies.subscribers.deliver(next);
    }
  }

  #takeNext(): Envelope | undefined {
    const next = this.#pending.get(this.#position + 1);
    if (next === undefined) return undefined;
    this.#position += 1;
    this.#pending.delete(this.#position);
    return next;
  }

  #waitForGap(): void {
    this.#gapTimer ??= this.#dependencies.context.clock.after(gapDelayMs, () => {
      this.#gapTimer = undefined;
      if (this.#pending.size > 0) this.#catchUp.request();
    });
  }

  /** Reads the messages after the position; never rejects. */
  async #readMissing(): Promise<void> {
    try {
      while (!this.#resources.disposed && (await this.#readPage()));
      this.#failure = undefined;
    } catch (error) {
      if (this.#failure === undefined) this.#dependencies.context.log.warn('messages could not be read', { error });
      this.#failure = error;
    }
  }

  /** Returns whether there are more pages. */
  async #readPage(): Promise<boolean> {
    const { live, subscribers } = this.#dependencies;
    let rows = await live.after(this.#position, pageSize);
    const isFull = rows.length >= pageSize;
    const lastRow = rows.at(-1)?.seq ?? this.#position;
    const last = isFull ? lastRow : Math.max(lastRow, ...this.#pending.keys());
    if (last > lastRow || !isContiguous(rows, this.#position)) {
      // A missing number may belong to a message that another host is about to commit.
      await live.settle();
      const settled = await live.after(this.#position, pageSize);
      rows = settled.filter(({ seq }) => seq <= last);
      if (settled.length >= pageSize) this.#deliverRows(rows, rows.at(-1)?.seq ?? last);
      else this.#deliverRows(rows, last);
    } else this.#deliverRows(rows, last);
    await subscribers.waitForCapacity();
    return isFull || rows.length >= pageSize;
  }

  /** Delivers rows and pending messages up to a number. */
  #deliverRows(rows: readonly LiveMessage[], upTo: number): void {
    const oldest = this.#dependencies.context.clock.now() / 1000 - maxAgeSeconds;
    const envelopes = new Map<number, Envelope>();
    for (const { seq, time, text } of rows) {
      if (text !== '' && time >= oldest) envelopes.set(seq, new Envelope(parseStoredMessage(text), text, seq));
    }
    for (const [seq, envelope] of this.#pending) {
      if (seq > upTo) continue;
      envelopes.set(seq, envelope);
      this.#pending.delete(seq);
    }
    for (const [seq, envelope] of [...envelopes].toSorted(([a], [b]) => a - b)) {
      // An event has delivered the others in the meantime.
      if (seq > this.#position) this.#dependencies.subscribers.deliver(envelope);
    }
    this.#position = Math.max(this.#position, upTo);
    this.#deliverPending();
  }
}

function isContiguous(rows: readonly LiveMessage[], position: number): boolean {
  return rows.every(({ seq }, index) => seq === position + index + 1);
}
