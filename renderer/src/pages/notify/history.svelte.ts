import { notifyApi } from '../../../../services/contracts/notify/api.ts';
import type { NotifyDelivery, NotifyHistoryEntry } from '../../../../services/contracts/notify/history.ts';
import { notifyActivity } from '../../../../services/contracts/notify/notification.ts';
import { call } from '../../api/call.ts';
import { Newest } from '../../state/newest.svelte.ts';
import { Removals } from '../../state/removals.svelte.ts';

/** What the history is narrowed to; empty strings stand for no restriction. */
export interface HistoryFilter {
  readonly q: string;
  readonly key: string;
  readonly state: '' | 'dead' | 'waiting' | 'done';
}

/** Rows that are asked for at once. */
const step = 200;

/** Notices that were sent, newest first, and what became of them. */
class NotifyHistory {
  #filter: HistoryFilter = { q: '', key: '', state: '' };
  readonly list = new Newest<NotifyHistoryEntry>({
    ...{ topic: notifyActivity, step, time: ({ time }) => time },
    read: async (behind) => {
      const { q, key, state } = this.#filter;
      const query = { q, key, before: behind?.id, limit: step, state: state === '' ? undefined : state };
      return (await call(notifyApi.notices, { query })).notices;
    },
  });
  /** Deliveries that were dismissed, while that can still be undone. */
  readonly #leaving = new Removals();
  readonly items = $derived(
    this.list.rows.map((notice) =>
      notice.deliveries.some((each) => this.#leaving.has(nameOf(notice.id, each)))
        ? {
            ...notice,
            deliveries: notice.deliveries.map((each) =>
              this.#leaving.has(nameOf(notice.id, each)) ? { ...each, givenUp: false } : each,
            ),
          }
        : notice,
    ),
  );

  load(filter: HistoryFilter): Promise<void> {
    this.#filter = filter;
    return this.list.load();
  }

  /** Answers to how many destinations it went, and how many of its files are not kept any more. */
  resend(id: string): Promise<{ readonly destinations: number; readonly filesGone: number }> {
    return call(notifyApi.resend, { params: { id } });
  }

  /** A notice as it is now, also one that is not among the rows. @throws Problem when it is not kept any more. */
  async find(id: string): Promise<NotifyHistoryEntry> {
    const notice = await call(notifyApi.notice, { params: { id } });
    this.list.put(notice);
    return notice;
  }

  async retry(notice: string, { destination }: NotifyDelivery): Promise<void> {
    await call(notifyApi.retry, { body: { notice, destination } });
    await this.list.refresh();
  }

  /** Takes a given-up delivery out of sight; it is dropped for good when the way back is gone. */
  dismiss(notice: string, delivery: NotifyDelivery): void {
    this.#leaving.take([nameOf(notice, delivery)], {
      words: 'Dismissed. It will not be tried again.',
      remove: () => call(notifyApi.drop, { body: { notice, destination: delivery.destination }, keepalive: true }),
      renew: () => this.list.refresh(),
    });
  }

  /** How many that were given up for this reason are on their way out, one by one. */
  leavingFor(cause: string): number {
    const leaving = this.list.rows.map(({ id, deliveries }) =>
      deliveries.filter((each) => each.detail === cause && this.#leaving.has(nameOf(id, each))),
    );
    return leaving.flat().length;
  }
}

function nameOf(notice: string, { destination }: NotifyDelivery): string {
  return `${notice} ${destination}`;
}

export const notifyHistory = new NotifyHistory();
