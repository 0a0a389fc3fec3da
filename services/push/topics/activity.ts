import { pushPlanned } from '../../contracts/push/delayed.ts';
import { pushPublished, pushStored, pushTakenBack } from '../../contracts/push/topics.ts';
import type { Bus } from '../../contracts/bus.ts';
import type { Clock } from '../../contracts/service.ts';

/** How often the pages are told at most, in ms. */
const pauseMs = 500;

interface Around {
  readonly bus: Bus;
  readonly clock: Clock;
}

/** Tells the pages that there is something new, however many messages come. */
export function announceActivity({ bus, clock }: Around): Disposable {
  const told = seldom(clock, () => bus.publish(pushStored, { time: clock.now() }));
  const listening = bus.subscribe(pushPublished, told.soon);
  const takenBack = bus.subscribe(pushTakenBack, told.soon);
  return {
    [Symbol.dispose]() {
      listening[Symbol.dispose]();
      takenBack[Symbol.dispose]();
      told[Symbol.dispose]();
    },
  };
}

/** Tells the pages that other messages wait than before, however many come and go. */
export function announcePlans({ bus, clock }: Around): Seldom {
  return seldom(clock, () => bus.publish(pushPlanned, { time: clock.now() }));
}

/** Something that is done soon after it was asked for, once for all that ask meanwhile. */
export interface Seldom extends Disposable {
  readonly soon: () => void;
}

function seldom(clock: Clock, call: () => void): Seldom {
  let waiting: Disposable | undefined;
  let closed = false;
  return {
    soon() {
      if (closed) return;
      waiting ??= clock.after(pauseMs, () => {
        waiting = undefined;
        call();
      });
    },
    [Symbol.dispose]() {
      closed = true;
      waiting?.[Symbol.dispose]();
    },
  };
}
