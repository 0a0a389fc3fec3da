import { setImmediate as nextTurn } from 'node:timers/promises';
import { everyone, type Accounts } from '../../contracts/control/accounts.ts';
import type { Log } from '../../contracts/service.ts';
import type { Envelope } from './envelope.ts';
import type { Subscriber } from './subscriber.ts';

/** Sockets written to before others get their turn. */
const slice = 500;
/** Messages that may wait for their fan-out before publishers are made to wait. */
const longestQueue = 1000;
/** Bytes for one socket before it gets the chance to pass them on; else a burst would look like a reader that sleeps. */
const breath = 128 * 1024;

/** All open streams, by topic. */
export class Subscribers {
  readonly #accounts: Accounts;
  readonly #log: Log;
  readonly #all = new Set<Subscriber>();
  readonly #byTopic = new Map<string, Set<Subscriber>>();
  readonly #queue: Envelope[] = [];
  #pumping = false;

  constructor(accounts: Accounts, log: Log) {
    this.#log = log;
    this.#accounts = accounts;
  }

  get size(): number {
    return this.#all.size;
  }

  /** Whether a stream is open on this topic. */
  listening(topic: string): boolean {
    return this.#byTopic.has(topic);
  }

  /** Streams that are open on this topic. */
  countOf(topic: string): number {
    return this.#byTopic.get(topic)?.size ?? 0;
  }

  /** Registers a stream for its topics; the disposal takes it out again. */
  add(subscriber: Subscriber): Disposable {
    this.#all.add(subscriber);
    for (const topic of subscriber.subscription.topics) {
      let readers = this.#byTopic.get(topic);
      if (readers === undefined) this.#byTopic.set(topic, (readers = new Set()));
      readers.add(subscriber);
    }
    return { [Symbol.dispose]: () => this.#remove(subscriber) };
  }

  /** Queues a message for its topic's streams. Returns at once: the publisher is answered first. */
  deliver(envelope: Envelope): void {
    if (!this.#byTopic.has(envelope.message.topic)) return;
    this.#queue.push(envelope);
    if (this.#pumping) return;
    this.#pumping = true;
    this.#pump().catch((error: unknown) => this.#log.error('messages were not passed on', { error }));
  }

  /** Resolves when the fan-out has caught up enough to take more. */
  async room(): Promise<void> {
    while (this.#queue.length > longestQueue) await nextTurn();
  }

  /** Gives each stream a sign of life of its own. */
  async keepAlive(event: (subscriber: Subscriber) => Envelope): Promise<void> {
    let told = 0;
    for (const subscriber of [...this.#all]) {
      subscriber.keepAlive(() => event(subscriber));
      told += 1;
      if (told % slice === 0) await nextTurn();
    }
  }

  /** Cuts off readers that were asked for a sign of life and gave none. */
  checkLife(): void {
    for (const subscriber of [...this.#all]) subscriber.checkLife();
  }

  /**
   * Ends the streams whose reader may no longer read: the account is gone or changed, its token has expired. A change of
   * the anonymous caller's grants concerns everyone, since accounts without a grant of their own fall back on them.
   */
  recheck(account: string = everyone): void {
    for (const subscriber of [...this.#all]) {
      const { identity, topics } = subscriber.subscription;
      if (account !== everyone && identity?.account !== account) continue;
      if (!topics.every((topic) => this.#accounts.may(identity, 'push', 'read', topic))) subscriber.end();
    }
  }

  /** Ends all streams. */
  endAll(): void {
    for (const subscriber of this.#all) subscriber.end();
  }

  async #pump(): Promise<void> {
    try {
      await nextTurn();
      let bytes = 0;
      for (let envelope = this.#queue.shift(); envelope !== undefined; envelope = this.#queue.shift()) {
        bytes += envelope.text.length;
        if (bytes > breath) {
          await nextTurn();
          bytes = 0;
        }
        const readers = [...(this.#byTopic.get(envelope.message.topic) ?? [])];
        for (const [index, reader] of readers.entries()) {
          reader.offer(envelope);
          if ((index + 1) % slice === 0) await nextTurn();
        }
      }
    } finally {
      this.#pumping = false;
    }
  }

  #remove(subscriber: Subscriber): void {
    this.#all.delete(subscriber);
    for (const topic of subscriber.subscription.topics) {
      const readers = this.#byTopic.get(topic);
      readers?.delete(subscriber);
      if (readers?.size === 0) this.#byTopic.delete(topic);
    }
  }
}
