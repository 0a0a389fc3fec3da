import type { Identity } from '../../contracts/control/accounts.ts';
import type { Clock } from '../../contracts/service.ts';
import { isUnifiedPushTopic } from '../domain/topics.ts';
import type { Sender } from './limits.ts';

/** Who did not listen for so long no longer stands for a topic, as at the peer. */
const idle = 24 * 60 * 60 * 1000;
/** After this time without anyone listening a Matrix server is told to forget the address. */
const patience = 12 * 60 * 60 * 1000;
/** Topics that are remembered at most; the one that was not listened to for longest goes first. */
const mostTopics = 50_000;

interface Entry extends Sender {
  readonly seen: number;
}

/**
 * Who is charged for what application servers send to topics of UnifiedPush: whoever listens there. So that one server that
 * sends for many people uses up nobody's limits but theirs. In memory, as the limits are.
 */
export class RateVisitors {
  readonly #clock: Clock;
  readonly #isOn: () => boolean;
  readonly #mayWrite: (identity: Identity | undefined, topic: string) => boolean;
  readonly #entries = new Map<string, Entry>();
  /** When a message was first refused because nobody listened. */
  readonly #unheard = new Map<string, number>();

  constructor(clock: Clock, isOn: () => boolean, mayWrite: (identity: Identity | undefined, topic: string) => boolean) {
    this.#clock = clock;
    this.#isOn = isOn;
    this.#mayWrite = mayWrite;
  }

  /** Someone reads these topics. Only who may publish there stands for one, or strangers could be charged. */
  listen({ identity, address }: Sender, topics: readonly string[]): void {
    if (!this.#isOn()) return;
    for (const topic of topics) {
      if (!isUnifiedPushTopic(topic) || !this.#mayWrite(identity, topic)) continue;
      this.#unheard.delete(topic);
      remember(this.#entries, topic, { identity, address, seen: this.#clock.now() });
    }
  }

  /** Whom a message to the topic is charged to: its sender, where nobody stands for it. */
  of(topic: string, sender: Sender): Sender {
    return this.#find(topic) ?? sender;
  }

  /** A topic that takes no messages before somebody listened. */
  isWaiting(topic: string): boolean {
    const isWaiting = this.#isOn() && isUnifiedPushTopic(topic) && this.#find(topic) === undefined;
    if (isWaiting && !this.#unheard.has(topic)) remember(this.#unheard, topic, this.#clock.now());
    return isWaiting;
  }

  /** Nobody listens to the topic, and nobody has for so long that its address is to be forgotten. */
  isGivenUp(topic: string): boolean {
    const since = this.#unheard.get(topic);
    return since !== undefined && this.#clock.now() - since > patience;
  }

  #find(topic: string): Entry | undefined {
    const entry = this.#entries.get(topic);
    if (entry === undefined || this.#clock.now() - entry.seen < idle) return entry;
    this.#entries.delete(topic);
    return undefined;
  }
}

/** At the end of the map; the first of too many goes. */
function remember<T>(map: Map<string, T>, topic: string, value: T): void {
  map.delete(topic);
  map.set(topic, value);
  const [oldest] = map.keys();
  if (map.size > mostTopics && oldest !== undefined) map.delete(oldest);
}
