import type { Context } from '../../contracts/service.ts';
import { deliver } from './job.ts';

/** A destination is tried ahead of its time at most once in this time, and not sooner after an attempt. */
const probeIntervalMs = 15_000;

/** When a destination that waits out a failure was tried last, and until when it asked not to be. */
interface FailedAttempt {
  readonly triedAt: number;
  readonly notBefore: number;
}

/**
 * Has a destination that waits out a failure tried when something new comes for it: it may be back, and its own next
 * attempt may be an hour away. The first of its line is tried, so that the order stays.
 */
export class Recovery {
  readonly #context: Pick<Context, 'clock' | 'jobs' | 'log'>;
  /** By destination; of those whose first in line waits. */
  readonly #failures = new Map<string, FailedAttempt>();

  constructor(context: Pick<Context, 'clock' | 'jobs' | 'log'>) {
    this.#context = context;
  }

  /** Notes an attempt in vain at the first of a line. `askedMs`: for so long it asked to be left alone. */
  recordFailure(destination: string, retryAfterMs = 0, triedAt = this.#context.clock.now()): void {
    this.#failures.set(destination, { triedAt, notBefore: triedAt + retryAfterMs });
  }

  /** Notes that the first of a line waits no more. */
  clear(destination: string): void {
    this.#failures.delete(destination);
  }

  /** Has those among these tried that may be. */
  async probe(destinations: readonly string[]): Promise<void> {
    for (const destination of destinations) {
      const failure = this.#failures.get(destination);
      const now = this.#context.clock.now();
      if (failure === undefined || now < Math.max(failure.triedAt + probeIntervalMs, failure.notBefore)) continue;
      this.#failures.set(destination, { ...failure, triedAt: now });
      try {
        if (!(await this.#context.jobs.retryNow(deliver, destination))) this.#failures.delete(destination);
      } catch (error) {
        // What is new is stored and comes in its turn.
        this.#context.log.warn('a destination was not tried ahead of its time', { error });
      }
    }
  }
}
