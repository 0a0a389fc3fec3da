import type { Clock } from '../contracts/service.ts';
import { Tally, type CountedMessage } from './tally.ts';

/** Initial length of a window in ms; it doubles after each overflow up to the maximum. */
const firstWindowMs = 10_000;
const maxWindowMs = 5 * 60_000;

interface Window {
  count: number;
  readonly lengthMs: number;
  readonly suppressed: Tally;
  readonly end: Disposable;
}

/**
 * Allows a few popups per key in ten seconds and counts the rest, which are summarized when the window ends. While a
 * key keeps overflowing, nothing passes and its windows grow, so that a faulty program produces one popup in five
 * minutes.
 */
export class BurstLimiter {
  readonly #windows = new Map<string, Window>();
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #onSuppressed: (key: string, suppressed: Tally) => void;

  /** `onSuppressed` receives the messages that were counted in an ended window. */
  constructor(clock: Clock, limit: number, onSuppressed: (key: string, suppressed: Tally) => void) {
    this.#clock = clock;
    this.#limit = limit;
    this.#onSuppressed = onSuppressed;
  }

  /** Returns true to show the popup now, and false when it was counted. */
  allow(key: string, rows: readonly CountedMessage[], more = 0): boolean {
    const window = this.#windows.get(key) ?? this.#open(key, firstWindowMs, 0);
    window.count += 1;
    if (window.count <= this.#limit) return true;
    window.suppressed.add(rows, more);
    return false;
  }

  /** Removes messages that were read from the counts. */
  remove(ids: readonly number[]): void {
    for (const { suppressed } of this.#windows.values()) suppressed.remove(ids);
  }

  /** Ends all windows without a summary. */
  clear(): void {
    for (const { end } of this.#windows.values()) end[Symbol.dispose]();
    this.#windows.clear();
  }

  #open(key: string, lengthMs: number, count: number): Window {
    const end = this.#clock.after(lengthMs, () => this.#close(key));
    const window = { count, lengthMs, suppressed: new Tally(), end };
    this.#windows.set(key, window);
    return window;
  }

  #close(key: string): void {
    const window = this.#windows.get(key);
    this.#windows.delete(key);
    if (window === undefined || window.count <= this.#limit) return;
    // All counted messages were read.
    if (window.suppressed.size === 0) return;
    // Further messages belong to the same burst, which ends with the first window without new messages.
    this.#open(key, Math.min(window.lengthMs * 2, maxWindowMs), this.#limit);
    this.#onSuppressed(key, window.suppressed);
  }
}
