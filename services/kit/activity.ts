import type { Bus, Topic } from '../contracts/bus.ts';
import type { Clock } from '../contracts/service.ts';

/** How often the pages are told at most, in ms: late enough that what began a moment ago has mostly ended. */
const pauseMs = 500;

/** Tells the pages that something they show has changed, once for all that happens in half a second. */
export class Activity implements Disposable {
  readonly #tell: () => void;
  readonly #clock: Clock;
  #soon: Disposable | undefined;
  #closed = false;

  constructor({ bus, clock }: { readonly bus: Bus; readonly clock: Clock }, topic: Topic<{ time: number }>) {
    this.#clock = clock;
    this.#tell = () => {
      this.#soon = undefined;
      bus.publish(topic, { time: clock.now() });
    };
  }

  /** Something has changed; may be handed over as it is. */
  readonly touch = (): void => {
    if (!this.#closed) this.#soon ??= this.#clock.after(pauseMs, this.#tell);
  };

  [Symbol.dispose](): void {
    this.#closed = true;
    this.#soon?.[Symbol.dispose]();
  }
}
