import type { Clock } from '../../contracts/service.ts';
import { refuse } from '../domain/refusals.ts';
import type { Limits, Sender } from '../access/limits.ts';

/** A topic that nobody used for so long is forgotten, as at the peer. */
const idle = 16 * 60 * 60 * 1000;

/** The topics that are in use: someone published to them or listened lately. */
export class KnownTopics {
  readonly #clock: Clock;
  readonly #limits: Limits;
  readonly #max: () => number;
  readonly #used = new Map<string, number>();

  constructor(clock: Clock, limits: Limits, max: () => number) {
    this.#clock = clock;
    this.#limits = limits;
    this.#max = max;
  }

  get size(): number {
    return this.#used.size;
  }

  /** Topics that were in use before this process began. */
  resume(topics: readonly string[]): void {
    const now = this.#clock.now();
    for (const topic of topics) this.#used.set(topic, now);
  }

  /** @throws Problem 42904 when there are too many, 42911 when this sender uses too many that are new. */
  use(sender: Sender, topics: readonly string[]): void {
    const now = this.#clock.now();
    for (const topic of topics) {
      if (!this.#used.has(topic)) {
        if (this.#used.size >= this.#max()) throw refuse('too_many_topics');
        this.#limits.newTopic(sender);
      }
      this.#used.set(topic, now);
    }
  }

  /** Call each minute. `listening` says whether a stream is open on a topic. */
  forget(listening: (topic: string) => boolean): void {
    const now = this.#clock.now();
    for (const [topic, used] of this.#used) {
      if (now - used > idle && !listening(topic)) this.#used.delete(topic);
    }
  }
}
