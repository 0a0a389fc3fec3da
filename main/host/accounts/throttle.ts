import { getExponentialDelayMs } from '../../../services/kit/backoff.ts';
import { LeakyBucket } from '../../../services/kit/leaky-bucket.ts';

/** Time in ms after which a wrong secret no longer counts. */
export const drainMs = 60_000;
/** Wait in ms between two checks after the burst: doubles from the first to the maximum. */
const firstStepMs = 500;
const maxStepMs = 10_000;
/** Maximum level above the burst, so that the throttle recovers soon after an attack. */
const maxLevelAboveBurst = 10;

/**
 * Throttles checks of secrets: a burst of wrong ones is free, then checks are spaced at growing intervals. Running
 * checks count as wrong, so that concurrent guesses get no further than sequential ones.
 */
export class Throttle {
  readonly #burst: number;
  readonly #wrong: LeakyBucket;
  #underWay = 0;
  /** Time of the last scheduled check. */
  #last = 0;

  constructor(burst: number) {
    this.#burst = burst;
    this.#wrong = new LeakyBucket({ capacity: burst + maxLevelAboveBurst, drainMs });
  }

  /** Returns whether the burst is used up. */
  isOn(now: number): boolean {
    return this.#countExcess(now) > 0;
  }

  /** Returns the wait before the next check in ms. */
  wait(now: number): number {
    const excess = this.#countExcess(now);
    if (excess <= 0) return 0;
    const step = getExponentialDelayMs({ firstMs: firstStepMs, maxMs: maxStepMs }, excess);
    // Limits the wait after the clock was set back.
    const lastCheckAt = Math.min(this.#last, now + this.#underWay * maxStepMs);
    return Math.max(0, lastCheckAt + step - now);
  }

  /** Reserves the next check. */
  begin(now: number): void {
    this.#last = now + this.wait(now);
    this.#underWay += 1;
  }

  end(now: number, outcome: 'right' | 'wrong' | 'unknown'): void {
    this.#underWay -= 1;
    if (outcome === 'wrong') this.#wrong.add(now);
  }

  /** Counts a wrong secret that another host has checked. */
  addWrong(now: number): void {
    this.#wrong.add(now);
  }

  reset(): void {
    this.#wrong.clear();
  }

  #countExcess(now: number): number {
    return Math.ceil(this.#wrong.getLevel(now)) + this.#underWay + 1 - this.#burst;
  }
}
