import type { Clock } from '../../services/contracts/service.ts';

export interface FakeClock extends Clock {
  /** Advances the time and calls the timers that expire, in order. */
  advance(ms: number): void;
  /** Sets the time as a clock change would: timers keep their remaining duration. */
  set(time: number): void;
  /** Returns the remaining ms of the timers that run once, shortest first. */
  getDelays(): readonly number[];
}

/** Clock that advances only on request. */
export function createFakeClock(start = Date.UTC(2026, 0, 1)): FakeClock {
  let now = start;
  const timers = new Set<{ due: number; readonly every: number | undefined; readonly call: () => void }>();
  const add = (ms: number, every: number | undefined, call: () => void): Disposable => {
    const timer = { due: now + Math.max(0, ms), every, call };
    timers.add(timer);
    return { [Symbol.dispose]: () => void timers.delete(timer) };
  };
  return {
    now: () => now,
    after: (ms, call) => add(ms, undefined, call),
    every: (ms, call) => add(ms, ms, call),
    set(time) {
      for (const timer of timers) timer.due += time - now;
      now = time;
    },
    getDelays() {
      const once = [...timers].filter((timer) => timer.every === undefined);
      return once.map((timer) => timer.due - now).sort((a, b) => a - b);
    },
    advance(ms) {
      const end = now + ms;
      for (;;) {
        const [next] = [...timers].filter((timer) => timer.due <= end).sort((a, b) => a.due - b.due);
        if (next === undefined) break;
        now = Math.max(now, next.due);
        if (next.every === undefined) timers.delete(next);
        else next.due += next.every;
        next.call();
      }
      now = end;
    },
  };
}
