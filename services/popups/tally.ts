import { z } from 'zod';

/** What is remembered of a message that was counted. */
export interface Counted {
  readonly id: number;
  readonly source: string;
  readonly priority: number;
}

/** Rows that are remembered one by one; those beyond are only a number. */
const most = 5000;

export const SavedTally = z.object({
  rows: z.array(z.tuple([z.int(), z.string(), z.int()])).default([]),
  more: z.int().nonnegative().default(0),
});

/** Messages that wait to be summed up; what is read meanwhile drops out. */
export class Tally {
  readonly #rows = new Map<number, Counted>();
  #more = 0;

  static from({ rows, more }: z.infer<typeof SavedTally>): Tally {
    const tally = new Tally();
    tally.add(rows.map(([id, source, priority]) => ({ id, source, priority })));
    tally.#more = more;
    return tally;
  }

  get size(): number {
    return this.#rows.size + this.#more;
  }

  get rows(): readonly Counted[] {
    return [...this.#rows.values()];
  }

  /** The most pressing priority among them. */
  get priority(): number {
    return Math.max(1, ...this.rows.map((row) => row.priority));
  }

  add(rows: readonly Counted[], more = 0): void {
    this.#more += more;
    for (const row of rows) {
      if (this.#rows.size < most) this.#rows.set(row.id, row);
      else this.#more += 1;
    }
  }

  /** True when one of them was there. */
  remove(ids: readonly number[]): boolean {
    const before = this.#rows.size;
    for (const id of ids) this.#rows.delete(id);
    return this.#rows.size < before;
  }

  /** Empties it; answers what was in it. */
  take(): Tally {
    const taken = new Tally();
    taken.add(this.rows, this.#more);
    this.#rows.clear();
    this.#more = 0;
    return taken;
  }

  /** Sources with their counts, the busiest first. */
  sources(): readonly (readonly [source: string, count: number])[] {
    const counts = new Map<string, number>();
    for (const { source } of this.#rows.values()) counts.set(source, (counts.get(source) ?? 0) + 1);
    return [...counts].sort(([, a], [, b]) => b - a);
  }

  saved(): z.infer<typeof SavedTally> {
    return { rows: this.rows.map(({ id, source, priority }) => [id, source, priority]), more: this.#more };
  }

  /** How many of them are only a number. */
  get more(): number {
    return this.#more;
  }
}
