import type { Clock, Log } from '../../../../services/contracts/service.ts';
import type { Text } from '../../../../services/contracts/text.ts';
import { SingleFlight } from '../../../../services/kit/single-flight.ts';
import { toStoreProblem } from './s3-errors.ts';
import type { S3Owner } from './s3-owner.ts';

/** Milliseconds for which the result of a check is valid. */
const validityMs = 20_000;

/** Checks whether the bucket can be reached with the credentials. */
export class S3Monitor {
  readonly #owner: S3Owner;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #flight = new SingleFlight(() => this.#check());
  #checkedAt = -Infinity;
  #problem: Text | undefined;

  constructor(owner: S3Owner, { clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.#owner = owner;
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * Returns the reason why the last check failed, or undefined. Starts the next check without waiting for it, so that a
   * store that does not respond delays no health check.
   */
  getProblem(): Text | undefined {
    if (this.#clock.now() - this.#checkedAt >= validityMs) void this.#flight.run();
    return this.#problem;
  }

  /** Never rejects. */
  async #check(): Promise<void> {
    const wasAvailable = this.#problem === undefined;
    try {
      await this.#owner.check();
      this.#problem = undefined;
      if (!wasAvailable) this.#log.info('blob store available again');
    } catch (error) {
      const problem = toStoreProblem(error);
      this.#problem = problem.text;
      if (wasAvailable) this.#log.warn('blob store unavailable', { error: problem });
    }
    this.#checkedAt = this.#clock.now();
  }
}
