import type { Context } from '../../contracts/service.ts';
import { deliver } from './job.ts';

/** A destination is tried ahead of its time at most once in this time, and not sooner after an attempt. */
const probeMs = 15_000;

/** When a destination that waits out a failure was tried last, and until when it asked not to be. */
interface Failed {
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
  readonly #failed = new Map<string, Failed>();

  constructor(context: Pick<Context, 'clock' | 'jobs' | 'log'>) {
    this.#context = context;
  }

  /** Notes an attempt in vain at the first of a line. `askedMs`: for so long it asked to be left alone. */
  failed(destination: string, askedMs = 0, triedAt = this.#context.clock.now()): void {
    this.#failed.set(destination, { triedAt, notBefore: triedAt + askedMs });
  }

  /** Notes that the first of a line waits no more. */
  ended(destination: string): void {
    this.#failed.delete(destination);
  }

  /** Has those among these tried that may be. */
  async probe(destinations: readonly string[]): Promise<void> {
    for (const destination of destinations) {
      const failed = this.#failed.get(destination);
      const now = this.#context.clock.now();
      if (failed === undefined || now < Math.max(failed.triedAt + probeMs, failed.notBefore)) continue;
      this.#failed.set(destination, { ...failed, triedAt: now });
      try {
        if (!(await this.#context.jobs.retryNow(deliver, destination))) this.#failed.delete(destination);
      } catch (error) {
        // What is new is stored and comes in its turn.
        this.#context.log.warn('a destination was not tried ahead of its time', { error });
      }
    }
  }
}
