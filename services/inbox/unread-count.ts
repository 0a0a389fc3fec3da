import type { ItemStore } from './store/items.ts';

/** Number of rows that can be counted in less than a millisecond. */
const quickLimit = 5000;

/** Cached number of unread rows, recomputed after changes. */
export class UnreadCount {
  readonly #store: Pick<ItemStore, 'countUnreadBelow'>;
  readonly #reads: Pick<ItemStore, 'countUnread'>;
  readonly #singleHost: boolean;
  #cached: Promise<number> | undefined;

  /** `reads` reads the same rows in a worker thread. `singleHost` means that no other host changes them. */
  constructor(store: Pick<ItemStore, 'countUnreadBelow'>, reads: Pick<ItemStore, 'countUnread'>, singleHost: boolean) {
    this.#store = store;
    this.#reads = reads;
    this.#singleHost = singleHost;
  }

  invalidate(): void {
    this.#cached = undefined;
  }

  count(): Promise<number> {
    if (this.#cached !== undefined && this.#singleHost) return this.#cached;
    const result = this.#count();
    this.#cached = result;
    // Errors are not cached.
    result.catch(() => this.invalidate());
    return result;
  }

  /** Small numbers are counted directly, because starting a reader thread takes 0.2 s of CPU time and 16 MB. */
  async #count(): Promise<number> {
    return (await this.#store.countUnreadBelow(quickLimit)) ?? (await this.#reads.countUnread());
  }
}
