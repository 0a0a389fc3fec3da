import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock, Log, Service } from '../../../services/contracts/service.ts';
import type { Health } from '../../../services/contracts/health.ts';
import { withTimeout } from '../runtime/with-timeout.ts';

/** Timeout in ms; a service that responds later counts as degraded. */
const timeoutMs = 5000;

/** Checks the health of a service, one check at a time, so that unanswered checks do not accumulate. */
export class HealthCheck {
  readonly #clock: Clock;
  readonly #log: Log;
  #running: { readonly service: Service; readonly answer: Promise<Health> } | undefined;

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Never rejects: a failed check is a result as well. */
  async check(service: Service): Promise<Health> {
    if (this.#running?.service !== service) {
      // The async function converts a synchronous exception to a rejection.
      const answer = (async () => service.health())().finally(() => {
        if (this.#running?.answer === answer) this.#running = undefined;
      });
      this.#running = { service, answer };
    }
    try {
      return await withTimeout(this.#running.answer, timeoutMs, this.#clock);
    } catch (error) {
      this.#log.error('health check failed', { error });
      return {
        // The service may only be busy, so it is not interrupted.
        state: 'degraded',
        detail: error instanceof Problem ? error.detail : 'Its health check failed; see the log.',
      };
    }
  }
}
