import type { Bus, Topic } from '../contracts/bus.ts';
import type { Clock } from '../contracts/service.ts';

/** Minimum interval between events in ms: long enough that short operations have usually ended. */
const publishIntervalMs = 500;

/** Publishes a topic when something that pages show has changed, at most twice a second. */
export class Activity implements Disposable {
  readonly #publish: () => void;
  readonly #clock: Clock;
  #timer: Disposable | undefined;
  #closed = false;

  constructor({ bus, clock }: { readonly bus: Bus; readonly clock: Clock }, topic: Topic<{ time: number }>) {
    this.#clock = clock;
    this.#publish = () => {
      this.#timer = undefined;
      bus.publish(topic, { time: clock.now() });
    };
  }

  /** Reports a change. Bound, so it can be passed as a callback. */
  readonly touch = (): void => {
    if (!this.#closed) this.#timer ??= this.#clock.after(publishIntervalMs, this.#publish);
  };

  [Symbol.dispose](): void {
    this.#closed = true;
    this.#timer?.[Symbol.dispose]();
  }
}
