import type { Identity } from '../../contracts/control/accounts.ts';
import type { Clock } from '../../contracts/service.ts';
import { isUnifiedPushTopic } from '../domain/topics.ts';
import type { Sender } from './limits.ts';

/** Milliseconds after which a subscriber is no longer charged for a topic, as in ntfy. */
const idleMs = 24 * 60 * 60 * 1000;
/** Milliseconds without a subscriber after which a Matrix server is requested to delete the address. */
const abandonAfterMs = 12 * 60 * 60 * 1000;
/** Maximum number of remembered topics; the least recently subscribed one is dropped first. */
const maxTopics = 50_000;

interface Entry extends Sender {
  readonly lastSeenAt: number;
}

/**
 * Subscriber-based rate limiting of ntfy: messages that application servers send to UnifiedPush topics are charged to
 * the subscriber, so that one server sending for many users consumes only the limits of those users. Kept in memory, as
 * the limits are.
 */
export class SubscriberRateLimits {
  readonly #clock: Clock;
  readonly #isEnabled: () => boolean;
  readonly #mayWrite: (identity: Identity | undefined, topic: string) => boolean;
  readonly #entries = new Map<string, Entry>();
  /** Time of the first refused message of topics without a subscriber. */
  readonly #refusedSince = new Map<string, number>();

  constructor(
    clock: Clock,
    isEnabled: () => boolean,
    mayWrite: (identity: Identity | undefined, topic: string) => boolean,
  ) {
    this.#clock = clock;
    this.#isEnabled = isEnabled;
    this.#mayWrite = mayWrite;
  }

  /**
   * Records a subscriber of topics. Only subscribers with publish permission are charged, because visitors could
   * otherwise be charged for arbitrary topics.
   */
  recordSubscriber({ identity, address }: Sender, topics: readonly string[]): void {
    if (!this.#isEnabled()) return;
    for (const topic of topics) {
      if (!isUnifiedPushTopic(topic) || !this.#mayWrite(identity, topic)) continue;
      this.#refusedSince.delete(topic);
      setAndEvict(this.#entries, topic, { identity, address, lastSeenAt: this.#clock.now() });
    }
  }

  /** Returns the sender that a message is charged to: the recorded subscriber, or the publisher without one. */
  getChargedSender(topic: string, sender: Sender): Sender {
    return this.#find(topic) ?? sender;
  }

  /** Returns true for a topic that accepts no messages until a client subscribes. */
  isAwaitingSubscriber(topic: string): boolean {
    const waiting = this.#isEnabled() && isUnifiedPushTopic(topic) && this.#find(topic) === undefined;
    if (waiting && !this.#refusedSince.has(topic)) setAndEvict(this.#refusedSince, topic, this.#clock.now());
    return waiting;
  }

  /** Returns true when a topic had no subscriber for so long that its address should be deleted by senders. */
  isAbandoned(topic: string): boolean {
    const since = this.#refusedSince.get(topic);
    return since !== undefined && this.#clock.now() - since > abandonAfterMs;
  }

  #find(topic: string): Entry | undefined {
    const entry = this.#entries.get(topic);
    if (entry === undefined || this.#clock.now() - entry.lastSeenAt < idleMs) return entry;
    this.#entries.delete(topic);
    return undefined;
  }
}

/** Inserts at the end of the map and drops the oldest entry when the map is full. */
function setAndEvict<T>(map: Map<string, T>, topic: string, value: T): void {
  map.delete(topic);
  map.set(topic, value);
  const [oldest] = map.keys();
  if (map.size > maxTopics && oldest !== undefined) map.delete(oldest);
}
