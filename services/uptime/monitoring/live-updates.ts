import type { Bus } from '../../contracts/bus.ts';
import type { Clock } from '../../contracts/service.ts';
import { uptimeChanged, uptimeActivity } from '../../contracts/uptime/api.ts';

const changeDelayMs = 250;
const activityDelayMs = 2000;
/** Maximum number of IDs in one event; an empty list means more. */
const maxIds = 200;

/** Publishes changes to the pages at a limited rate. */
export class LiveUpdates implements Disposable {
  readonly #bus: Bus;
  readonly #clock: Clock;
  readonly #ids = new Set<number>();
  #changeTimer: Disposable | undefined;
  #activityTimer: Disposable | undefined;

  constructor(bus: Bus, clock: Clock) {
    this.#bus = bus;
    this.#clock = clock;
  }

  publishChanges(ids: readonly number[]): void {
    for (const id of ids) this.#ids.add(id);
    this.#changeTimer ??= this.#clock.after(changeDelayMs, () => {
      this.#changeTimer = undefined;
      const changedIds = this.#ids.size > maxIds ? [] : [...this.#ids];
      this.#ids.clear();
      this.#bus.publish(uptimeChanged, { ids: changedIds, at: this.#clock.now() });
    });
  }

  publishActivity(): void {
    this.#activityTimer ??= this.#clock.after(activityDelayMs, () => {
      this.#activityTimer = undefined;
      this.#bus.publish(uptimeActivity, { at: this.#clock.now() });
    });
  }

  [Symbol.dispose](): void {
    this.#changeTimer?.[Symbol.dispose]();
    this.#activityTimer?.[Symbol.dispose]();
  }
}
