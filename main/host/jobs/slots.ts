import type { Working } from './kind-state.ts';

/** Room that a claim has asked for, so that nothing else takes it before the claim's jobs begin. */
export class Slots implements Disposable {
  readonly #taken = new Map<Working, number>();

  /** All that is free of a kind. */
  take(working: Working): number {
    const free = Math.max(0, working.free);
    working.free -= free;
    this.#taken.set(working, (this.#taken.get(working) ?? 0) + free);
    return free;
  }

  giveBack(): void {
    for (const [working, count] of this.#taken) working.free += count;
    this.#taken.clear();
  }

  [Symbol.dispose](): void {
    this.giveBack();
  }
}
