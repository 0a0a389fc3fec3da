import { implement, type ApiHandler } from '../contracts/api.ts';
import type { Machine } from '../contracts/control/overview.ts';
import type { ControlContext } from '../contracts/control/host.ts';
import { machineApi, type MachineSample } from '../contracts/control/machine.ts';

const sampleIntervalMs = 5 * 60_000;
const dayMs = 24 * 60 * 60_000;
/** The day before the last one is stored for comparison. */
const retentionMs = 2 * dayMs;

type HistoryContext = Pick<ControlContext, 'clock' | 'log'> & {
  readonly host: Pick<ControlContext['host'], 'machine'>;
};

/** Samples the state of the computer every five minutes and keeps two days of samples. */
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
        const sample = this.#toSample(machine);
        const all = this.#append(sample);
        const since = sample.at - dayMs;
        return {
          memory: machine.memory.total,
          disk: machine.disk?.total ?? null,
          samples: all.filter(({ at }) => at >= since),
          previous: all.filter(({ at }) => at < since),
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

  /** Returns the samples of the last two days in ascending order, dropping samples after a clock change or suspension. */
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
