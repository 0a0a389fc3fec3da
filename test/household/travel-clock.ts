import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../../services/contracts/service.ts';
import { hour, minute } from './moment.ts';

/** Clock with real timers that can be advanced. */
export interface TravelClock extends Clock {
  /**
   * Sets the time to `ago` milliseconds before now. Intervals of at most five minutes run on the way within the last
   * day; other timers keep their remaining time.
   */
  goTo(ago: number): Promise<void>;
}

const stepMs = 5 * minute;
const lookedAt = 25 * hour;

export function createTravelClock(ago: number): TravelClock {
  let offsetMs = ago;
  const timers = new Set<{ readonly every: number; due: number; readonly call: () => void }>();
  const now = (): number => Date.now() - offsetMs;
  return {
    now,
    async goTo(wanted) {
      offsetMs = Math.max(wanted, Math.min(offsetMs, lookedAt));
      while (offsetMs > wanted) {
        offsetMs = Math.max(wanted, offsetMs - stepMs);
        for (const timer of timers) {
          if (timer.due > now()) continue;
          timer.due = now() + timer.every;
          timer.call();
        }
        // Their requests arrive later and belong to this step.
        await wait(2);
      }
    },
    after(ms, call) {
      const timer = setTimeout(call, Math.min(ms, 2 ** 31 - 1)).unref();
      return { [Symbol.dispose]: () => clearTimeout(timer) };
    },
    every(ms, call) {
      const timer = setInterval(call, Math.min(ms, 2 ** 31 - 1)).unref();
      const scheduled = { every: ms, due: now() + ms, call };
      if (ms >= stepMs) timers.add(scheduled);
      return {
        [Symbol.dispose]() {
          clearInterval(timer);
          timers.delete(scheduled);
        },
      };
    },
  };
}
