import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { Clock } from '../../contracts/service.ts';
import type { Identity } from '../../contracts/control/accounts.ts';
import type { Filter } from '../domain/filter.ts';
import type { StoredMessage } from '../store/messages.ts';
import { rewriteFileAddresses, type FileAddressRewrite } from '../messages/file-addresses.ts';
import { frameStoredMessages, type Envelope, type Format } from '../messages/envelope.ts';
import { parseStoredMessage } from '../domain/stored-message.ts';

/**
 * Maximum number of unread bytes of a stream. A slower client is disconnected; it reconnects with `since` and reads the
 * rest from the cache.
 */
const maxBacklogBytes = 1024 * 1024;
/** Maximum number of bytes queued while history is written. */
const maxQueuedBytes = maxBacklogBytes / 2;

/** Milliseconds without progress after which a client that reads history is disconnected. */
const historyStallTimeoutMs = 60_000;

/** Destination of stream events. */
export interface Outlet {
  readonly stream: Writable;
  /** Socket below the stream to which shared HTTP chunks are written directly. */
  readonly chunks?: Writable;
  /** Ends the stream according to its protocol. */
  end(): void;
  /** Set when the protocol has its own keepalive. */
  readonly lifetime?: {
    /** Sends a ping. */
    ping(): void;
    /** Disconnects a client that has not answered a ping in time. */
    check(): void;
  };
}

export interface Subscription {
  readonly topics: readonly string[];
  /** Comma-separated list of topics as requested. */
  readonly topicList: string;
  readonly format: Format;
  readonly filter: Filter | undefined;
  /** Identity of the client; its permissions are checked again when accounts change. */
  readonly identity: Identity | undefined;
  /** Undefined for clients that use the stored address of files. */
  readonly fileRewrite?: FileAddressRewrite | undefined;
}

/** Open stream. Live messages are queued until the requested history is written. */
export class Subscriber {
  readonly subscription: Subscription;
  readonly #outlet: Outlet;
  readonly #stream: Writable;
  readonly #onSlow: () => void;
  #queue: Envelope[] | undefined;
  #queuedBytes = 0;
  /** Cached messages up to this number were part of the history. */
  #historySeq = 0;
  #ended = false;

  constructor(subscription: Subscription, outlet: Outlet, onSlow: () => void) {
    this.subscription = subscription;
    this.#outlet = outlet;
    this.#stream = outlet.stream;
    this.#onSlow = onSlow;
  }

  get open(): boolean {
    return !this.#ended && !this.#stream.writableEnded && !this.#stream.destroyed;
  }

  /** Receives a message of one of its topics. */
  offer(envelope: Envelope): void {
    if (this.subscription.filter?.(envelope.message) === false) return;
    if (this.#queue !== undefined) {
      this.#queuedBytes += envelope.frame(this.subscription.format).length;
      this.#queue.push(envelope);
      if (this.#queuedBytes > maxQueuedBytes) this.#disconnect();
      return;
    }
    if (envelope.seq === undefined || envelope.seq > this.#historySeq) this.write(envelope);
  }

  /** Sends a keepalive event or a ping; history in progress serves as one. */
  keepAlive(event: () => Envelope): void {
    if (this.#outlet.lifetime !== undefined) this.#outlet.lifetime.ping();
    else if (this.#queue === undefined) this.write(event());
  }

  /** Disconnects a client that has not answered a ping in time. */
  checkPong(): void {
    this.#outlet.lifetime?.check();
  }

  /** Writes an event regardless of the filter. */
  write(envelope: Envelope): void {
    if (!this.open) return;
    const { format, fileRewrite } = this.subscription;
    const { stream, chunks } = this.#outlet;
    const rewritten = envelope.withFileAddresses(fileRewrite);
    if (chunks === undefined) stream.write(rewritten.frame(format));
    else chunks.write(rewritten.chunk(format));
    if ((chunks ?? stream).writableLength > maxBacklogBytes) this.#disconnect();
  }

  /** Queues live messages until {@link release}. */
  startQueue(): void {
    this.#queue = [];
  }

  /** Writes pages of history at the pace of the client. */
  async replay(pages: AsyncIterable<readonly StoredMessage[]>, clock: Pick<Clock, 'after'>): Promise<void> {
    await writeHistory(this.#stream, pages, this.subscription, clock);
  }

  /** Sends queued messages that are newer than the history, which was written up to and including this `seq`. */
  release(upTo: number): void {
    const queue = this.#queue ?? [];
    this.#queue = undefined;
    this.#historySeq = upTo;
    for (const envelope of queue) if (envelope.seq === undefined || envelope.seq > upTo) this.write(envelope);
  }

  end(): void {
    this.#ended = true;
    this.#outlet.end();
  }

  #disconnect(): void {
    this.#queue = undefined;
    if (!this.open) return;
    this.#onSlow();
    this.#stream.destroy();
  }
}

/**
 * Writes stored messages that match the filter, waiting for slow clients. Stops when the client disconnects, and
 * disconnects it after {@link historyStallTimeoutMs} without progress, because pages are held in memory.
 */
export async function writeHistory(
  stream: Writable,
  pages: AsyncIterable<readonly StoredMessage[]>,
  { format, filter, fileRewrite }: Pick<Subscription, 'format' | 'filter' | 'fileRewrite'>,
  clock: Pick<Clock, 'after'>,
): Promise<void> {
  for await (const page of pages) {
    const matching = page
      .map(({ text }) => ({
        text: rewriteFileAddresses(text, fileRewrite),
        message: filter === undefined ? undefined : parseStoredMessage(text),
      }))
      .filter(({ message }) => message === undefined || filter?.(message) === true);
    if (stream.destroyed || stream.writableEnded) return;
    if (matching.length === 0 || stream.write(frameStoredMessages(format, matching))) continue;
    using _timeout = clock.after(historyStallTimeoutMs, () => stream.destroy());
    await waitForDrain(stream);
  }
}

/** Resolves when the client has read the backlog or disconnected. */
async function waitForDrain(stream: Writable): Promise<void> {
  const stop = new AbortController();
  const { signal } = stop;
  try {
    await Promise.race([once(stream, 'drain', { signal }), once(stream, 'close', { signal })]);
  } catch (error) {
    // Ignores errors of a destroyed stream.
    if (!stream.destroyed) throw error;
  } finally {
    stop.abort();
  }
}
