import * as m from '#messages/host-texts';
import type { ServiceStatus } from '../../../services/contracts/control/service-status.ts';
import type { Health } from '../../../services/contracts/health.ts';
import type { Clock, Log, Service } from '../../../services/contracts/service.ts';
import { readText } from '../../../services/contracts/text.ts';
import { RepeatingTask } from '../../../services/kit/repeating-task.ts';
import { HealthCheck, type HealthCheckOptions } from './health-check.ts';
import { RestartBackoff } from './restart-backoff.ts';

const checkIntervalMs = 10_000;

export interface HealthMonitorOptions extends HealthCheckOptions {
  /** Called when the pause after a health of `down` is over. */
  readonly restart: () => void;
}

/** Checks the health of a running service regularly, and has it restarted when it reports `down`. */
export class HealthMonitor {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #health: HealthCheck;
  readonly #backoff: RestartBackoff;
  #checks: Disposable | undefined;

  constructor({ restart, ...options }: HealthMonitorOptions) {
    const { clock, log } = options;
    this.#clock = clock;
    this.#log = log;
    this.#health = new HealthCheck(options);
    this.#backoff = new RestartBackoff(clock, restart);
  }

  /** Runs the first check, and then regular ones. */
  async start(refresh: () => Promise<unknown>): Promise<void> {
    this.#backoff.started();
    await refresh();
    const onError = (error: unknown): void => this.#log.error('health check failed', { error });
    this.#checks = new RepeatingTask(refresh, { clock: this.#clock, intervalMs: checkIntervalMs, onError });
  }

  /** Ends the checks, and cancels a scheduled restart. */
  stop(): void {
    this.#checks?.[Symbol.dispose]();
    this.#checks = undefined;
    this.#backoff.cancel();
  }

  /** Never rejects: a failed check is a result as well. */
  check(service: Service): Promise<Health> {
    return this.#health.check(service);
  }

  /** Returns the part of the state that reports a health, and schedules a restart when it is `down`. */
  report({ state, detail, remedy, begin, idle, running }: Health): Partial<ServiceStatus> {
    const pauseMs = this.#backoff.update(state);
    const status = { remedy, begin, idle, running: running && [...running] };
    if (state === 'up') return { ...status, state, detail, reason: null };
    const reason =
      pauseMs === undefined
        ? detail
        : () => m.restartsAfterPause({ reason: readText(detail), seconds: pauseMs / 1000 });
    return { ...status, state: 'degraded', detail: '', reason };
  }
}
