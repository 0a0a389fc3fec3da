import { pushPublished, pushStored, pushTakenBack } from '../contracts/push.ts';
import type { Bus } from '../contracts/bus.ts';
import type { Clock } from '../contracts/service.ts';

/** How often the pages are told at most, in ms. */
const pauseMs = 500;

/** Tells the pages that there is something new, however many messages come. */
export function announceActivity({ bus, clock }: { readonly bus: Bus; readonly clock: Clock }): Disposable {
  let soon: Disposable | undefined;
  const tell = (): void => {
    soon ??= clock.after(pauseMs, () => {
      soon = undefined;
      bus.publish(pushStored, { time: clock.now() });
    });
  };
  const listening = bus.subscribe(pushPublished, tell);
  const takenBack = bus.subscribe(pushTakenBack, tell);
  return {
    [Symbol.dispose]() {
      listening[Symbol.dispose]();
      takenBack[Symbol.dispose]();
      soon?.[Symbol.dispose]();
    },
  };
}
