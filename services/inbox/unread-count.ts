import type { ItemStore } from './store/items.ts';

/** As many as are counted in less than a millisecond. */
const few = 5000;

/** How many rows are unread, for who asks all the time: counted anew after a change alone. */
export class UnreadCount {
  readonly #store: Pick<ItemStore, 'unreadBelow'>;
  readonly #beside: Pick<ItemStore, 'unread'>;
  readonly #singleHost: boolean;
  #known: Promise<number> | undefined;

  /** `beside`: the same rows, read beside the event loop. `singleHost`: nobody else changes them. */
  constructor(store: Pick<ItemStore, 'unreadBelow'>, beside: Pick<ItemStore, 'unread'>, singleHost: boolean) {
    this.#store = store;
    this.#beside = beside;
    this.#singleHost = singleHost;
  }

  changed(): void {
    this.#known = undefined;
  }

  count(): Promise<number> {
    if (this.#known !== undefined && this.#singleHost) return this.#known;
    const counted = this.#count();
    this.#known = counted;
    // An error is no answer to keep.
    counted.catch(() => this.changed());
    return counted;
  }

  /** Few are counted at once, since a thread for reading costs a start 0.2 s of the processor and 16 MB. */
  async #count(): Promise<number> {
    return (await this.#store.unreadBelow(few)) ?? (await this.#beside.unread());
  }
}
