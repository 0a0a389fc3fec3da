import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Identity } from '../../contracts/accounts.ts';
import type { Filter } from '../domain/filter.ts';
import type { StoredMessage } from '../store/messages.ts';
import { frameOfStored, readStored, type Envelope, type Format } from './envelope.ts';

/** A reader this far behind is cut off; it comes back with `since` and reads the rest from the cache. Bytes. */
const largestBacklog = 1024 * 1024;
/** What may wait for the history to be written: it is written at once then. Bytes. */
const largestHold = largestBacklog / 2;

export interface Subscription {
  readonly topics: readonly string[];
  /** The list of topics as it was asked for. */
  readonly asked: string;
  readonly format: Format;
  readonly filter: Filter | undefined;
  /** Who reads; what that allows is looked at again when accounts change. */
  readonly identity: Identity | undefined;
}

/** One open stream. Live messages are held back until the history that was asked for is written. */
export class Subscriber {
  readonly subscription: Subscription;
  readonly #response: ServerResponse;
  readonly #onSlow: () => void;
  #held: Envelope[] | undefined;
  #heldBytes = 0;
  /** Cached messages up to here came with the history. */
  #written = 0;

  constructor(subscription: Subscription, response: ServerResponse, onSlow: () => void) {
    this.subscription = subscription;
    this.#response = response;
    this.#onSlow = onSlow;
  }

  get open(): boolean {
    return !this.#response.writableEnded && !this.#response.destroyed;
  }

  /** Takes a message of one of its topics. */
  offer(envelope: Envelope): void {
    if (this.subscription.filter?.(envelope.message) === false) return;
    if (this.#held !== undefined) {
      this.#heldBytes += envelope.frame(this.subscription.format).length;
      this.#held.push(envelope);
      if (this.#heldBytes > largestHold) this.#cut();
      return;
    }
    if (envelope.seq === undefined || envelope.seq > this.#written) this.tell(envelope);
  }

  /** Writes a sign of life; history that is being written is one itself. */
  keepAlive(envelope: Envelope): void {
    if (this.#held === undefined) this.tell(envelope);
  }

  /** Writes an event whatever the filter says. */
  tell(envelope: Envelope): void {
    if (!this.open) return;
    this.#response.write(envelope.frame(this.subscription.format));
    if (this.#response.writableLength > largestBacklog) this.#cut();
  }

  /** From now on live messages wait until {@link release}. */
  hold(): void {
    this.#held = [];
  }

  /** Writes pages of history no faster than they are read. */
  async replay(pages: AsyncIterable<readonly StoredMessage[]>): Promise<void> {
    await writeHistory(this.#response, pages, this.subscription);
  }

  /** History is written up to and with this `seq`: what was held and is newer follows. */
  release(upTo: number): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    this.#written = upTo;
    for (const envelope of held) if (envelope.seq === undefined || envelope.seq > upTo) this.tell(envelope);
  }

  end(): void {
    this.#response.end();
  }

  #cut(): void {
    this.#held = undefined;
    if (!this.open) return;
    this.#onSlow();
    this.#response.destroy();
  }
}

/** Writes the wanted ones of stored messages, waiting whenever the reader does not keep up. Stops when it has gone. */
export async function writeHistory(
  response: ServerResponse,
  pages: AsyncIterable<readonly StoredMessage[]>,
  { format, filter }: Pick<Subscription, 'format' | 'filter'>,
): Promise<void> {
  for await (const page of pages) {
    let text = '';
    for (const row of page) {
      const message = filter === undefined ? undefined : readStored(row.text);
      if (message === undefined || filter?.(message) === true) text += frameOfStored(format, row.text, message);
    }
    if (response.destroyed || response.writableEnded) return;
    if (text === '' || response.write(text)) continue;
    await drained(response);
  }
}

/** Resolves when the reader has caught up or gone. */
async function drained(response: ServerResponse): Promise<void> {
  const stop = new AbortController();
  const { signal } = stop;
  try {
    await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })]);
  } catch (error) {
    // A reader that goes away with an error has gone all the same.
    if (!response.destroyed) throw error;
  } finally {
    stop.abort();
  }
}
