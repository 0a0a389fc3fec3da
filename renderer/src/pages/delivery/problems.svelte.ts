import { notifyApi, type NotifyDestination } from '../../../../services/contracts/notify/api.ts';
import type { NotifyProblem } from '../../../../services/contracts/notify/statistics.ts';
import { getKindTitle } from '../../../../services/contracts/notify/kind-title.ts';
import { call } from '../../api/call.ts';
import { pathOf } from '../../state/address.ts';
import { Removals } from '../../state/removals.svelte.ts';
import { toasts } from '../../state/toasts.svelte.ts';
import { destinationName } from '../notify/destination-name.ts';
import { notifyHistory } from '../notify/history.svelte.ts';
import { keyName } from '../notify/key-name.ts';
import { notify } from '../notify/notify.svelte.ts';
import { deliveryStatistics } from './statistics.svelte.ts';

/** What is not delivered, by its cause, and the ways out of it. Counts are of all deliveries, not of those a page has read. */
class DeliveryProblems {
  /** Causes that were dismissed, while that can still be undone. */
  readonly #leaving = new Removals();
  readonly list = $derived(
    (deliveryStatistics.notify?.problems ?? [])
      .map((problem) => ({ ...problem, dead: this.#deadOf(problem) }))
      .filter(({ dead, waiting }) => dead + waiting > 0),
  );
  readonly givenUp = $derived(this.list.filter(({ dead }) => dead > 0));
  /** Deliveries that were given up, for whatever reason. */
  readonly dead = $derived(this.givenUp.reduce((sum, { dead }) => sum + dead, 0));

  /** Tries again what was given up, or what was for one reason. @throws Problem */
  async retry(cause?: string): Promise<void> {
    const { retried } = await call(notifyApi.retryAll, { body: { cause } });
    toasts.say(retried === 1 ? 'One is tried again now.' : `${retried.toLocaleString('en')} are tried again now.`);
    await Promise.all([deliveryStatistics.load(), notifyHistory.list.refresh()]);
  }

  /** Tries now what waits for one reason. @throws Problem */
  async tryNow(cause: string): Promise<void> {
    await call(notifyApi.retryAll, { body: { cause, waiting: true } });
    toasts.say('It is tried again now.');
    await Promise.all([deliveryStatistics.load(), notifyHistory.list.refresh()]);
  }

  /** Takes what was given up for these reasons out of sight; it is dropped for good when the way back is gone. */
  dismiss(problems: readonly NotifyProblem[]): void {
    const count = problems.reduce((sum, { dead }) => sum + dead, 0);
    const [one, many] = ['It will not be tried again.', `${count.toLocaleString('en')} will not be tried again.`];
    // What is given up after this moment was not seen. By the host's clock, from which this browser's may differ.
    const before = problems.reduce((latest, problem) => Math.max(latest, problem.latest + 1), 0);
    this.#leaving.take(
      problems.map(({ cause }) => cause),
      {
        words: `Dismissed. ${count === 1 ? one : many}`,
        remove: () =>
          Promise.all(
            problems.map(({ cause }) => call(notifyApi.dropAll, { body: { before, cause }, keepalive: true })),
          ),
        renew: () => Promise.all([deliveryStatistics.load(), notifyHistory.list.refresh()]),
      },
    );
  }

  #deadOf({ cause, dead }: NotifyProblem): number {
    return this.#leaving.has(cause) ? 0 : Math.max(0, dead - notifyHistory.leavingFor(cause));
  }
}

/** A destination with the key it belongs to. */
interface Refusing {
  readonly key: string;
  readonly destination: NotifyDestination;
}

/** The destinations that said so last. */
export function refusing({ cause }: NotifyProblem): readonly Refusing[] {
  return notify.keys.flatMap(({ key, destinations }) =>
    destinations
      .filter(({ health }) => health !== null && health.state !== 'done' && health.detail === cause)
      .map((destination) => ({ key, destination })),
  );
}

/** It is tried again by itself and may well pass: nothing is to be changed for it. An unknown name does not come about by waiting. */
export function isPassing({ dead, waiting, cause }: NotifyProblem): boolean {
  return dead === 0 && waiting > 0 && !cause.includes('there is no host of this name');
}

/** Where they are changed: at their key, or where all keys are; undefined for those that are gone or did better since. */
export function changePath(problem: NotifyProblem): string | undefined {
  const [key, ...others] = once(refusing(problem).map((each) => each.key));
  if (key === undefined) return undefined;
  return pathOf({ service: 'delivery', thing: 'keys', id: others.length === 0 ? key : '' });
}

/** They by their names, with their keys where there are several; those that are gone or did better since, by their kinds. */
export function namesOf(problem: NotifyProblem): string {
  const found = refusing(problem);
  const ofKey = (key: string): string => (notify.keys.length > 1 ? ` of ${keyName(key)}` : '');
  const names =
    found.length === 0
      ? problem.services.map(getKindTitle)
      : found.map(({ key, destination }) => `${destinationName(destination)}${ofKey(key)}`);
  return once(names).join(', ');
}

function once(names: readonly string[]): readonly string[] {
  return names.filter((name, at) => names.indexOf(name) === at);
}

export const deliveryProblems = new DeliveryProblems();
