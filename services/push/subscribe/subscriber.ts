import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { Clock } from '../../contracts/service.ts';
import type { Identity } from '../../contracts/control/accounts.ts';
import type { Filter } from '../domain/filter.ts';
import type { StoredMessage } from '../store/messages.ts';
import { seenFrom, type Outside } from './file-addresses.ts';
import { framesOfStored, readStored, type Envelope, type Format } from './envelope.ts';

/** A reader this far behind is cut off; it comes back with `since` and reads the rest from the cache. Bytes. */
const largestBacklog = 1024 * 1024;
/** What may wait for the history to be written: it is written at once then. Bytes. */
const largestHold = largestBacklog / 2;

/** A reader of history that takes nothing for this long is cut off; ms. */
const longestStall = 60_000;

/** Where events are written to. */
export interface Outlet {
  readonly stream: Writable;
  /** Below the stream, where chunks of an HTTP answer may be written as they are: all readers share them. */
  readonly chunks?: Writable;
  /** Ends it as its protocol has it. */
  end(): void;
  /** Set where the protocol has a sign of life of its own. */
  readonly life?: {
    /** Asks the reader for a sign. */
    ask(): void;
    /** Cuts off a reader that has owed one for too long. */
    check(): void;
  };
}

export interface Subscription {
  readonly topics: readonly string[];
  /** The list of topics as it was asked for. */
  readonly asked: string;
  readonly format: Format;
  readonly filter: Filter | undefined;
  /** Who reads; what that allows is looked at again when accounts change. */
  readonly identity: Identity | undefined;
  /** Undefined for who reaches this server at the address that files have in kept messages. */
  readonly outside?: Outside | undefined;
}

/** One open stream. Live messages are held back until the history that was asked for is written. */
export class Subscriber {
  readonly subscription: Subscription;
  readonly #outlet: Outlet;
  readonly #stream: Writable;
  readonly #onSlow: () => void;
  #held: Envelope[] | undefined;
  #heldBytes = 0;
  /** Cached messages up to here came with the history. */
  #written = 0;
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

  /** Gives a sign of life, or asks for one; history that is being written is one itself. */
  keepAlive(event: () => Envelope): void {
    if (this.#outlet.life !== undefined) this.#outlet.life.ask();
    else if (this.#held === undefined) this.tell(event());
  }

  /** Cuts a reader off that was asked for a sign of life and gave none. */
  checkLife(): void {
    this.#outlet.life?.check();
  }

  /** Writes an event whatever the filter says. */
  tell(envelope: Envelope): void {
    if (!this.open) return;
    const { format, outside } = this.subscription;
    const { stream, chunks } = this.#outlet;
    const seen = envelope.seenFrom(outside);
    if (chunks === undefined) stream.write(seen.frame(format));
    else chunks.write(seen.chunk(format));
    if ((chunks ?? stream).writableLength > largestBacklog) this.#cut();
  }

  /** From now on live messages wait until {@link release}. */
  hold(): void {
    this.#held = [];
  }

  /** Writes pages of history no faster than they are read. */
  async replay(pages: AsyncIterable<readonly StoredMessage[]>, clock: Pick<Clock, 'after'>): Promise<void> {
    await writeHistory(this.#stream, pages, this.subscription, clock);
  }

  /** History is written up to and with this `seq`: what was held and is newer follows. */
  release(upTo: number): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    this.#written = upTo;
    for (const envelope of held) if (envelope.seq === undefined || envelope.seq > upTo) this.tell(envelope);
  }

  end(): void {
    this.#ended = true;
    this.#outlet.end();
  }

  #cut(): void {
    this.#held = undefined;
    if (!this.open) return;
    this.#onSlow();
    this.#stream.destroy();
  }
}

/**
 * Writes the wanted ones of stored messages, waiting whenever the reader does not keep up. Stops when it has gone, and cuts
 * off one that takes nothing for a minute: what it was to read lies in memory.
 */
export async function writeHistory(
  stream: Writable,
  pages: AsyncIterable<readonly StoredMessage[]>,
  { format, filter, outside }: Pick<Subscription, 'format' | 'filter' | 'outside'>,
  clock: Pick<Clock, 'after'>,
): Promise<void> {
  for await (const page of pages) {
    const wanted = page
      .map(({ text }) => ({
        text: seenFrom(text, outside),
        message: filter === undefined ? undefined : readStored(text),
      }))
      .filter(({ message }) => message === undefined || filter?.(message) === true);
    if (stream.destroyed || stream.writableEnded) return;
    if (wanted.length === 0 || stream.write(framesOfStored(format, wanted))) continue;
    using _patience = clock.after(longestStall, () => stream.destroy());
    await drained(stream);
  }
}

/** Resolves when the reader has caught up or gone. */
async function drained(stream: Writable): Promise<void> {
  const stop = new AbortController();
  const { signal } = stop;
  try {
    await Promise.race([once(stream, 'drain', { signal }), once(stream, 'close', { signal })]);
  } catch (error) {
    // A reader that goes away with an error has gone all the same.
    if (!stream.destroyed) throw error;
  } finally {
    stop.abort();
  }
}
