import { implement, type ApiHandler } from '../contracts/api.ts';
import type { Machine } from '../contracts/control/overview.ts';
import type { ControlContext } from '../contracts/control/host.ts';
import { machineApi, type MachineSample } from '../contracts/control/machine.ts';

const everyMs = 5 * 60_000;
const keptMs = 24 * 60 * 60_000;

type Watched = Pick<ControlContext, 'clock' | 'log'> & { readonly host: Pick<ControlContext['host'], 'machine'> };

/** How the machine was, looked at every five minutes and kept for a day. */
export class MachineHistory implements Disposable {
  readonly #context: Watched;
  #samples: readonly MachineSample[] = [];
  #ticking: Disposable | undefined;

  constructor(context: Watched) {
    this.#context = context;
  }

  start(): void {
    void this.#take();
    this.#ticking = this.#context.clock.every(everyMs, () => void this.#take());
  }

  /** The route that tells it. */
  routes(): readonly ApiHandler[] {
    return [
      implement(machineApi.history, async () => {
        const machine = await this.#context.host.machine();
        return {
          memory: machine.memory.total,
          disk: machine.disk?.total ?? null,
          samples: this.#with(this.#sampleOf(machine)),
        };
      }),
    ];
  }

  async #take(): Promise<void> {
    try {
      this.#samples = this.#with(this.#sampleOf(await this.#context.host.machine()));
    } catch (error) {
      this.#context.log.warn('the machine could not be looked at', { error });
    }
  }

  /** Those of the last day, each later than the one before it, also where the clock was set back or the machine slept. */
  #with(sample: MachineSample): readonly MachineSample[] {
    return [...this.#samples.filter(({ at }) => at < sample.at && at >= sample.at - keptMs), sample];
  }

  #sampleOf({ cpu, memory, disk }: Machine): MachineSample {
    const isFirst = this.#samples.length === 0;
    return {
      at: this.#context.clock.now(),
      cpu: isFirst ? null : cpu,
      memory: memory.total - memory.free,
      own: memory.own,
      disk: disk === null ? null : disk.total - disk.free,
    };
  }

  [Symbol.dispose](): void {
    this.#ticking?.[Symbol.dispose]();
  }
}
