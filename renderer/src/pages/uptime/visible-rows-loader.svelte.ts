import { SvelteMap, SvelteSet } from 'svelte/reactivity';

const atOnce = 100;
const gatherMs = 30;

/** What is read of the monitors that are in sight: only these are asked for, together. */
export class OfThoseInSight<Value> {
  readonly #known = new SvelteMap<number, Value>();
  /** Who looks at which. */
  readonly #wanted = new SvelteMap<number, number>();
  readonly #due = new SvelteSet<number>();
  /** `ids`: numbers of monitors, with commas between them. */
  readonly #ask: (ids: string) => Promise<Readonly<Record<string, Value>>>;
  #gathering = false;

  constructor(ask: (ids: string) => Promise<Readonly<Record<string, Value>>>) {
    this.#ask = ask;
  }

  /** Undefined until it is read. */
  of(id: number): Value | undefined {
    return this.#known.get(id);
  }

  /** A row came into sight; the function it answers says that it is gone. */
  want(id: number): () => void {
    this.#wanted.set(id, (this.#wanted.get(id) ?? 0) + 1);
    this.#readSoon([id]);
    return () => {
      const left = (this.#wanted.get(id) ?? 1) - 1;
      if (left > 0) this.#wanted.set(id, left);
      else this.#wanted.delete(id);
    };
  }

  refresh(): void {
    this.#readSoon(this.#wanted.keys());
  }

  #readSoon(ids: Iterable<number>): void {
    for (const id of ids) this.#due.add(id);
    if (this.#gathering || this.#due.size === 0) return;
    this.#gathering = true;
    setTimeout(() => void this.#read(), gatherMs);
  }

  async #read(): Promise<void> {
    this.#gathering = false;
    const ids = [...this.#due].filter((id) => this.#wanted.has(id)).slice(0, atOnce);
    this.#due.clear();
    if (ids.length === 0) return;
    try {
      const found = await this.#ask(ids.join(','));
      for (const [id, value] of Object.entries(found)) this.#known.set(Number(id), value);
    } catch {
      // The rows say how monitors stand without it; the next turn asks again.
      for (const id of ids) this.#known.delete(id);
    }
  }
}
