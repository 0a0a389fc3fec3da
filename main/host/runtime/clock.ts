import type { Clock } from '../../../services/contracts/service.ts';

/** Maximum delay of Node's timers. */
const maxDelayMs = 2 ** 31 - 1;

/** Clock of the computer. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, call) {
    const due = Date.now() + ms;
    const next = (): void => {
      const remainingMs = due - Date.now();
      timer = remainingMs > maxDelayMs ? setTimeout(next, maxDelayMs) : setTimeout(call, Math.max(0, remainingMs));
      timer.unref();
    };
    let timer: NodeJS.Timeout | undefined;
    next();
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
  every(ms, call) {
    const timer = setInterval(call, Math.min(ms, maxDelayMs)).unref();
    return { [Symbol.dispose]: () => clearInterval(timer) };
  },
};
