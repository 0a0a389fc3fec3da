import { setImmediate as nextTurn } from 'node:timers/promises';
import { everyone, type Accounts } from '../../contracts/control/accounts.ts';
import type { Log } from '../../contracts/service.ts';
import type { Envelope } from '../messages/envelope.ts';
import type { Subscriber } from './subscriber.ts';

/** Number of sockets written before yielding to the event loop. */
const sliceSize = 500;
/** Maximum number of messages queued for fan-out before publishers must wait. */
const maxQueueLength = 1000;
/** Bytes written to a socket before yielding, so that a burst is not mistaken for a slow client. */
const yieldAfterBytes = 128 * 1024;

/** Open streams by topic. */
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

  /** Returns true when a stream is open on this topic. */
  hasSubscribers(topic: string): boolean {
    return this.#byTopic.has(topic);
  }

  /** Returns the number of open streams of this topic. */
  count(topic: string): number {
    return this.#byTopic.get(topic)?.size ?? 0;
  }

  /** Registers a stream for its topics until it is disposed. */
  add(subscriber: Subscriber): Disposable {
    this.#all.add(subscriber);
    for (const topic of subscriber.subscription.topics) {
      let readers = this.#byTopic.get(topic);
      if (readers === undefined) this.#byTopic.set(topic, (readers = new Set()));
      readers.add(subscriber);
    }
    return { [Symbol.dispose]: () => this.#remove(subscriber) };
  }

  /** Queues a message for the streams of its topic and returns immediately, so that the publisher is answered first. */
  deliver(envelope: Envelope): void {
    if (!this.#byTopic.has(envelope.message.topic)) return;
    this.#queue.push(envelope);
    if (this.#pumping) return;
    this.#pumping = true;
    this.#pump().catch((error: unknown) => this.#log.error('message fan-out failed', { error }));
  }

  /** Sends messages, and resolves when more can be accepted. */
  deliverAll(envelopes: readonly Envelope[]): Promise<void> {
    for (const envelope of envelopes) this.deliver(envelope);
    return this.waitForCapacity();
  }

  /** Resolves when the queue is short enough to accept more. */
  async waitForCapacity(): Promise<void> {
    while (this.#queue.length > maxQueueLength) await nextTurn();
  }

  /** Sends a keepalive to each stream. */
  async keepAlive(event: (subscriber: Subscriber) => Envelope): Promise<void> {
    let sent = 0;
    for (const subscriber of [...this.#all]) {
      subscriber.keepAlive(() => event(subscriber));
      sent += 1;
      if (sent % sliceSize === 0) await nextTurn();
    }
  }

  /** Disconnects clients that have not answered a ping in time. */
  checkPongs(): void {
    for (const subscriber of [...this.#all]) subscriber.checkPong();
  }

  /**
   * Ends streams whose client may no longer read: the account was deleted or changed, or its token expired. A change of
   * the anonymous grants affects all accounts, because they are the fallback.
   */
  recheck(account: string = everyone): void {
    for (const subscriber of [...this.#all]) {
      const { identity, topics } = subscriber.subscription;
      if (account !== everyone && identity?.account !== account) continue;
      if (!topics.every((topic) => this.#accounts.may(identity, 'push', 'read', topic))) subscriber.end();
    }
  }

  endAll(): void {
    for (const subscriber of this.#all) subscriber.end();
  }

  async #pump(): Promise<void> {
    try {
      await nextTurn();
      let bytes = 0;
      for (let envelope = this.#queue.shift(); envelope !== undefined; envelope = this.#queue.shift()) {
        bytes += envelope.text.length;
        if (bytes > yieldAfterBytes) {
          await nextTurn();
          bytes = 0;
        }
        const readers = [...(this.#byTopic.get(envelope.message.topic) ?? [])];
        for (const [index, reader] of readers.entries()) {
          reader.offer(envelope);
          if ((index + 1) % sliceSize === 0) await nextTurn();
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
