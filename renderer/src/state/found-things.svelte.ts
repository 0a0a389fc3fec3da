import type { Command, CommandGroup } from './commands.svelte.ts';
import type { FoundGroup } from './find.ts';
import { openPages } from './pages.svelte.ts';
import { place } from './router.svelte.ts';

/** Fewer letters fit too much to be of use. */
const fewest = 2;

/** What the pages find for the words in the palette, each as soon as it has answered. */
export class FoundThings {
  #answers = $state.raw<ReadonlyMap<string, readonly FoundGroup[]>>(new Map());

  get groups(): readonly CommandGroup[] {
    return [...this.#answers.values()]
      .flat()
      .filter(({ found }) => found.length > 0)
      .map(({ title, found }) => ({
        title,
        commands: found.map(({ to, run, ...one }): Command => {
          return { ...one, words: [], run: run ?? (() => place.go(to ?? '/')) };
        }),
      }));
  }

  /** Asks all pages that are open to this person; the returned function gives it up. */
  look(typed: string): () => void {
    const words = typed.trim();
    const giveUp = new AbortController();
    if (words.length < fewest) this.#answers = new Map();
    else for (const { at, find } of openPages()) if (find !== undefined) void this.#ask(at, find, words, giveUp.signal);
    return () => giveUp.abort();
  }

  async #ask(
    at: string,
    load: NonNullable<ReturnType<typeof openPages>[number]['find']>,
    words: string,
    signal: AbortSignal,
  ): Promise<void> {
    let groups: readonly FoundGroup[] = [];
    try {
      const { find } = await load();
      if (!signal.aborted) groups = await find(words, signal);
    } catch {
      // Who may not see it, or a service that is down, finds nothing there: the others have their say.
    }
    // In the order of the pages, however late one answers.
    if (!signal.aborted) {
      const all = new Map(this.#answers).set(at, groups);
      this.#answers = new Map(
        openPages().flatMap((page) => (all.has(page.at) ? [[page.at, all.get(page.at) ?? []]] : [])),
      );
    }
  }
}
