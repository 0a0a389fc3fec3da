import { noticeAccepted, notifyWorked } from '../contracts/notice.ts';
import type { Bus } from '../contracts/bus.ts';
import type { Clock } from '../contracts/service.ts';

/** How often the pages are told at most, in ms: late enough that the first attempts have mostly ended. */
const pauseMs = 500;

/** Tells the pages that there is something new, however many notices come. */
export function announceActivity({ bus, clock }: { readonly bus: Bus; readonly clock: Clock }): Disposable {
  let soon: Disposable | undefined;
  const listening = bus.subscribe(noticeAccepted, () => {
    soon ??= clock.after(pauseMs, () => {
      soon = undefined;
      bus.publish(notifyWorked, { time: clock.now() });
    });
  });
  return {
    [Symbol.dispose]() {
      listening[Symbol.dispose]();
      soon?.[Symbol.dispose]();
    },
  };
}
