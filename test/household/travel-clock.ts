import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../../services/contracts/service.ts';
import { hour, minute } from './moment.ts';

/** A clock of real timers that can be moved on. */
export interface TravelClock extends Clock {
  /**
   * From now on it is so many ms before the real time. What looks at the house each five minutes or less often does so on the
   * way, as far as that leads through the last day; all other timers wait as long as they would have.
   */
  goTo(ago: number): Promise<void>;
}

const stepMs = 5 * minute;
const lookedAt = 25 * hour;

export function createTravelClock(ago: number): TravelClock {
  let behind = ago;
  const looks = new Set<{ readonly every: number; due: number; readonly call: () => void }>();
  const now = (): number => Date.now() - behind;
  return {
    now,
    async goTo(wanted) {
      behind = Math.max(wanted, Math.min(behind, lookedAt));
      while (behind > wanted) {
        behind = Math.max(wanted, behind - stepMs);
        for (const look of looks) {
          if (look.due > now()) continue;
          look.due = now() + look.every;
          look.call();
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
      const look = { every: ms, due: now() + ms, call };
      if (ms >= stepMs) looks.add(look);
      return {
        [Symbol.dispose]() {
          clearInterval(timer);
          looks.delete(look);
        },
      };
    },
  };
}
