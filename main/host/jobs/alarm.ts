import type { Clock } from '../../../services/contracts/service.ts';

/** Timer for the next event. */
export interface Alarm extends Disposable {
  /** Fires at this time (ms since the epoch) or earlier. */
  scheduleBy(timestamp: number): void;
}

export function createAlarm(clock: Clock, ring: () => void): Alarm {
  let setFor = Infinity;
  let timer: Disposable | undefined;
  const clear = (): void => {
    timer?.[Symbol.dispose]();
    setFor = Infinity;
  };
  return {
    scheduleBy(timestamp) {
      if (timestamp >= setFor) return;
      clear();
      setFor = timestamp;
      timer = clock.after(Math.max(0, timestamp - clock.now()), () => {
        clear();
        ring();
      });
    },
    [Symbol.dispose]: clear,
  };
}
