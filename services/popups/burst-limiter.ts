import type { Clock } from '../contracts/service.ts';
import { Tally, type Counted } from './tally.ts';

/** How long a window lasts at first; each one that overflows makes the next twice as long. */
const firstWindow = 10_000;
const longestWindow = 5 * 60_000;

interface Window {
  shown: number;
  readonly length: number;
  readonly late: Tally;
  readonly end: Disposable;
}

/**
 * Lets a few popups of one key through in ten seconds and counts the rest, which are told together when the window
 * ends. While a key does not calm down nothing of it is let through and its windows grow, so that a program gone mad
 * gets one popup in five minutes.
 */
export class Bursts {
  readonly #windows = new Map<string, Window>();
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #told: (key: string, late: Tally) => void;

  /** `told` gets what was counted in a window that ended. */
  constructor(clock: Clock, limit: number, told: (key: string, late: Tally) => void) {
    this.#clock = clock;
    this.#limit = limit;
    this.#told = told;
  }

  /** True: show it now. False: it was counted. */
  pass(key: string, rows: readonly Counted[], more = 0): boolean {
    const window = this.#windows.get(key) ?? this.#open(key, firstWindow, 0);
    window.shown += 1;
    if (window.shown <= this.#limit) return true;
    window.late.add(rows, more);
    return false;
  }

  /** What was read meanwhile is not told any more. */
  forget(ids: readonly number[]): void {
    for (const { late } of this.#windows.values()) late.remove(ids);
  }

  /** Ends all windows without a word. */
  clear(): void {
    for (const { end } of this.#windows.values()) end[Symbol.dispose]();
    this.#windows.clear();
  }

  #open(key: string, length: number, shown: number): Window {
    const end = this.#clock.after(length, () => this.#close(key));
    const window = { shown, length, late: new Tally(), end };
    this.#windows.set(key, window);
    return window;
  }

  #close(key: string): void {
    const window = this.#windows.get(key);
    this.#windows.delete(key);
    if (window === undefined || window.shown <= this.#limit) return;
    // Nothing is left where all of it was read meanwhile.
    if (window.late.size === 0) return;
    // What comes next is still of this burst; a window with nothing new in it ends it.
    this.#open(key, Math.min(window.length * 2, longestWindow), this.#limit);
    this.#told(key, window.late);
  }
}
