import { SvelteMap, SvelteSet } from 'svelte/reactivity';

const maxIdsPerRequest = 100;
const batchDelayMs = 30;

/** Loads values of the visible monitors only, batched in one request. */
export class VisibleRowsLoader<Value> {
  readonly #values = new SvelteMap<number, Value>();
  /** Number of observers per monitor. */
  readonly #observerCounts = new SvelteMap<number, number>();
  readonly #pendingIds = new SvelteSet<number>();
  /** Fetches the values of monitors; `ids` is a comma-separated list. */
  readonly #fetchValues: (ids: string) => Promise<Readonly<Record<string, Value>>>;
  #isReadScheduled = false;

  constructor(fetchValues: (ids: string) => Promise<Readonly<Record<string, Value>>>) {
    this.#fetchValues = fetchValues;
  }

  /** Returns the value of a monitor; undefined until it is loaded. */
  get(id: number): Value | undefined {
    return this.#values.get(id);
  }

  /** Registers a visible row and returns the function that removes it. */
  observe(id: number): () => void {
    this.#observerCounts.set(id, (this.#observerCounts.get(id) ?? 0) + 1);
    this.#scheduleRead([id]);
    return () => {
      const remaining = (this.#observerCounts.get(id) ?? 1) - 1;
      if (remaining > 0) this.#observerCounts.set(id, remaining);
      else this.#observerCounts.delete(id);
    };
  }

  refresh(): void {
    this.#scheduleRead(this.#observerCounts.keys());
  }

  #scheduleRead(ids: Iterable<number>): void {
    for (const id of ids) this.#pendingIds.add(id);
    if (this.#isReadScheduled || this.#pendingIds.size === 0) return;
    this.#isReadScheduled = true;
    setTimeout(() => void this.#read(), batchDelayMs);
  }

  async #read(): Promise<void> {
    this.#isReadScheduled = false;
    const ids = [...this.#pendingIds].filter((id) => this.#observerCounts.has(id)).slice(0, maxIdsPerRequest);
    this.#pendingIds.clear();
    if (ids.length === 0) return;
    try {
      const values = await this.#fetchValues(ids.join(','));
      for (const [id, value] of Object.entries(values)) this.#values.set(Number(id), value);
    } catch {
      // Rows show the status without these values; the next refresh tries again.
      for (const id of ids) this.#values.delete(id);
    }
  }
}
