import { SvelteSet } from 'svelte/reactivity';

/** Rows that are chosen in a list to do something with them together. */
export class Choice<Id> {
  readonly #chosen = new SvelteSet<Id>();
  /** Chosen last: a range begins there, wherever the row has moved since. */
  #last: Id | undefined;

  get size(): number {
    return this.#chosen.size;
  }

  get ids(): readonly Id[] {
    return [...this.#chosen];
  }

  has(id: Id): boolean {
    return this.#chosen.has(id);
  }

  /** Chooses a row, or takes it back; with `range` also all between it and the one before. `rows`: the ids in order. */
  toggle(id: Id, range: boolean, rows: readonly Id[]): void {
    const on = !this.#chosen.has(id);
    const at = rows.indexOf(id);
    const before = range && this.#last !== undefined ? rows.indexOf(this.#last) : -1;
    const from = before < 0 ? at : before;
    for (const each of rows.slice(Math.min(from, at), Math.max(from, at) + 1)) {
      if (on) this.#chosen.add(each);
      else this.#chosen.delete(each);
    }
    this.#last = id;
  }

  all(rows: readonly Id[]): void {
    for (const id of rows) this.#chosen.add(id);
  }

  clear(): void {
    this.#chosen.clear();
    this.#last = undefined;
  }
}
