import * as m from '#messages/notify-labels';
import { formatList } from '../../../../../messages/format.ts';
import { notifyApi, type NotifyDestination } from '../../../../../services/contracts/notify/api.ts';
import type { NotifyProblem } from '../../../../../services/contracts/notify/statistics.ts';
import { getKindTitle } from '../../../../../services/contracts/notify/kind-title.ts';
import { call } from '../../../api/call.ts';
import { buildPath } from '../../../state/page-path.ts';
import { Removals } from '../../../state/removals.svelte.ts';
import { toasts } from '../../../state/toasts.svelte.ts';
import { formatDestinationName } from '../destinations/destination-name.ts';
import { notifyHistory } from '../history/history.svelte.ts';
import { formatKey } from '../keys/key-name.ts';
import { notify } from '../notify.svelte.ts';
import { deliveryStatistics } from './statistics.svelte.ts';

/** Failed and waiting deliveries by cause, with their actions. Counts cover all deliveries, not only loaded ones. */
class DeliveryProblems {
  /** Causes that were dismissed while Undo is possible. */
  readonly #dismissals = new Removals();
  readonly list = $derived(
    (deliveryStatistics.notify?.problems ?? [])
      .map((problem) => ({ ...problem, dead: this.#countFailed(problem) }))
      .filter(({ dead, waiting }) => dead + waiting > 0),
  );
  readonly givenUp = $derived(this.list.filter(({ dead }) => dead > 0));
  /** Number of all failed deliveries. */
  readonly dead = $derived(this.givenUp.reduce((sum, { dead }) => sum + dead, 0));

  /**
   * Retries all failed deliveries, or those of one cause.
   * @throws Problem
   */
  async retry(cause?: string): Promise<void> {
    const { retried } = await call(notifyApi.retryAll, { body: { cause } });
    toasts.show(m.countRetried({ count: retried }));
    await Promise.all([deliveryStatistics.load(), notifyHistory.list.refresh()]);
  }

  /**
   * Retries the waiting deliveries of one cause now.
   * @throws Problem
   */
  async retryNow(cause: string): Promise<void> {
    await call(notifyApi.retryAll, { body: { cause, waiting: true } });
    toasts.show(m.itIsTriedAgainNow());
    await Promise.all([deliveryStatistics.load(), notifyHistory.list.refresh()]);
  }

  /** Hides the failed deliveries of these causes and drops them when Undo has expired. */
  dismiss(problems: readonly NotifyProblem[]): void {
    const count = problems.reduce((sum, { dead }) => sum + dead, 0);
    // Later failures were not visible and are kept. The time is the host's, because the browser's clock may differ.
    const before = problems.reduce((latest, problem) => Math.max(latest, problem.latest + 1), 0);
    this.#dismissals.hideAndRemove(
      problems.map(({ cause }) => cause),
      {
        message: m.dismissed({ count }),
        remove: () =>
          Promise.all(
            problems.map(({ cause }) => call(notifyApi.dropAll, { body: { before, cause }, keepalive: true })),
          ),
        reload: () => Promise.all([deliveryStatistics.load(), notifyHistory.list.refresh()]),
      },
    );
  }

  #countFailed({ cause, dead }: NotifyProblem): number {
    return this.#dismissals.has(cause) ? 0 : Math.max(0, dead - notifyHistory.countDismissed(cause));
  }
}

/** A destination with its key. */
interface FailingDestination {
  readonly key: string;
  readonly destination: NotifyDestination;
}

/** Returns the destinations whose last delivery failed for this cause. */
export function findFailing({ cause }: NotifyProblem): readonly FailingDestination[] {
  return notify.keys.flatMap(({ key, destinations }) =>
    destinations
      .filter(({ health }) => health !== null && health.state !== 'done' && health.detail === cause)
      .map((destination) => ({ key, destination })),
  );
}

/**
 * True when the deliveries are retried automatically and may succeed without a change. An unknown host name does not
 * resolve itself.
 */
export function isPassing({ dead, waiting, code }: NotifyProblem): boolean {
  return dead === 0 && waiting > 0 && code !== 'unknown_host';
}

/**
 * Returns the page where the destinations are changed: that of their key, or of all keys; undefined when they no
 * longer exist or work again.
 */
export function findChangePath(problem: NotifyProblem): string | undefined {
  const [key, ...others] = unique(findFailing(problem).map((each) => each.key));
  if (key === undefined) return undefined;
  return buildPath({ service: 'delivery', section: 'keys', id: others.length === 0 ? key : '' });
}

/**
 * Formats the names of the destinations, with their keys if there are several; kinds are used for those that no
 * longer exist or work again.
 */
export function formatNames(problem: NotifyProblem): string {
  const failing = findFailing(problem);
  const formatName = ({ key, destination }: FailingDestination): string => {
    const name = formatDestinationName(destination);
    return notify.keys.length > 1 ? m.destinationOfKey({ name, key: formatKey(key) }) : name;
  };
  const names = failing.length === 0 ? problem.services.map(getKindTitle) : failing.map(formatName);
  return formatList(unique(names), 'unit');
}

function unique(names: readonly string[]): readonly string[] {
  return names.filter((name, index) => names.indexOf(name) === index);
}

export const deliveryProblems = new DeliveryProblems();
