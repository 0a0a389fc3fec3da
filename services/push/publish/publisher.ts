import { Problem } from '../../contracts/problem.ts';
import { pushPublished, pushTakenBack } from '../../contracts/push/topics.ts';
import type { Context } from '../../contracts/service.ts';
import { Batcher } from '../../kit/batcher.ts';
import { compose, type Draft } from '../domain/message.ts';
import { defaultPriority } from '../domain/priority.ts';
import { refuse } from '../domain/refusals.ts';
import { inboxCopy } from './inbox-copy.ts';
import { Envelope } from '../subscribe/envelope.ts';
import { orderedId } from './message-ids.ts';
import type { WriteMessages, Recorded } from './write-messages.ts';
import type { AttachmentStore } from '../store/attachments.ts';
import type { MessageStore } from '../store/messages.ts';
import type { DelayedMessage, DelayedMessageStore } from '../store/delayed-messages.ts';

interface Waiting extends Recorded {
  readonly draft: Draft;
  /** Set for offers: a key that was taken before makes it void. */
  readonly key: string | undefined;
  readonly resolve: (envelope: Envelope | undefined) => void;
  readonly reject: (error: unknown) => void;
}

export interface PublisherParts {
  readonly context: Pick<Context, 'clock' | 'random' | 'commit' | 'bus' | 'log'>;
  readonly messages: MessageStore;
  readonly schedule: DelayedMessageStore;
  readonly attachments: AttachmentStore;
  readonly record: WriteMessages;
  /** Seconds that a message is kept where nothing else is said. */
  readonly cacheSeconds: () => number;
  /** Seconds that a message of a topic is kept; 0: it is not. */
  readonly keptSeconds: (topic: string) => number;
  readonly keepInInbox: boolean;
  /** Passes messages on; the next commit waits for it. */
  readonly onPublished: (envelopes: readonly Envelope[]) => Promise<void>;
  /** A message was put off until then, in unix seconds. */
  readonly onScheduled: (time: number) => void;
  /** Messages were taken back before their time. */
  readonly onCancelled: (ids: readonly string[]) => void;
}

/** Messages one commit takes at most. */
const largestBatch = 200;
/** The peer's command line client reads lines of 64 KiB and no longer ones. */
const longestLine = 65_000;

/**
 * Takes drafts, commits those that came together as one, tells their publishers, and only then passes them on to
 * whoever listens.
 */
export class Publisher {
  readonly #parts: PublisherParts;
  readonly #waiting = new Batcher<Waiting>({ largest: largestBatch, work: (batch) => this.#publishAll(batch) });
  #closed = false;
  #healthy = true;

  constructor(parts: PublisherParts) {
    this.#parts = parts;
  }

  /** False while messages cannot be stored. */
  get healthy(): boolean {
    return this.#healthy;
  }

  /** When a message that is delivered at this time expires; unix seconds. */
  expiryOf({ topic, lifetime }: Pick<Draft, 'topic' | 'lifetime'>, time: number): number {
    const { keptSeconds, cacheSeconds } = this.#parts;
    // Who listens now may fetch the file of one that is not kept, too.
    return time + Math.min(lifetime ?? Infinity, keptSeconds(topic) || cacheSeconds());
  }

  /**
   * Resolves once the message is committed; undefined when `key` was taken before.
   *
   * @throws Problem 40000 for one that no client could read, `push.stopping` (503), and the database's.
   */
  async publish(draft: Draft, key?: string, id?: string): Promise<Envelope | undefined> {
    const prepared = this.prepare(draft, id);
    if (this.#closed) throw new Problem('push.stopping', 503, 'the server is stopping');
    return await new Promise((resolve, reject) => {
      this.#waiting.add({ ...prepared, draft, key, resolve, reject });
    });
  }

  /** A message as it is to be recorded. @throws Problem 40000 for one that no client could read. */
  prepare(draft: Draft, id = orderedId(this.#parts.context)): Recorded {
    const time = draft.due ?? Math.floor(this.#parts.context.clock.now() / 1000);
    const expires = this.expiryOf(draft, time);
    const kept = this.#parts.keptSeconds(draft.topic) > 0 ? draft : { ...draft, cached: false };
    const message = compose(kept, { id, time, expires });
    const text = JSON.stringify(message);
    if (Buffer.byteLength(text) > longestLine) throw refuse('invalid', 'the message as a whole is too large');
    const inbox = this.#parts.keepInInbox ? inboxCopy(draft, message) : undefined;
    return { message, text, inbox, email: draft.email };
  }

  /** Something else was stored since messages could not be. */
  recovered(): void {
    this.#healthy = true;
  }

  /** Refuses new messages and resolves when those at hand are settled. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#waiting.drained();
  }

  /** Passes committed messages on to whoever listens. */
  async announce(envelopes: readonly Envelope[]): Promise<void> {
    const { context, onPublished } = this.#parts;
    const passed = onPublished(envelopes);
    for (const { message } of envelopes) {
      const { sequence_id: sequence = message.id, topic } = message;
      if (message.event === 'message_clear') context.bus.publish(pushTakenBack, { topic, sequence, how: 'cleared' });
      if (message.event === 'message_delete') context.bus.publish(pushTakenBack, { topic, sequence, how: 'deleted' });
      if (message.event !== 'message') continue;
      context.bus.publish(pushPublished, {
        id: message.id,
        topic: message.topic,
        title: message.title ?? '',
        message: message.message ?? '',
        priority: message.priority ?? defaultPriority,
        tags: [...(message.tags ?? [])],
        time: message.time,
      });
    }
    await passed;
  }

  async #publishAll(batch: readonly Waiting[]): Promise<void> {
    const committed = await this.#settle(batch);
    try {
      await this.announce(committed);
    } catch (error) {
      this.#parts.context.log.error('messages were stored but not passed on', { error });
    }
  }

  /** Commits and tells the publishers how it went; answers what is to be passed on. */
  async #settle(batch: readonly Waiting[]): Promise<readonly Envelope[]> {
    try {
      const { out, later, cancelled } = await this.#parts.context.commit((transaction) =>
        this.#store(transaction, batch),
      );
      this.#healthy = true;
      const stored = new Map([...out, ...later].map((envelope) => [envelope.message, envelope]));
      for (const { message, resolve } of batch) resolve(stored.get(message));
      for (const { message } of later) this.#parts.onScheduled(message.time);
      if (cancelled.length > 0) this.#parts.onCancelled(cancelled);
      return out;
    } catch (error) {
      this.#healthy = false;
      for (const { reject } of batch) reject(error);
      return [];
    }
  }

  /** What of the batch is out, what waits for its time, and the ids of what was taken back. */
  async #store(transaction: Context['db'], batch: readonly Waiting[]) {
    const { messages, schedule, attachments, record, context } = this.#parts;
    const keys = batch.flatMap(({ key }) => key ?? []);
    const free = await messages.claimKeys(transaction, keys, Math.floor(context.clock.now() / 1000));
    // The first of two with one key takes it.
    const wanted = batch.filter(({ key }) => key === undefined || free.delete(key));
    await attachments.insert(
      transaction,
      wanted.flatMap(({ draft }) => draft.file ?? []),
    );
    const cancelled: string[] = [];
    let later: Waiting[] = [];
    for (const each of wanted) {
      const { due, sequenceId, topic, event } = each.draft;
      if (sequenceId !== undefined && event !== 'message_clear') {
        cancelled.push(...(await schedule.cancel(transaction, topic, sequenceId)));
        const replaced = later.filter(({ draft }) => draft.topic === topic && draft.sequenceId === sequenceId);
        later = later.filter((other) => !replaced.includes(other));
        cancelled.push(...replaced.map(({ message }) => message.id));
      }
      if (due !== undefined) later.push(each);
    }
    await attachments.remove(transaction, cancelled);
    const out = await record(
      transaction,
      wanted.filter(({ draft }) => draft.due === undefined),
    );
    if (later.length > 0) {
      const after = await messages.top(transaction);
      await schedule.insert(
        transaction,
        later.map((each) => rowOf(each, after)),
      );
    }
    // One that was replaced at once was accepted all the same.
    const waiting = wanted.filter(({ draft }) => draft.due !== undefined);
    return { out, later: waiting.map(({ message, text }) => new Envelope(message, text)), cancelled };
  }
}

function rowOf({ draft, message, text, inbox }: Waiting, after: number): DelayedMessage {
  const { id, topic, time, expires = time } = message;
  const sequence = message.sequence_id ?? id;
  return { id, topic, sequence, time, expires, text, entry: inbox ?? null, after, account: draft.account ?? null };
}
