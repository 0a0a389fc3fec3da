/** Map that evicts the least recently used entries above a maximum number or a maximum weight. */
export class LruMap<Key, Value> {
  readonly #getMaxSize: () => number;
  readonly #maxWeight: number;
  readonly #getWeight: (value: Value) => number;
  readonly #entries = new Map<Key, Value>();
  #weight = 0;

  constructor(
    maxSize: number | (() => number),
    { maxWeight = Infinity, getWeight = () => 0 }: { maxWeight?: number; getWeight?: (value: Value) => number } = {},
  ) {
    this.#getMaxSize = typeof maxSize === 'number' ? () => maxSize : maxSize;
    this.#maxWeight = maxWeight;
    this.#getWeight = getWeight;
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
    this.#weight += this.#getWeight(value);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#getMaxSize() && this.#weight <= this.#maxWeight) break;
      this.delete(oldest);
    }
  }

  /** Returns whether there was an entry. */
  delete(key: Key): boolean {
    const value = this.#entries.get(key);
    if (value !== undefined) this.#weight -= this.#getWeight(value);
    return this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
    this.#weight = 0;
  }

  values(): IterableIterator<Value> {
    return this.#entries.values();
  }

  deleteWhere(matches: (key: Key, value: Value) => boolean): void {
    for (const [key, value] of this.#entries) if (matches(key, value)) this.delete(key);
  }
}
