import type { Clock } from '../../../services/contracts/service.ts';

/** Node's timers cannot hold more. */
const longestDelay = 2 ** 31 - 1;

/** The machine's time. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, call) {
    const due = Date.now() + ms;
    const next = (): void => {
      const left = due - Date.now();
      timer = left > longestDelay ? setTimeout(next, longestDelay) : setTimeout(call, Math.max(0, left));
      timer.unref();
    };
    let timer: NodeJS.Timeout | undefined;
    next();
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
  every(ms, call) {
    const timer = setInterval(call, Math.min(ms, longestDelay)).unref();
    return { [Symbol.dispose]: () => clearInterval(timer) };
  },
};
