import type { Bus } from '../../contracts/bus.ts';
import type { Clock } from '../../contracts/service.ts';
import { uptimeChanged, uptimeActivity } from '../../contracts/uptime/api.ts';

const changedMs = 250;
const workedMs = 2000;
/** Maximum number of IDs in one event; an empty list stands for more. */
const mostIds = 200;

/** Publishes changes to the pages at a limited rate. */
export class Live implements Disposable {
  readonly #bus: Bus;
  readonly #clock: Clock;
  readonly #ids = new Set<number>();
  #changing: Disposable | undefined;
  #working: Disposable | undefined;

  constructor(bus: Bus, clock: Clock) {
    this.#bus = bus;
    this.#clock = clock;
  }

  changed(ids: readonly number[]): void {
    for (const id of ids) this.#ids.add(id);
    this.#changing ??= this.#clock.after(changedMs, () => {
      this.#changing = undefined;
      const told = this.#ids.size > mostIds ? [] : [...this.#ids];
      this.#ids.clear();
      this.#bus.publish(uptimeChanged, { ids: told, at: this.#clock.now() });
    });
  }

  worked(): void {
    this.#working ??= this.#clock.after(workedMs, () => {
      this.#working = undefined;
      this.#bus.publish(uptimeActivity, { at: this.#clock.now() });
    });
  }

  [Symbol.dispose](): void {
    this.#changing?.[Symbol.dispose]();
    this.#working?.[Symbol.dispose]();
  }
}
