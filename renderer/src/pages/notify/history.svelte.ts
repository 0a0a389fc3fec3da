import { notifyApi } from '../../../../services/contracts/notify/api.ts';
import type { NotifyDelivery, NotifyNotice } from '../../../../services/contracts/notify/history.ts';
import { notifyWorked } from '../../../../services/contracts/notify/notice.ts';
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
  /** Given-up deliveries of all keys. */
  givenUp = $state(0);
  readonly list = new Newest<NotifyNotice>({
    ...{ topic: notifyWorked, step, time: ({ time }) => time },
    read: async (behind) => {
      const { q, key, state } = this.#filter;
      const query = { q, key, before: behind?.id, limit: step, state: state === '' ? undefined : state };
      const { notices, givenUp } = await call(notifyApi.notices, { query });
      this.givenUp = givenUp;
      return notices;
    },
  });
  /** Deliveries that were discarded, while that can still be undone. */
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
  async find(id: string): Promise<NotifyNotice> {
    const notice = await call(notifyApi.notice, { params: { id } });
    this.list.put(notice);
    return notice;
  }

  async retry(notice: string, { destination }: NotifyDelivery): Promise<void> {
    await call(notifyApi.retry, { body: { notice, destination } });
    await this.list.refresh();
  }

  async retryAll(): Promise<number> {
    const { retried } = await call(notifyApi.retryAll);
    await this.list.refresh();
    return retried;
  }

  /** Takes a given-up delivery out of sight; it is dropped for good when the way back is gone. */
  dismiss(notice: string, delivery: NotifyDelivery): void {
    this.#leave([nameOf(notice, delivery)], 'Discarded. It will not be tried again.', () =>
      call(notifyApi.drop, { body: { notice, destination: delivery.destination }, keepalive: true }),
    );
  }

  /** The same for all that were given up until now. */
  dismissAll(): void {
    const dead = this.list.rows.flatMap(({ id, deliveries }) =>
      deliveries.filter(({ givenUp }) => givenUp).map((delivery) => ({ id, delivery })),
    );
    const names = dead.map(({ id, delivery }) => nameOf(id, delivery));
    // By the host's clock, from which this browser's may differ: all that is shown, and what is older.
    const before = dead.reduce((latest, { delivery }) => Math.max(latest, delivery.updatedAt + 1), 0);
    this.#leave(names, 'All discarded. They will not be tried again.', () =>
      call(notifyApi.dropAll, { body: { before }, keepalive: true }),
    );
  }

  #leave(names: readonly string[], words: string, drop: () => Promise<unknown>): void {
    this.#leaving.take(names, { words, remove: drop, renew: () => this.list.refresh() });
  }
}

function nameOf(notice: string, { destination }: NotifyDelivery): string {
  return `${notice} ${destination}`;
}

export const notifyHistory = new NotifyHistory();
