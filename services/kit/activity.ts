import type { Bus, Topic } from '../contracts/bus.ts';
import type { Clock } from '../contracts/service.ts';

/** How often the pages are told at most, in ms: late enough that what began a moment ago has mostly ended. */
const publishIntervalMs = 500;

/** Tells the pages that something they show has changed, once for all that happens in half a second. */
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

  /** Something has changed; may be handed over as it is. */
  readonly touch = (): void => {
    if (!this.#closed) this.#timer ??= this.#clock.after(publishIntervalMs, this.#publish);
  };

  [Symbol.dispose](): void {
    this.#closed = true;
    this.#timer?.[Symbol.dispose]();
  }
}
