/** Distributes phases evenly for any set of IDs. */
const goldenRatio = 0.618_033_988_749_895;

interface DueCheck {
  readonly id: number;
  readonly due: number;
  readonly version: number;
}

interface Entry {
  readonly intervalMs: number;
  version: number;
}

/**
 * Schedules each monitor at its phase within its interval, so that equal intervals are distributed evenly without
 * drift, also after a restart. All monitors share one heap; replaced entries are skipped when they reach its top. Times
 * are monotonic milliseconds.
 */
export class Schedule {
  readonly #entries = new Map<number, Entry>();
  #heap: DueCheck[] = [];

  get size(): number {
    return this.#entries.size;
  }

  /**
   * Adds or replaces a monitor.
   * @param index First due time; defaults to the next time of its phase
   */
  set(id: number, intervalMs: number, now: number, index?: number): void {
    const version = (this.#entries.get(id)?.version ?? 0) + 1;
    this.#entries.set(id, { intervalMs, version });
    this.#push({ id, due: index ?? findNextDueTime(id, intervalMs, now), version });
  }

  remove(id: number): void {
    this.#entries.delete(id);
  }

  has(id: number): boolean {
    return this.#entries.has(id);
  }

  /** Sets the next due time, regardless of the phase. */
  moveTo(id: number, due: number): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    entry.version += 1;
    this.#push({ id, due, version: entry.version });
  }

  /** Schedules the next check after a completed one. Missed checks are skipped. */
  done(id: number, now: number): void {
    const entry = this.#entries.get(id);
    if (entry !== undefined) this.moveTo(id, findNextDueTime(id, entry.intervalMs, now));
  }

  /** Returns the next due time. */
  next(): number | undefined {
    this.#dropStale();
    return this.#heap[0]?.due;
  }

  /** Removes and returns the next due monitor. The monitor is not due again until `done` is called. */
  take(now: number): { readonly id: number; readonly due: number } | undefined {
    this.#dropStale();
    const first = this.#heap[0];
    if (first === undefined || first.due > now) return undefined;
    this.#pop();
    return first;
  }

  #dropStale(): void {
    for (;;) {
      const first = this.#heap[0];
      if (first === undefined || this.#entries.get(first.id)?.version === first.version) return;
      this.#pop();
    }
  }

  #push(dueCheck: DueCheck): void {
    const heap = this.#heap;
    heap.push(dueCheck);
    let index = heap.length - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const parentCheck = heap[parent];
      if (parentCheck === undefined || parentCheck.due <= dueCheck.due) break;
      heap[index] = parentCheck;
      index = parent;
    }
    heap[index] = dueCheck;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      const [left, right] = [heap[child], heap[child + 1]];
      if (left === undefined) break;
      if (right !== undefined && right.due < left.due) child += 1;
      const smaller = heap[child];
      if (smaller === undefined || smaller.due >= last.due) break;
      heap[index] = smaller;
      index = child;
    }
    heap[index] = last;
  }
}

/** Returns the first time after `now` that matches the phase of the ID. */
function findNextDueTime(id: number, intervalMs: number, now: number): number {
  const phase = ((id * goldenRatio) % 1) * intervalMs;
  return (Math.floor((now - phase) / intervalMs) + 1) * intervalMs + phase;
}
