import { SvelteSet } from 'svelte/reactivity';
import { toasts } from './toasts.svelte.ts';

interface Removal {
  /** Message that is shown next to Undo. */
  readonly message: string;
  /** Removes the items, after Undo is no longer possible. */
  readonly remove: () => Promise<unknown>;
  /** Reloads the data afterwards, also after a failure. */
  readonly reload: () => Promise<unknown>;
}

/** Names of items that were removed in this window while Undo is possible; pages leave them out. */
export class Removals {
  readonly #names = new SvelteSet<string>();

  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** Hides the items immediately and removes them when the toast closes. */
  hideAndRemove(names: readonly string[], { message, remove, reload }: Removal): void {
    for (const name of names) this.#names.add(name);
    const restore = (): void => {
      for (const name of names) this.#names.delete(name);
    };
    toasts.show(message, {
      undo: restore,
      settle: async () => {
        try {
          await remove();
        } finally {
          await reload().finally(restore);
        }
      },
    });
  }
}
