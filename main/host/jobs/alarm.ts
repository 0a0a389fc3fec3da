import type { Clock } from '../../../services/contracts/service.ts';

/** One timer that can be set anew. */
export interface Alarm extends Disposable {
  /** Rings at this time in ms since the epoch instead of the one before; never at Infinity. */
  set(at: number): void;
}

export function createAlarm(clock: Clock, ring: () => void): Alarm {
  let setFor = Infinity;
  let timer: Disposable | undefined;
  const clear = (): void => {
    timer?.[Symbol.dispose]();
    timer = undefined;
    setFor = Infinity;
  };
  return {
    set(at) {
      if (at === setFor) return;
      clear();
      if (at === Infinity) return;
      setFor = at;
      timer = clock.after(Math.max(0, at - clock.now()), () => {
        clear();
        ring();
      });
    },
    [Symbol.dispose]: clear,
  };
}
