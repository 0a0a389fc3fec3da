import type { Clock } from '../../../services/contracts/service.ts';

/** One timer for what comes next. */
export interface Alarm extends Disposable {
  /** Rings at this time in ms since the epoch, or before. */
  ringBy(at: number): void;
}

export function createAlarm(clock: Clock, ring: () => void): Alarm {
  let setFor = Infinity;
  let timer: Disposable | undefined;
  const clear = (): void => {
    timer?.[Symbol.dispose]();
    setFor = Infinity;
  };
  return {
    ringBy(at) {
      if (at >= setFor) return;
      clear();
      setFor = at;
      timer = clock.after(Math.max(0, at - clock.now()), () => {
        clear();
        ring();
      });
    },
    [Symbol.dispose]: clear,
  };
}
