import { notifyApi, type NotifyDestination, type NotifyKey } from '../../../../services/contracts/notify/api.ts';
import type { NotifyProblem } from '../../../../services/contracts/notify/statistics.ts';
import { call } from '../../api/call.ts';
import { Removals } from '../../state/removals.svelte.ts';
import { toasts } from '../../state/toasts.svelte.ts';
import { destinationName } from '../notify/destination-name.ts';
import { notifyHistory } from '../notify/history.svelte.ts';
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

/** The destinations that said so last. */
function saidBy(cause: string, among: readonly NotifyKey[]): readonly NotifyDestination[] {
  return among
    .flatMap(({ destinations }) => destinations)
    .filter(({ health }) => health !== null && health.state !== 'done' && health.detail === cause);
}

/** The key whose destinations alone have this problem, where they are changed. */
export function keyOf({ cause }: NotifyProblem): string | undefined {
  const [key, ...others] = notify.keys.filter((each) => saidBy(cause, [each]).length > 0);
  return others.length > 0 ? undefined : key?.key;
}

/** The destinations that said so last, by their names; those that are gone or did better since, by their kinds. */
export function namesOf({ cause, services }: NotifyProblem): string {
  const said = saidBy(cause, notify.keys);
  const names = said.length === 0 ? services : said.map(destinationName);
  return names.filter((name, at) => names.indexOf(name) === at).join(', ');
}

export const deliveryProblems = new DeliveryProblems();
