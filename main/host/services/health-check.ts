import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock, Log, Service } from '../../../services/contracts/service.ts';
import type { Health } from '../../../services/contracts/health.ts';
import { withTimeout } from '../runtime/with-timeout.ts';

/** A service that takes longer to say how it is counts as degraded. */
const limitMs = 5000;

/** Asks a service how it is, one question at a time: one that does not answer must not gather them. */
export class HealthCheck {
  readonly #clock: Clock;
  readonly #log: Log;
  #asking: { readonly service: Service; readonly answer: Promise<Health> } | undefined;

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Never rejects: a check that fails is an answer of its own. */
  async ask(service: Service): Promise<Health> {
    if (this.#asking?.service !== service) {
      // The function makes an error that is thrown at once a rejection.
      const answer = (async () => service.health())().finally(() => {
        if (this.#asking?.answer === answer) this.#asking = undefined;
      });
      this.#asking = { service, answer };
    }
    try {
      return await withTimeout(this.#asking.answer, limitMs, this.#clock);
    } catch (error) {
      this.#log.error('health check failed', { error });
      return {
        // It may be busy only: no reason to cut off what it does.
        state: 'degraded',
        detail: error instanceof Problem ? error.detail : 'Its health check failed; see the log.',
      };
    }
  }
}
