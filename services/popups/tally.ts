import { z } from 'zod';

/** Data of a counted message. */
export interface CountedMessage {
  readonly id: number;
  readonly source: string;
  readonly priority: number;
}

/** Maximum number of rows stored individually; further ones are only counted. */
const maxRows = 5000;

export const SavedTally = z.object({
  rows: z.array(z.tuple([z.int(), z.string(), z.int()])).default([]),
  more: z.int().nonnegative().default(0),
});

/** Messages to be summarized; messages that are read in the meantime are removed. */
export class Tally {
  readonly #rows = new Map<number, CountedMessage>();
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

  get rows(): readonly CountedMessage[] {
    return [...this.#rows.values()];
  }

  /** Highest priority of the messages. */
  get priority(): number {
    return Math.max(1, ...this.rows.map((row) => row.priority));
  }

  add(rows: readonly CountedMessage[], more = 0): void {
    this.#more += more;
    for (const row of rows) {
      if (this.#rows.size < maxRows) this.#rows.set(row.id, row);
      else this.#more += 1;
    }
  }

  /** Returns true when one of them was present. */
  remove(ids: readonly number[]): boolean {
    const before = this.#rows.size;
    for (const id of ids) this.#rows.delete(id);
    return this.#rows.size < before;
  }

  /** Empties the tally and returns its content. */
  take(): Tally {
    const content = new Tally();
    content.add(this.rows, this.#more);
    this.#rows.clear();
    this.#more = 0;
    return content;
  }

  /** Returns sources with their counts, highest first. */
  sources(): readonly (readonly [source: string, count: number])[] {
    const counts = new Map<string, number>();
    for (const { source } of this.#rows.values()) counts.set(source, (counts.get(source) ?? 0) + 1);
    return [...counts].sort(([, a], [, b]) => b - a);
  }

  toSaved(): z.infer<typeof SavedTally> {
    return { rows: this.rows.map(({ id, source, priority }) => [id, source, priority]), more: this.#more };
  }

  /** Number of messages that are only counted. */
  get more(): number {
    return this.#more;
  }
}
