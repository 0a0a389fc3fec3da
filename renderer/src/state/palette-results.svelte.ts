import type { Command, CommandGroup } from './command.ts';
import type { Find, FoundGroup } from './palette-search.ts';
import type { PageEntry } from '../pages/index.ts';
import { openPages } from './pages.svelte.ts';
import { place } from './router.svelte.ts';

/** Fewer letters fit too much to be of use. */
const fewest = 2;

/** What the pages find for the words in the palette, each as soon as it has answered. */
export class FoundThings {
  /** By the page that answered. */
  #answers = $state.raw<Readonly<Record<string, readonly FoundGroup[]>>>({});
  /** By the page that finds: begun once. */
  readonly #finds: Record<string, Find> = {};

  get groups(): readonly CommandGroup[] {
    // In the order of the pages, however late one answers.
    const groups = openPages().flatMap(({ at }) => this.#answers[at] ?? []);
    return groups.map(({ title, found, many = false }) => ({
      ...{ title, many },
      commands: found.map(({ to, run, ...one }): Command => {
        return { ...one, words: [], run: run ?? (() => place.go(to ?? '/')) };
      }),
    }));
  }

  /** Asks all pages that are open to this person; the returned function gives it up. */
  look(typed: string): () => void {
    const words = typed.trim();
    const giveUp = new AbortController();
    if (words.length < fewest) this.#answers = {};
    else for (const page of openPages()) void this.#ask(page, words, giveUp.signal);
    return () => giveUp.abort();
  }

  async #ask({ at, find: load }: PageEntry, words: string, signal: AbortSignal): Promise<void> {
    if (load === undefined) return;
    let groups: readonly FoundGroup[] = [];
    try {
      const begin = (await load()).default;
      const find = (this.#finds[at] ??= begin());
      if (!signal.aborted) groups = await find(words, signal);
    } catch {
      // Who may not see it, or a service that is down, finds nothing there: the others have their say.
    }
    if (signal.aborted) return;
    const found = groups.filter((group) => group.found.length > 0);
    // Nothing again is no news: the list is not drawn anew for it.
    if (found.length + (this.#answers[at]?.length ?? 0) > 0) this.#answers = { ...this.#answers, [at]: found };
  }
}
