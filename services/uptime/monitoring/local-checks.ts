import type { Context } from '../../contracts/service.ts';
import { heartbeatStatus, HeartbeatStatus } from '../../contracts/uptime/monitor.ts';
import type { Outcome } from '../domain/judge.ts';
import { judgeGroup } from '../domain/group.ts';
import { stateFailure } from '../check/failure.ts';
import { pingHost } from './ping.ts';
import { getIntervalMs, getRetryMs, getTimeoutMs, type RuntimeMonitor } from './monitor-state.ts';

/** Tolerance for late pushes, in milliseconds. */
const pushGraceMs = 1000;
/** Maximum number of concurrent ping programs. */
const maxConcurrentPings = 20;

export interface LocalChecksDependencies {
  readonly context: Pick<Context, 'clock' | 'children'>;
  readonly inMaintenance: (monitor: RuntimeMonitor) => boolean;
  readonly findMembers: (group: number) => readonly RuntimeMonitor[];
  readonly onOutcome: (monitor: RuntimeMonitor, outcome: Outcome & { readonly unreachable?: boolean }) => void;
}

/** Returns the outcome of a monitor in maintenance, which is not checked. */
export function createMaintenanceOutcome(timestamp: number): Outcome {
  return { at: timestamp, status: heartbeatStatus.maintenance, msg: 'Monitor under maintenance', ping: null };
}

/** Checks monitors that do not use the checker process: push, group, manual, ping and unsupported types. */
export class LocalChecks implements Disposable {
  readonly #dependencies: LocalChecksDependencies;
  readonly #timers = new Map<number, Disposable>();
  #runningPings = 0;

  constructor(dependencies: LocalChecksDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Starts or restarts the checks of a monitor.
   * @param now Checks immediately if possible
   */
  set(monitor: RuntimeMonitor, now: boolean): void {
    const isDelayed = !now || (monitor.config.type === 'push' && !this.#dependencies.inMaintenance(monitor));
    this.#schedule(monitor, isDelayed ? this.#getDelayMs(monitor) : 0);
  }

  remove(id: number): void {
    this.#timers.get(id)?.[Symbol.dispose]();
    this.#timers.delete(id);
  }

  /** Restarts the interval after a push. */
  restartTimer(monitor: RuntimeMonitor): void {
    this.#schedule(monitor, this.#getDelayMs(monitor));
  }

  /** Checks earlier than the interval requires. */
  scheduleIn(monitor: RuntimeMonitor, inMs: number): void {
    if (this.#timers.has(monitor.id))
      this.#schedule(monitor, inMs + (monitor.config.type === 'push' ? pushGraceMs : 0));
  }

  has(id: number): boolean {
    return this.#timers.has(id);
  }

  /** Checks immediately. */
  async check(monitor: RuntimeMonitor): Promise<void> {
    this.#schedule(monitor, this.#getDelayMs(monitor));
    const outcome = await this.#evaluate(monitor);
    if (this.#timers.has(monitor.id)) this.#dependencies.onOutcome(monitor, outcome);
  }

  [Symbol.dispose](): void {
    for (const id of this.#timers.keys()) this.remove(id);
  }

  #getDelayMs({ config, checkState }: RuntimeMonitor): number {
    const ms = checkState.status === heartbeatStatus.pending ? getRetryMs(config) : getIntervalMs(config);
    return config.type === 'push' ? ms + pushGraceMs : ms;
  }

  #schedule(monitor: RuntimeMonitor, ms: number): void {
    this.#timers.get(monitor.id)?.[Symbol.dispose]();
    this.#timers.set(
      monitor.id,
      this.#dependencies.context.clock.after(ms, () => void this.check(monitor)),
    );
  }

  async #evaluate(monitor: RuntimeMonitor): Promise<Outcome & { readonly unreachable?: boolean }> {
    const timestamp = this.#dependencies.context.clock.now();
    const { config, id } = monitor;
    if (this.#dependencies.inMaintenance(monitor)) return createMaintenanceOutcome(timestamp);
    switch (config.type) {
      case 'push':
        return { at: timestamp, status: heartbeatStatus.down, msg: 'No heartbeat in the time window', ping: null };
      case 'group': {
        const members = this.#dependencies.findMembers(id).map((member) => ({
          name: member.config.name,
          status: member.checkState.status,
        }));
        return { at: timestamp, ping: null, ...judgeGroup(members) };
      }
      case 'manual': {
        const status = HeartbeatStatus.safeParse(config['manual_status']);
        return status.success
          ? { at: timestamp, status: status.data, msg: 'Set by hand', ping: null }
          : { at: timestamp, status: heartbeatStatus.pending, ...stateFailure('not_set', {}), ping: null };
      }
      case 'ping': {
        while (this.#runningPings >= maxConcurrentPings) {
          await new Promise<void>((resolve) => this.#dependencies.context.clock.after(100, resolve));
        }
        this.#runningPings += 1;
        try {
          return {
            at: timestamp,
            ...(await pingHost(this.#dependencies.context.children, config, getTimeoutMs(config))),
          };
        } finally {
          this.#runningPings -= 1;
        }
      }
      default:
        return {
          at: timestamp,
          status: heartbeatStatus.down,
          msg: 'Unknown Monitor Type',
          ping: null,
          notChecked: true,
        };
    }
  }
}
