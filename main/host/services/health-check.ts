import * as m from '#messages/host-texts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock, Context, Log, Service } from '../../../services/contracts/service.ts';
import type { Health } from '../../../services/contracts/health.ts';
import type { Text } from '../../../services/contracts/text.ts';
import { withTimeout } from '../runtime/with-timeout.ts';

/** Timeout in ms; a service that responds later counts as degraded. */
const timeoutMs = 5000;

export interface HealthCheckOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Runs a check in the language of the host, since its result is for all readers. */
  readonly inHostLanguage: Context['inHostLanguage'];
  /** Returns the reason why a dependency of the service is unavailable, which degrades a service that is up. */
  readonly getDependencyProblem?: () => Text | undefined;
}

/** Checks the health of a service, one check at a time, so that unanswered checks do not accumulate. */
export class HealthCheck {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #inHostLanguage: Context['inHostLanguage'];
  readonly #getDependencyProblem: () => Text | undefined;
  #running: { readonly service: Service; readonly answer: Promise<Health> } | undefined;

  constructor({ clock, log, inHostLanguage, getDependencyProblem }: HealthCheckOptions) {
    this.#clock = clock;
    this.#log = log;
    this.#inHostLanguage = inHostLanguage;
    this.#getDependencyProblem = getDependencyProblem ?? (() => undefined);
  }

  /** Never rejects: a failed check is a result as well. */
  async check(service: Service): Promise<Health> {
    if (this.#running?.service !== service) {
      const answer = this.#inHostLanguage(async () => service.health()).finally(() => {
        if (this.#running?.answer === answer) this.#running = undefined;
      });
      this.#running = { service, answer };
    }
    try {
      const health = await withTimeout(this.#running.answer, timeoutMs, this.#clock);
      const problem = health.state === 'up' ? this.#getDependencyProblem() : undefined;
      return problem === undefined ? health : { ...health, state: 'degraded', detail: problem };
    } catch (error) {
      this.#log.error('health check failed', { error });
      return {
        // The service may only be busy, so it is not interrupted.
        state: 'degraded',
        detail: error instanceof Problem ? error.text : m.healthCheckFailed,
      };
    }
  }
}
