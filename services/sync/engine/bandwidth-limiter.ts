import type { Clock } from '../../contracts/service.ts';
import { getRate } from '../domain/bandwidth.ts';
import type { Settings } from '../settings.ts';
import type { Engine } from './engine.ts';

const minuteMs = 60_000;

export interface BandwidthOptions {
  readonly clock: Clock;
  readonly engine: Pick<Engine, 'callIfStarted' | 'removeRepeatedCall'>;
  readonly settings: Readonly<Pick<Settings, 'bandwidth'>>;
}

/** Returns the current rate in the format of `--bwlimit` and `core/bwlimit`. */
export function getCurrentRate({ bandwidth }: Readonly<Pick<Settings, 'bandwidth'>>, clock: Clock): string {
  return getRate(bandwidth, new Date(clock.now()));
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
    this.#setting = options.settings.bandwidth;
    this.#rate = this.#currentRate;
  }

  get #currentRate(): string {
    const { clock, settings } = this.#options;
    return getCurrentRate(settings, clock);
  }

  start(): void {
    this.#ticking = this.#options.clock.every(minuteMs, () => {
      if (this.#currentRate !== this.#rate) void this.#apply();
    });
  }

  /** Applies a changed setting to running transfers. */
  async settingChanged(): Promise<void> {
    if (this.#options.settings.bandwidth === this.#setting) return;
    this.#setting = this.#options.settings.bandwidth;
    await this.#apply();
  }

  [Symbol.dispose](): void {
    this.#ticking?.[Symbol.dispose]();
  }

  async #apply(): Promise<void> {
    const path = 'core/bwlimit';
    this.#rate = this.#currentRate;
    const engine = this.#options.engine;
    // Replaces the limit that a client set, as the next timetable entry does in rclone.
    engine.removeRepeatedCall(path);
    await engine.callIfStarted(path, { rate: this.#rate });
  }
}
