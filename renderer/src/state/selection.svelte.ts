import { SvelteSet } from 'svelte/reactivity';

/** Rows that are selected in a list for a common action. */
export class ListSelection<Id> {
  readonly #selected = new SvelteSet<Id>();
  /** The row that was selected last. A range starts there, even if the row has moved since. */
  #last: Id | undefined;

  get size(): number {
    return this.#selected.size;
  }

  get ids(): readonly Id[] {
    return [...this.#selected];
  }

  has(id: Id): boolean {
    return this.#selected.has(id);
  }

  /**
   * Selects or deselects a row. With `range`, all rows between it and the previous one follow. `rows` has all ids in
   * order.
   */
  toggle(id: Id, range: boolean, rows: readonly Id[]): void {
    const isSelected = !this.#selected.has(id);
    const index = rows.indexOf(id);
    const previous = range && this.#last !== undefined ? rows.indexOf(this.#last) : -1;
    const from = previous < 0 ? index : previous;
    for (const each of rows.slice(Math.min(from, index), Math.max(from, index) + 1)) {
      if (isSelected) this.#selected.add(each);
      else this.#selected.delete(each);
    }
    this.#last = id;
  }

  all(rows: readonly Id[]): void {
    for (const id of rows) this.#selected.add(id);
  }

  clear(): void {
    this.#selected.clear();
    this.#last = undefined;
  }
}
