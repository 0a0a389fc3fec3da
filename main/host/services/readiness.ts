import type { Clock } from '../../../services/contracts/service.ts';
import type { Readiness } from '../../../services/contracts/control/health.ts';
import { withTimeout } from '../runtime/with-timeout.ts';
import type { ServiceRunner } from './service-runner.ts';

/** Time limit for the query that checks the database. */
const databaseLimitMs = 2000;

/** Results are reused for this time, since requests for them need no sign-in. */
const reuseMs = 500;

/** Phase of a host between its first start and its end. */
export class HostLifecycle {
  /** True once all services have started or failed for the first time. */
  isStarted = false;
  /** True once the host has begun to stop: load balancers should send requests to other hosts. */
  isDraining = false;
}

interface ReadinessDependencies {
  readonly clock: Clock;
  readonly lifecycle: Readonly<HostLifecycle>;
  readonly runners: ReadonlyMap<string, Pick<ServiceRunner, 'status'>>;
  /** Rejects when the database does not respond. */
  readonly queryDatabase: () => Promise<unknown>;
}

/** Determines whether this host can serve requests. */
export class HostReadiness {
  readonly #deps: ReadinessDependencies;
  #last: { readonly until: number; readonly result: Promise<boolean> } | undefined;

  constructor(deps: ReadinessDependencies) {
    this.#deps = deps;
  }

  async check(): Promise<Readiness> {
    const { lifecycle } = this.#deps;
    if (lifecycle.isDraining) return unavailable('draining');
    const states = [...this.#deps.runners.values()].map(({ status }) => status.state);
    if (!lifecycle.isStarted || states.includes('starting')) return unavailable('starting');
    if (!(await this.#isDatabaseReachable())) return unavailable('database');
    // The host can have begun to stop in the meantime.
    if (lifecycle.isDraining) return unavailable('draining');
    return states.includes('failed') ? unavailable('services') : { status: 'ready' };
  }

  #isDatabaseReachable(): Promise<boolean> {
    const now = this.#deps.clock.now();
    if (this.#last === undefined || now >= this.#last.until) {
      const result = withTimeout(this.#deps.queryDatabase(), databaseLimitMs, this.#deps.clock).then(
        () => true,
        () => false,
      );
      // A pending query is reused until it ends, so that an unreachable server gets one query at a time.
      this.#last = { until: now + databaseLimitMs, result };
      void result.then(() => (this.#last = { until: this.#deps.clock.now() + reuseMs, result }));
    }
    return this.#last.result;
  }
}

function unavailable(reason: Extract<Readiness, { readonly status: 'unavailable' }>['reason']): Readiness {
  return { status: 'unavailable', reason };
}
