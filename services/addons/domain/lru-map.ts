/** Map that evicts the least recently used entries above a maximum number or a maximum weight. */
export class LruMap<Key, Value> {
  readonly #most: () => number;
  readonly #mostWeight: number;
  readonly #weigh: (value: Value) => number;
  readonly #entries = new Map<Key, Value>();
  #weight = 0;

  constructor(
    most: number | (() => number),
    { mostWeight = Infinity, weigh = () => 0 }: { mostWeight?: number; weigh?: (value: Value) => number } = {},
  ) {
    this.#most = typeof most === 'number' ? () => most : most;
    this.#mostWeight = mostWeight;
    this.#weigh = weigh;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  set(key: Key, value: Value): void {
    this.delete(key);
    this.#entries.set(key, value);
    this.#weight += this.#weigh(value);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#most() && this.#weight <= this.#mostWeight) break;
      this.delete(oldest);
    }
  }

  delete(key: Key): void {
    const value = this.#entries.get(key);
    if (value === undefined) return;
    this.#weight -= this.#weigh(value);
    this.#entries.delete(key);
  }

  values(): IterableIterator<Value> {
    return this.#entries.values();
  }

  deleteWhere(unwanted: (key: Key, value: Value) => boolean): void {
    for (const [key, value] of this.#entries) if (unwanted(key, value)) this.delete(key);
  }
}
