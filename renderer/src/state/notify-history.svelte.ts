import { SvelteSet } from 'svelte/reactivity';
import { notifyApi } from '../../../services/contracts/notify-api.ts';
import type { NotifyDelivery, NotifyNotice } from '../../../services/contracts/notify-history.ts';
import { notifyWorked } from '../../../services/contracts/notice.ts';
import { call, sentence } from '../api/call.ts';
import { live } from './live.svelte.ts';
import { toasts } from './toasts.svelte.ts';

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
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  trouble = $state('');
  #all = $state.raw<readonly NotifyNotice[]>([]);
  /** Came while the list was held. */
  waiting = $state.raw<readonly NotifyNotice[]>([]);
  /** Given-up deliveries of all keys. */
  givenUp = $state(0);
  readonly #leaving = new SvelteSet<string>();
  readonly items = $derived(
    this.#leaving.size === 0
      ? this.#all
      : this.#all.map((notice) => ({
          ...notice,
          deliveries: notice.deliveries.map((each) =>
            this.#leaving.has(nameOf(notice.id, each)) ? { ...each, givenUp: false } : each,
          ),
        })),
  );
  #filter: HistoryFilter = { q: '', key: '', state: '' };
  #watched = false;
  #holding = false;
  #ended = false;
  #reading = false;
  #turn = 0;

  constructor() {
    live.on(notifyWorked, () => void this.#refresh());
    live.onReset(() => void this.#refresh());
  }

  watch(): () => void {
    this.#watched = true;
    return () => {
      this.#watched = false;
      this.hold(false);
    };
  }

  async load(filter: HistoryFilter): Promise<void> {
    this.#filter = filter;
    this.#turn += 1;
    const turn = this.#turn;
    await live.opened();
    try {
      const { notices, givenUp } = await this.#read();
      // A later filter was quicker.
      if (turn !== this.#turn) return;
      this.#all = notices;
      this.waiting = [];
      this.givenUp = givenUp;
      this.#ended = notices.length < step;
      this.phase = 'ready';
    } catch (error) {
      if (turn !== this.#turn) return;
      this.trouble = sentence(error);
      if (this.phase === 'loading') this.phase = 'failed';
    }
  }

  async loadMore(): Promise<void> {
    const before = this.#all.at(-1)?.id;
    if (this.#reading || this.#ended || before === undefined) return;
    this.#reading = true;
    const turn = this.#turn;
    try {
      const { notices } = await this.#read(before);
      if (turn !== this.#turn) return;
      const known = new Set(this.#all.map(({ id }) => id));
      this.#all = [...this.#all, ...notices.filter(({ id }) => !known.has(id))];
      this.#ended = notices.length < step;
    } catch (error) {
      toasts.sayWhy(error);
      this.#ended = true;
    } finally {
      this.#reading = false;
    }
  }

  /** While held, new rows wait: nothing moves under the pointer. */
  hold(holding: boolean): void {
    this.#holding = holding;
    if (!holding) this.release();
  }

  /** Lets the waiting rows in. */
  release(): void {
    if (this.waiting.length === 0) return;
    this.#all = [...this.waiting, ...this.#all];
    this.waiting = [];
  }

  /** Answers to how many destinations it went. */
  async resend(id: string): Promise<number> {
    return (await call(notifyApi.resend, { params: { id } })).destinations;
  }

  /** A notice that is not among the rows. @throws Problem when it is not kept any more. */
  find(id: string): Promise<NotifyNotice> {
    return call(notifyApi.notice, { params: { id } });
  }

  async retry(notice: string, { destination }: NotifyDelivery): Promise<void> {
    await call(notifyApi.retry, { body: { notice, destination } });
    await this.#refresh();
  }

  async retryAll(): Promise<number> {
    const { retried } = await call(notifyApi.retryAll);
    await this.#refresh();
    return retried;
  }

  /** Takes a given-up delivery out of sight; it is dropped for good when the way back is gone. */
  dismiss(notice: string, delivery: NotifyDelivery): void {
    const name = nameOf(notice, delivery);
    this.#leaving.add(name);
    const stay = (): void => {
      this.#leaving.delete(name);
    };
    toasts.say('Discarded. It will not be tried again.', {
      undo: stay,
      settle: async () => {
        try {
          await call(notifyApi.drop, { body: { notice, destination: delivery.destination } });
        } finally {
          await this.#refresh();
          stay();
        }
      },
    });
  }

  /** The same for all that were given up until now. */
  dismissAll(): void {
    const names = this.#all.flatMap((notice) =>
      notice.deliveries.filter(({ givenUp }) => givenUp).map((delivery) => nameOf(notice.id, delivery)),
    );
    const before = Date.now();
    for (const name of names) this.#leaving.add(name);
    const stay = (): void => {
      for (const name of names) this.#leaving.delete(name);
    };
    toasts.say('All discarded. They will not be tried again.', {
      undo: stay,
      settle: async () => {
        try {
          await call(notifyApi.dropAll, { body: { before }, keepalive: true });
        } finally {
          await this.#refresh();
          stay();
        }
      },
    });
  }

  #read(before?: string) {
    const { q, key, state } = this.#filter;
    return call(notifyApi.notices, { query: { q, key, before, limit: step, state: state === '' ? undefined : state } });
  }

  /** Reads the newest rows again: rows that are there change where they stand, new ones come on top or wait. */
  async #refresh(): Promise<void> {
    if (!this.#watched || this.phase !== 'ready') return;
    const turn = this.#turn;
    try {
      const { notices, givenUp } = await this.#read();
      if (turn !== this.#turn) return;
      this.givenUp = givenUp;
      const known = new Set(this.#all.map(({ id }) => id));
      const fresh = new Map(notices.map((notice) => [notice.id, notice]));
      const added = notices.filter(({ id }) => !known.has(id));
      // More than one reading brings: what lies between is not known, so the list begins anew.
      if (added.length === step && !this.#holding) {
        this.#all = notices;
        this.waiting = [];
        this.#ended = false;
        return;
      }
      // Rows that should be among those read and are not have left the filter.
      const end = notices.length < step ? -Infinity : (notices.at(-1)?.time ?? -Infinity);
      this.#all = this.#all
        .filter(({ id, time }) => fresh.has(id) || time < end)
        .map((notice) => fresh.get(notice.id) ?? notice);
      this.waiting = added;
      if (!this.#holding) this.release();
    } catch (error) {
      this.trouble = sentence(error);
    }
  }
}

function nameOf(notice: string, { destination }: NotifyDelivery): string {
  return `${notice} ${destination}`;
}

export const notifyHistory = new NotifyHistory();
