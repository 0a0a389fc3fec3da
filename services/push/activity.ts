import { pushPublished, pushStored } from '../contracts/push.ts';
import type { Bus } from '../contracts/bus.ts';
import type { Clock } from '../contracts/service.ts';

/** How often the pages are told at most, in ms. */
const pauseMs = 500;

/** Tells the pages that there is something new, however many messages come. */
export function announceActivity({ bus, clock }: { readonly bus: Bus; readonly clock: Clock }): Disposable {
  let soon: Disposable | undefined;
  const listening = bus.subscribe(pushPublished, () => {
    soon ??= clock.after(pauseMs, () => {
      soon = undefined;
      bus.publish(pushStored, { time: clock.now() });
    });
  });
  return {
    [Symbol.dispose]() {
      listening[Symbol.dispose]();
      soon?.[Symbol.dispose]();
    },
  };
}
