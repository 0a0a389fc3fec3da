import type { Context } from '../../contracts/service.ts';
import { deliver } from './job.ts';

/** Minimum time between early retries of a destination, and after an attempt. */
const probeIntervalMs = 15_000;

/** Last attempt at a destination that waits after a failure, and the earliest time it accepts another one. */
interface FailedAttempt {
  readonly triedAt: number;
  readonly notBefore: number;
}

/**
 * Retries a destination that waits after a failure when it gets a new delivery: it may be available again, and its
 * next attempt may be an hour away. The first delivery of its queue is retried, so that the order is kept.
 */
export class Recovery {
  readonly #context: Pick<Context, 'clock' | 'jobs' | 'log'>;
  /** Failures by destination, for those whose first delivery waits. */
  readonly #failures = new Map<string, FailedAttempt>();

  constructor(context: Pick<Context, 'clock' | 'jobs' | 'log'>) {
    this.#context = context;
  }

  /**
   * Records a failed attempt of the first delivery of a queue. `retryAfterMs`: delay that the destination requested.
   */
  recordFailure(destination: string, retryAfterMs = 0, triedAt = this.#context.clock.now()): void {
    this.#failures.set(destination, { triedAt, notBefore: triedAt + retryAfterMs });
  }

  /** Records that the first delivery of a queue no longer waits. */
  clear(destination: string): void {
    this.#failures.delete(destination);
  }

  /** Retries those of the destinations that may be retried. */
  async probe(destinations: readonly string[]): Promise<void> {
    for (const destination of destinations) {
      const failure = this.#failures.get(destination);
      const now = this.#context.clock.now();
      if (failure === undefined || now < Math.max(failure.triedAt + probeIntervalMs, failure.notBefore)) continue;
      this.#failures.set(destination, { ...failure, triedAt: now });
      try {
        if (!(await this.#context.jobs.retryNow(deliver, destination))) this.#failures.delete(destination);
      } catch (error) {
        // The new delivery is stored and is executed in its order.
        this.#context.log.warn('early retry failed', { error });
      }
    }
  }
}
