import type { Clock } from '../../contracts/service.ts';
import { rateAt } from '../domain/bandwidth.ts';
import type { Engine } from './engine.ts';

const minuteMs = 60_000;

export interface BandwidthParts {
  readonly clock: Clock;
  readonly engine: () => Pick<Engine, 'adjust' | 'forget'>;
  /** The setting as it is now. */
  readonly setting: () => string;
}

/**
 * Keeps the limit of a running rclone in step with the setting and its timetable. rclone's own timetable cannot be changed
 * once it runs, and would override a later limit at its next slot.
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

  /** What holds now, as `--bwlimit` and `core/bwlimit` take it. */
  get rate(): string {
    const { clock, setting } = this.#parts;
    return rateAt(setting(), new Date(clock.now()));
  }

  start(): void {
    this.#ticking = this.#parts.clock.every(minuteMs, () => {
      if (this.rate !== this.#rate) void this.#apply();
    });
  }

  /** Applies a changed setting to the transfers that run. */
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
    // It replaces the limit of a client, as the next slot of a timetable does with the peer.
    engine.forget(path);
    await engine.adjust(path, { rate: this.#rate });
  }
}
