import type { KindState } from './kind-state.ts';

/** Room that a claim has asked for, so that nothing else takes it before the claim's jobs begin. */
export class Slots implements Disposable {
  readonly #taken = new Map<KindState, number>();

  /** All that is free of a kind. */
  take(kindState: KindState): number {
    const free = Math.max(0, kindState.free);
    kindState.free -= free;
    this.#taken.set(kindState, (this.#taken.get(kindState) ?? 0) + free);
    return free;
  }

  giveBack(): void {
    for (const [kindState, count] of this.#taken) kindState.free += count;
    this.#taken.clear();
  }

  [Symbol.dispose](): void {
    this.giveBack();
  }
}
