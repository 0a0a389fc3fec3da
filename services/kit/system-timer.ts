import type { Clock } from '../contracts/service.ts';

/** System clock for code without a service context, such as limits on other processes. */
export const systemTimer: Clock = {
  now: () => Date.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms);
    timer.unref();
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
  every(ms, call) {
    const timer = setInterval(call, ms);
    timer.unref();
    return { [Symbol.dispose]: () => clearInterval(timer) };
  },
};
