import type { Clock } from '../../contracts/service.ts';
import { refuse } from '../domain/refusals.ts';
import type { Limits, Sender } from '../access/limits.ts';

/** Milliseconds after which an unused topic is removed, as in ntfy. */
const idleMs = 16 * 60 * 60 * 1000;

/** Topics in use: with a publication or an open stream recently. */
export class ActiveTopics {
  readonly #clock: Clock;
  readonly #limits: Limits;
  readonly #max: () => number;
  readonly #lastUsedAt = new Map<string, number>();

  constructor(clock: Clock, limits: Limits, max: () => number) {
    this.#clock = clock;
    this.#limits = limits;
    this.#max = max;
  }

  get size(): number {
    return this.#lastUsedAt.size;
  }

  /** Adds topics that were in use before this process started. */
  resume(topics: readonly string[]): void {
    const now = this.#clock.now();
    for (const topic of topics) this.#lastUsedAt.set(topic, now);
  }

  /**
   * Marks topics as used.
   *
   * @throws Problem 42904 when there are too many topics, 42911 when this sender uses too many new ones.
   */
  use(sender: Sender, topics: readonly string[]): void {
    const now = this.#clock.now();
    for (const topic of topics) {
      if (!this.#lastUsedAt.has(topic)) {
        if (this.#lastUsedAt.size >= this.#max()) throw refuse('too_many_topics');
        this.#limits.newTopic(sender);
      }
      this.#lastUsedAt.set(topic, now);
    }
  }

  /** Removes idle topics. Called every minute. `isListening` reports whether a topic has an open stream. */
  removeIdle(isListening: (topic: string) => boolean): void {
    const now = this.#clock.now();
    for (const [topic, lastUsed] of this.#lastUsedAt) {
      if (now - lastUsed > idleMs && !isListening(topic)) this.#lastUsedAt.delete(topic);
    }
  }
}
