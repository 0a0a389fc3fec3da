import type { Bus } from '../../contracts/bus.ts';
import { noticeAccepted, notifyWorked } from '../../contracts/notify/notice.ts';
import type { Clock } from '../../contracts/service.ts';

/** How often the pages are told at most, in ms: late enough that the first attempts have mostly ended. */
const pauseMs = 500;

/** Tells the pages that there is something new, however much happens. */
export class Activity {
  readonly #bus: Bus;
  readonly #clock: Clock;
  #soon: Disposable | undefined;
  #open = false;

  constructor({ bus, clock }: { readonly bus: Bus; readonly clock: Clock }) {
    this.#bus = bus;
    this.#clock = clock;
  }

  /** Begins to tell; the disposal ends that. */
  start(): Disposable {
    this.#open = true;
    const listening = this.#bus.subscribe(noticeAccepted, () => this.touch());
    return {
      [Symbol.dispose]: () => {
        this.#open = false;
        listening[Symbol.dispose]();
        this.#soon?.[Symbol.dispose]();
      },
    };
  }

  /** Something that the pages show has changed. */
  touch(): void {
    if (!this.#open) return;
    this.#soon ??= this.#clock.after(pauseMs, () => {
      this.#soon = undefined;
      this.#bus.publish(notifyWorked, { time: this.#clock.now() });
    });
  }
}
