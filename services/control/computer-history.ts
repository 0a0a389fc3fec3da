import { implement, type ApiHandler } from '../contracts/api.ts';
import type { Machine } from '../contracts/control/overview.ts';
import type { ControlContext } from '../contracts/control/host.ts';
import { machineApi, type MachineSample } from '../contracts/control/machine.ts';

const sampleIntervalMs = 5 * 60_000;
const retentionMs = 24 * 60 * 60_000;

type HistoryContext = Pick<ControlContext, 'clock' | 'log'> & {
  readonly host: Pick<ControlContext['host'], 'machine'>;
};

/** Samples the state of the computer every five minutes and keeps a day of samples. */
export class ComputerHistory implements Disposable {
  readonly #context: HistoryContext;
  #samples: readonly MachineSample[] = [];
  #timer: Disposable | undefined;

  constructor(context: HistoryContext) {
    this.#context = context;
  }

  start(): void {
    void this.#sample();
    this.#timer = this.#context.clock.every(sampleIntervalMs, () => void this.#sample());
  }

  /** Returns the handler of the history. */
  routes(): readonly ApiHandler[] {
    return [
      implement(machineApi.history, async () => {
        const machine = await this.#context.host.machine();
        return {
          memory: machine.memory.total,
          disk: machine.disk?.total ?? null,
          samples: this.#append(this.#toSample(machine)),
        };
      }),
    ];
  }

  async #sample(): Promise<void> {
    try {
      this.#samples = this.#append(this.#toSample(await this.#context.host.machine()));
    } catch (error) {
      this.#context.log.warn('computer state sampling failed', { error });
    }
  }

  /** Returns the samples of the last day in ascending order, dropping samples after a clock change or suspension. */
  #append(sample: MachineSample): readonly MachineSample[] {
    return [...this.#samples.filter(({ at }) => at < sample.at && at >= sample.at - retentionMs), sample];
  }

  #toSample({ cpu, memory, disk }: Machine): MachineSample {
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
    this.#timer?.[Symbol.dispose]();
  }
}
