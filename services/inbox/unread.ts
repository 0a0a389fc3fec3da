import type { ItemStore } from './store/items.ts';

/** How many rows are unread, for who asks all the time: counted anew after a change alone. */
export class UnreadCount {
  readonly #store: Pick<ItemStore, 'unread'>;
  readonly #singleHost: boolean;
  #known: Promise<number> | undefined;

  /** `singleHost`: nobody else changes the rows. */
  constructor(store: Pick<ItemStore, 'unread'>, singleHost: boolean) {
    this.#store = store;
    this.#singleHost = singleHost;
  }

  changed(): void {
    this.#known = undefined;
  }

  count(): Promise<number> {
    if (this.#known !== undefined && this.#singleHost) return this.#known;
    const counted = this.#store.unread();
    this.#known = counted;
    // An error is no answer to keep.
    counted.catch(() => this.changed());
    return counted;
  }
}
