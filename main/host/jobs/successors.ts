import type { InsertedJob, JobRow } from './table.ts';

/** Jobs, and ends of order keys, that are remembered; the others are read from the table when their time comes. */
const most = 10_000;

/**
 * Jobs of order keys that were enqueued here, each by the id of the one it is directly behind. When that one is done this
 * is the next, and the table need not be asked. For a worker that has the table to itself: nobody else can have put one
 * between.
 */
export class Successors {
  readonly #behind = new Map<number, JobRow>();
  /** By its own id, whom each is behind. */
  readonly #before = new Map<number, number>();
  /** The job that was enqueued last, by kind and order key. */
  readonly #last = new Map<string, number>();

  /** Notes jobs in the order in which they were written; returns, for each of an order key, the one enqueued before it. */
  follow(kind: string, jobs: readonly InsertedJob[]): ReadonlyMap<number, number> {
    const before = new Map<number, number>();
    for (const { id, held, row } of jobs) {
      // Its order key is not known, so it may be the last of any.
      if (row === undefined) this.#last.clear();
      if (row === undefined || row.order_key === null) continue;
      const place = `${kind}\n${row.order_key}`;
      const last = this.#last.get(place);
      if (held !== 0 && last !== undefined) before.set(id, last);
      this.#last.delete(place);
      this.#last.set(place, id);
    }
    for (const place of this.#last.keys()) {
      if (this.#last.size <= most) break;
      this.#last.delete(place);
    }
    return before;
  }

  /** Forgets jobs whose rows were taken back: their ids may be given to others, of other order keys. */
  unfollow(kind: string, jobs: readonly InsertedJob[]): void {
    for (const { id, row } of jobs) {
      const place = `${kind}\n${row?.order_key ?? ''}`;
      if (this.#last.get(place) === id) this.#last.delete(place);
    }
  }

  /** True where nobody was enqueued behind this one. */
  isLast({ id, kind, order_key }: JobRow): boolean {
    return this.#last.get(`${kind}\n${order_key ?? ''}`) === id;
  }

  /** True for one that waits behind another. */
  holds(id: number): boolean {
    return this.#before.has(id);
  }

  /** True when the one behind this is known. */
  hasNext(id: number): boolean {
    return this.#behind.has(id);
  }

  /** Call only for one whose predecessor runs or is in the line. */
  add(before: number, row: JobRow): void {
    if (this.#behind.size >= most) return;
    this.#behind.set(before, row);
    this.#before.set(row.id, before);
  }

  /** The one behind this, which is in the line no more. */
  take(id: number): JobRow | undefined {
    const row = this.#behind.get(id);
    if (row === undefined) return undefined;
    this.#behind.delete(id);
    this.#before.delete(row.id);
    return row;
  }

  /** Forgets all behind this one: what becomes of them is up to the table. */
  forgetBehind(id: number): void {
    for (let row = this.take(id); row !== undefined; row = this.take(row.id));
  }

  /** Forgets one and all behind it. */
  forget(id: number): void {
    this.forgetBehind(id);
    const before = this.#before.get(id);
    if (before !== undefined) this.take(before);
  }
}
