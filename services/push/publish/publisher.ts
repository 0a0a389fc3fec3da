import * as m from '#messages/push-problems';
import { Problem } from '../../contracts/problem.ts';
import { pushPublished, pushRetracted } from '../../contracts/push/topics.ts';
import type { Context } from '../../contracts/service.ts';
import { Batcher } from '../../kit/batcher.ts';
import { compose, type Draft } from '../domain/message.ts';
import { defaultPriority } from '../domain/priority.ts';
import { refuse } from '../domain/refusals.ts';
import { buildInboxCopy } from './inbox-copy.ts';
import { Envelope } from '../messages/envelope.ts';
import { createOrderedId } from './message-ids.ts';
import type { WriteMessages, Recorded } from '../messages/write-messages.ts';
import type { AttachmentStore } from '../store/attachments.ts';
import type { MessageStore } from '../store/messages.ts';
import type { DelayedMessageRow, DelayedMessageStore } from '../store/delayed-messages.ts';

interface PendingMessage extends Recorded {
  readonly draft: Draft;
  /** Idempotency key; a message with a key that was used before is not published. */
  readonly key: string | undefined;
  readonly resolve: (envelope: Envelope | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Stores of messages and their files. */
export interface PublisherStores {
  readonly messages: MessageStore;
  readonly delayedMessages: DelayedMessageStore;
  readonly attachments: AttachmentStore;
}

/** Settings that decide how long messages are kept. */
export interface RetentionPolicy {
  /** Retention of messages in seconds. */
  readonly cacheSeconds: () => number;
  /** Returns the number of seconds that messages of a topic are kept; 0 when they are not cached. */
  readonly keptSeconds: (topic: string) => number;
  readonly keepInInbox: boolean;
}

/** Receives what was published. */
export interface PublishObserver {
  /** Sends messages to subscribers; the next commit waits for it. */
  readonly onPublished: (envelopes: readonly Envelope[]) => Promise<void>;
  /** Called with the time of a delayed message in unix seconds. */
  readonly onScheduled: (time: number) => void;
  /** Called with the ids of cancelled delayed messages. */
  readonly onCancelled: (ids: readonly string[]) => void;
}

export interface PublisherDependencies {
  readonly context: Pick<Context, 'clock' | 'random' | 'commit' | 'bus' | 'log'>;
  readonly stores: PublisherStores;
  readonly writeMessages: WriteMessages;
  readonly retention: RetentionPolicy;
  readonly observer: PublishObserver;
}

/** Maximum number of messages in one commit. */
const maxBatchSize = 200;
/** Maximum length of a message as JSON; ntfy's command line client reads lines of up to 64 KiB. */
const maxMessageBytes = 65_000;

/**
 * Publishes drafts: commits concurrent drafts together, resolves their publishers and then sends the messages to
 * subscribers.
 */
export class Publisher {
  readonly #dependencies: PublisherDependencies;
  readonly #pending = new Batcher<PendingMessage>({ maxBatchSize, process: (batch) => this.#publishAll(batch) });
  #closed = false;
  #healthy = true;

  constructor(dependencies: PublisherDependencies) {
    this.#dependencies = dependencies;
  }

  /** False while messages cannot be stored. */
  get healthy(): boolean {
    return this.#healthy;
  }

  /** Returns the expiry of a message delivered at `time`; unix seconds. */
  getExpiry({ topic, lifetime }: Pick<Draft, 'topic' | 'lifetime'>, time: number): number {
    const { keptSeconds, cacheSeconds } = this.#dependencies.retention;
    // Subscribers may download the file of a message that is not cached.
    return time + Math.min(lifetime ?? Infinity, keptSeconds(topic) || cacheSeconds());
  }

  /**
   * Resolves after the message is committed; undefined when `key` was used before.
   *
   * @throws Problem 40000 for a message that is too large for clients, `push.stopping` (503), and database errors
   */
  async publish(draft: Draft, key?: string, id?: string): Promise<Envelope | undefined> {
    const prepared = this.prepare(draft, id);
    if (this.#closed) throw new Problem('push.stopping', 503, m.stopping);
    return await new Promise((resolve, reject) => {
      this.#pending.add({ ...prepared, draft, key, resolve, reject });
    });
  }

  /**
   * Builds the message to be recorded.
   *
   * @throws Problem 40000 for a message that is too large for clients
   */
  prepare(draft: Draft, id = createOrderedId(this.#dependencies.context)): Recorded {
    const time = draft.due ?? Math.floor(this.#dependencies.context.clock.now() / 1000);
    const expires = this.getExpiry(draft, time);
    const effective = this.#dependencies.retention.keptSeconds(draft.topic) > 0 ? draft : { ...draft, cached: false };
    const message = compose(effective, { id, time, expires });
    const text = JSON.stringify(message);
    if (Buffer.byteLength(text) > maxMessageBytes) throw refuse('invalid', 'the message as a whole is too large');
    const inbox = this.#dependencies.retention.keepInInbox ? buildInboxCopy(draft, message) : undefined;
    return { message, text, inbox, email: draft.email };
  }

  /** Marks the storage as healthy after another write succeeded. */
  markHealthy(): void {
    this.#healthy = true;
  }

  /** Refuses new messages and resolves when the pending ones are settled. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#pending.drained();
  }

  /** Sends committed messages to subscribers and publishes them on the bus. */
  async announce(envelopes: readonly Envelope[]): Promise<void> {
    const { context } = this.#dependencies;
    const { onPublished } = this.#dependencies.observer;
    const fannedOut = onPublished(envelopes);
    for (const { message } of envelopes) {
      const { sequence_id: sequence = message.id, topic } = message;
      if (message.event === 'message_clear') context.bus.publish(pushRetracted, { topic, sequence, how: 'cleared' });
      if (message.event === 'message_delete') context.bus.publish(pushRetracted, { topic, sequence, how: 'deleted' });
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
    await fannedOut;
  }

  async #publishAll(batch: readonly PendingMessage[]): Promise<void> {
    const committed = await this.#commitBatch(batch);
    try {
      await this.announce(committed);
    } catch (error) {
      this.#dependencies.context.log.error('message fan-out failed', { error });
    }
  }

  /** Commits a batch, settles its publishers and returns the messages to be sent. */
  async #commitBatch(batch: readonly PendingMessage[]): Promise<readonly Envelope[]> {
    try {
      const { out, delayed, cancelled } = await this.#dependencies.context.commit((transaction) =>
        this.#store(transaction, batch),
      );
      this.#healthy = true;
      const stored = new Map([...out, ...delayed].map((envelope) => [envelope.message, envelope]));
      for (const { message, resolve } of batch) resolve(stored.get(message));
      for (const { message } of delayed) this.#dependencies.observer.onScheduled(message.time);
      if (cancelled.length > 0) this.#dependencies.observer.onCancelled(cancelled);
      return out;
    } catch (error) {
      this.#healthy = false;
      for (const { reject } of batch) reject(error);
      return [];
    }
  }

  /** Stores a batch and returns the published messages, the delayed ones and the ids of cancelled ones. */
  async #store(transaction: Context['db'], batch: readonly PendingMessage[]) {
    const { writeMessages, context } = this.#dependencies;
    const { messages, delayedMessages, attachments } = this.#dependencies.stores;
    const keys = batch.flatMap(({ key }) => key ?? []);
    const newKeys = await messages.claimKeys(transaction, keys, Math.floor(context.clock.now() / 1000));
    // The first of two messages with one key is published.
    const accepted = batch.filter(({ key }) => key === undefined || newKeys.delete(key));
    await attachments.insert(
      transaction,
      accepted.flatMap(({ draft }) => draft.file ?? []),
    );
    const cancelled: string[] = [];
    let later: PendingMessage[] = [];
    for (const pending of accepted) {
      const { due, sequenceId, topic, event } = pending.draft;
      if (sequenceId !== undefined && event !== 'message_clear') {
        cancelled.push(...(await delayedMessages.cancel(transaction, topic, sequenceId)));
        const replaced = later.filter(({ draft }) => draft.topic === topic && draft.sequenceId === sequenceId);
        later = later.filter((other) => !replaced.includes(other));
        cancelled.push(...replaced.map(({ message }) => message.id));
      }
      if (due !== undefined) later.push(pending);
    }
    await attachments.remove(transaction, cancelled);
    const out = await writeMessages(
      transaction,
      accepted.filter(({ draft }) => draft.due === undefined),
    );
    if (later.length > 0) {
      const after = await messages.top(transaction);
      await delayedMessages.insert(
        transaction,
        later.map((pending) => toDelayedRow(pending, after)),
      );
    }
    // Delayed messages that were replaced in the same batch were accepted, too.
    const delayed = accepted.filter(({ draft }) => draft.due !== undefined);
    return { out, delayed: delayed.map(({ message, text }) => new Envelope(message, text)), cancelled };
  }
}

function toDelayedRow({ draft, message, text, inbox }: PendingMessage, after: number): DelayedMessageRow {
  const { id, topic, time, expires = time } = message;
  const sequence = message.sequence_id ?? id;
  return { id, topic, sequence, time, expires, text, entry: inbox ?? null, after, account: draft.account ?? null };
}
