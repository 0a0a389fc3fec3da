import type { Clock } from '../../contracts/service.ts';
import { rateAt } from '../domain/bandwidth.ts';
import type { Engine } from './engine.ts';

const minuteMs = 60_000;

export interface BandwidthParts {
  readonly clock: Clock;
  readonly engine: () => Pick<Engine, 'adjust' | 'forget'>;
  /** Returns the current setting. */
  readonly setting: () => string;
}

/**
 * Applies the setting and its timetable to a running rclone. rclone's own timetable cannot change while it runs, and would
 * override a later limit at its next entry.
 */
export class Bandwidth implements Disposable {
  readonly #parts: BandwidthParts;
  #setting: string;
  #rate: string;
  #ticking: Disposable | undefined;

  constructor(parts: BandwidthParts) {
    this.#parts = parts;
    this.#setting = parts.setting();
    this.#rate = this.rate;
  }

  /** Returns the current rate in the format of `--bwlimit` and `core/bwlimit`. */
  get rate(): string {
    const { clock, setting } = this.#parts;
    return rateAt(setting(), new Date(clock.now()));
  }

  start(): void {
    this.#ticking = this.#parts.clock.every(minuteMs, () => {
      if (this.rate !== this.#rate) void this.#apply();
    });
  }

  /** Applies a changed setting to running transfers. */
  async settingChanged(): Promise<void> {
    if (this.#parts.setting() === this.#setting) return;
    this.#setting = this.#parts.setting();
    await this.#apply();
  }

  [Symbol.dispose](): void {
    this.#ticking?.[Symbol.dispose]();
  }

  async #apply(): Promise<void> {
    const path = 'core/bwlimit';
    this.#rate = this.rate;
    const engine = this.#parts.engine();
    // Replaces the limit that a client set, as the next timetable entry does in rclone.
    engine.forget(path);
    await engine.adjust(path, { rate: this.#rate });
  }
}
