import type { Clock } from '../../contracts/service.ts';
import { getRate } from '../domain/bandwidth.ts';
import type { Engine } from './engine.ts';

const minuteMs = 60_000;

export interface BandwidthOptions {
  readonly clock: Clock;
  readonly engine: () => Pick<Engine, 'callIfStarted' | 'removeRepeatedCall'>;
  /** Returns the current setting. */
  readonly setting: () => string;
}

/**
 * Applies the setting and its timetable to a running rclone. rclone's own timetable cannot change while it runs, and would
 * override a later limit at its next entry.
 */
export class BandwidthLimiter implements Disposable {
  readonly #options: BandwidthOptions;
  #setting: string;
  #rate: string;
  #ticking: Disposable | undefined;

  constructor(options: BandwidthOptions) {
    this.#options = options;
    this.#setting = options.setting();
    this.#rate = this.rate;
  }

  /** Returns the current rate in the format of `--bwlimit` and `core/bwlimit`. */
  get rate(): string {
    const { clock, setting } = this.#options;
    return getRate(setting(), new Date(clock.now()));
  }

  start(): void {
    this.#ticking = this.#options.clock.every(minuteMs, () => {
      if (this.rate !== this.#rate) void this.#apply();
    });
  }

  /** Applies a changed setting to running transfers. */
  async settingChanged(): Promise<void> {
    if (this.#options.setting() === this.#setting) return;
    this.#setting = this.#options.setting();
    await this.#apply();
  }

  [Symbol.dispose](): void {
    this.#ticking?.[Symbol.dispose]();
  }

  async #apply(): Promise<void> {
    const path = 'core/bwlimit';
    this.#rate = this.rate;
    const engine = this.#options.engine();
    // Replaces the limit that a client set, as the next timetable entry does in rclone.
    engine.removeRepeatedCall(path);
    await engine.callIfStarted(path, { rate: this.#rate });
  }
}
