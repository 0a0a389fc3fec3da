import * as m from '#messages/notify';
import { notifyApi } from '../../../../../services/contracts/notify/api.ts';
import type { NotifyDelivery, NotifyHistoryEntry } from '../../../../../services/contracts/notify/history.ts';
import { notifyActivity } from '../../../../../services/contracts/notify/notification.ts';
import { call } from '../../../api/call.ts';
import { NewestFirstList } from '../../../state/newest-first-list.svelte.ts';
import { Removals } from '../../../state/removals.svelte.ts';

/** Filters of the history; empty strings do not restrict the list. */
export interface HistoryFilter {
  readonly q: string;
  readonly key: string;
  readonly state: '' | 'dead' | 'waiting' | 'done';
}

/** Number of rows in one page. */
const pageSize = 200;

/** Sent notifications, newest first, with their results. */
class NotifyHistory {
  #filter: HistoryFilter = { q: '', key: '', state: '' };
  readonly list = new NewestFirstList<NotifyHistoryEntry>({
    topic: notifyActivity,
    step: pageSize,
    getTime: ({ time }) => time,
    read: async (olderThan) => {
      const { q, key, state } = this.#filter;
      const query = { q, key, before: olderThan?.id, limit: pageSize, state: state === '' ? undefined : state };
      return (await call(notifyApi.notices, { query })).notices;
    },
  });
  /** Deliveries that were dismissed while Undo is possible. */
  readonly #dismissals = new Removals();
  readonly items = $derived(
    this.list.rows.map((notice) =>
      notice.deliveries.some((each) => this.#dismissals.has(getDeliveryKey(notice.id, each)))
        ? {
            ...notice,
            deliveries: notice.deliveries.map((each) =>
              this.#dismissals.has(getDeliveryKey(notice.id, each)) ? { ...each, givenUp: false } : each,
            ),
          }
        : notice,
    ),
  );

  load(filter: HistoryFilter): Promise<void> {
    this.#filter = filter;
    return this.list.load();
  }

  /** Sends a notification again. Returns the number of destinations, and of its files that are no longer stored. */
  resend(id: string): Promise<{ readonly destinations: number; readonly filesGone: number }> {
    return call(notifyApi.resend, { params: { id } });
  }

  /**
   * Loads a notification, including one that is not among the rows.
   * @throws Problem when it is no longer stored.
   */
  async find(id: string): Promise<NotifyHistoryEntry> {
    const notice = await call(notifyApi.notice, { params: { id } });
    this.list.update(notice);
    return notice;
  }

  async retry(notice: string, { destination }: NotifyDelivery): Promise<void> {
    await call(notifyApi.retry, { body: { notice, destination } });
    await this.list.refresh();
  }

  /** Hides a failed delivery and drops it when Undo has expired. */
  dismiss(notice: string, delivery: NotifyDelivery): void {
    this.#dismissals.hideAndRemove([getDeliveryKey(notice, delivery)], {
      message: m.dismissedItWillNotBe(),
      remove: () => call(notifyApi.drop, { body: { notice, destination: delivery.destination }, keepalive: true }),
      reload: () => this.list.refresh(),
    });
  }

  /** Returns the number of failed deliveries with this cause that are being dismissed individually. */
  countDismissed(cause: string): number {
    const dismissed = this.list.rows.map(({ id, deliveries }) =>
      deliveries.filter((each) => each.detail === cause && this.#dismissals.has(getDeliveryKey(id, each))),
    );
    return dismissed.flat().length;
  }
}

function getDeliveryKey(notice: string, { destination }: NotifyDelivery): string {
  return `${notice} ${destination}`;
}

export const notifyHistory = new NotifyHistory();
