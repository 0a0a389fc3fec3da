import type { Context } from '../../contracts/service.ts';
import { heartbeatStatus, HeartbeatStatus } from '../../contracts/uptime/monitor.ts';
import type { Outcome } from '../domain/judge.ts';
import { judgeGroup } from '../domain/group.ts';
import { pingHost } from './ping.ts';
import { intervalMs, retryMs, timeoutMs, type Watched } from './monitor-state.ts';

/** Tolerance for late pushes, in milliseconds. */
const pushGraceMs = 1000;
/** Maximum number of concurrent ping programs. */
const mostPings = 20;

export interface LocalParts {
  readonly context: Pick<Context, 'clock' | 'children'>;
  readonly inMaintenance: (watched: Watched) => boolean;
  readonly members: (group: number) => readonly Watched[];
  readonly beat: (watched: Watched, outcome: Outcome & { readonly unreachable?: boolean }) => void;
}

/** Returns the outcome of a monitor in maintenance, which is not checked. */
export function maintained(at: number): Outcome {
  return { at, status: heartbeatStatus.maintenance, msg: 'Monitor under maintenance', ping: null };
}

/** Checks monitors that do not use the checker process: push, group, manual, ping and unsupported types. */
export class LocalChecks implements Disposable {
  readonly #parts: LocalParts;
  readonly #timers = new Map<number, Disposable>();
  #pinging = 0;

  constructor(parts: LocalParts) {
    this.#parts = parts;
  }

  /**
   * Starts or restarts the checks of a monitor.
   * @param now Checks immediately if possible
   */
  set(watched: Watched, now: boolean): void {
    const waits = !now || (watched.config.type === 'push' && !this.#parts.inMaintenance(watched));
    this.#in(watched, waits ? this.#wait(watched) : 0);
  }

  remove(id: number): void {
    this.#timers.get(id)?.[Symbol.dispose]();
    this.#timers.delete(id);
  }

  /** Restarts the interval after a push. */
  heard(watched: Watched): void {
    this.#in(watched, this.#wait(watched));
  }

  /** Checks earlier than the interval requires. */
  again(watched: Watched, inMs: number): void {
    if (this.#timers.has(watched.id)) this.#in(watched, inMs + (watched.config.type === 'push' ? pushGraceMs : 0));
  }

  has(id: number): boolean {
    return this.#timers.has(id);
  }

  /** Checks immediately. */
  async check(watched: Watched): Promise<void> {
    this.#in(watched, this.#wait(watched));
    const outcome = await this.#outcome(watched);
    if (this.#timers.has(watched.id)) this.#parts.beat(watched, outcome);
  }

  [Symbol.dispose](): void {
    for (const id of this.#timers.keys()) this.remove(id);
  }

  #wait({ config, standing }: Watched): number {
    const ms = standing.status === heartbeatStatus.pending ? retryMs(config) : intervalMs(config);
    return config.type === 'push' ? ms + pushGraceMs : ms;
  }

  #in(watched: Watched, ms: number): void {
    this.#timers.get(watched.id)?.[Symbol.dispose]();
    this.#timers.set(
      watched.id,
      this.#parts.context.clock.after(ms, () => void this.check(watched)),
    );
  }

  async #outcome(watched: Watched): Promise<Outcome & { readonly unreachable?: boolean }> {
    const at = this.#parts.context.clock.now();
    const { config, id } = watched;
    if (this.#parts.inMaintenance(watched)) return maintained(at);
    switch (config.type) {
      case 'push':
        return { at, status: heartbeatStatus.down, msg: 'No heartbeat in the time window', ping: null };
      case 'group': {
        const members = this.#parts.members(id).map((member) => ({
          name: member.config.name,
          status: member.standing.status,
        }));
        return { at, ping: null, ...judgeGroup(members) };
      }
      case 'manual': {
        const status = HeartbeatStatus.safeParse(config['manual_status']);
        return status.success
          ? { at, status: status.data, msg: 'Set by hand', ping: null }
          : { at, status: heartbeatStatus.pending, msg: 'Nobody has set it yet', ping: null };
      }
      case 'ping': {
        while (this.#pinging >= mostPings) {
          await new Promise<void>((resolve) => this.#parts.context.clock.after(100, resolve));
        }
        this.#pinging += 1;
        try {
          return { at, ...(await pingHost(this.#parts.context.children, config, timeoutMs(config))) };
        } finally {
          this.#pinging -= 1;
        }
      }
      default:
        return {
          at,
          status: heartbeatStatus.down,
          msg: 'Unknown Monitor Type',
          ping: null,
          notChecked: true,
        };
    }
  }
}
