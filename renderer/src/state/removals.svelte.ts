import { SvelteSet } from 'svelte/reactivity';
import { toasts } from './toasts.svelte.ts';

interface Removal {
  /** Says what happened, beside the way back. */
  readonly words: string;
  /** Does it, once the way back is gone. */
  readonly remove: () => Promise<unknown>;
  /** Reads what there is afterwards, also when it could not be removed. */
  readonly renew: () => Promise<unknown>;
}

/** Names of what was removed in this window while that can still be undone: a page leaves it out. */
export class Removals {
  readonly #names = new SvelteSet<string>();

  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** Takes these out of sight at once. */
  take(names: readonly string[], { words, remove, renew }: Removal): void {
    for (const name of names) this.#names.add(name);
    const putBack = (): void => {
      for (const name of names) this.#names.delete(name);
    };
    toasts.say(words, {
      undo: putBack,
      settle: async () => {
        try {
          await remove();
        } finally {
          await renew().finally(putBack);
        }
      },
    });
  }
}
