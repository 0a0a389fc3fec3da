import type { Command, CommandGroup } from './command.ts';
import type { PaletteSearch, SearchResultGroup } from '../../state/palette-search.ts';
import type { PageEntry } from '../../pages/index.ts';
import { openPages } from '../pages.svelte.ts';
import { router } from '../../state/router.svelte.ts';

/** Minimum number of typed letters; fewer letters match too much. */
const minLength = 2;

/** Search results of all pages for the text in the palette, updated as each page returns. */
export class PaletteResults {
  /** Results by page. */
  #results = $state.raw<Readonly<Record<string, readonly SearchResultGroup[]>>>({});
  /** Searches by page, each created once. */
  readonly #searches: Record<string, PaletteSearch> = {};

  get groups(): readonly CommandGroup[] {
    // The groups keep the order of the pages, regardless of which result arrives first.
    const groups = openPages().flatMap(({ path }) => this.#results[path] ?? []);
    return groups.map(({ title, results: visible, many = false }) => ({
      title,
      many,
      commands: visible.map(({ to, run, ...one }): Command => {
        return { ...one, keywords: [], run: run ?? (() => router.navigate(to ?? '/')) };
      }),
    }));
  }

  /** Starts the search in all open pages. Returns a function that cancels it. */
  search(typed: string): () => void {
    const terms = typed.trim();
    const controller = new AbortController();
    if (terms.length < minLength) this.#results = {};
    else for (const page of openPages()) void this.#searchPage(page, terms, controller.signal);
    return () => controller.abort();
  }

  async #searchPage({ path, loadSearch: loadSearch }: PageEntry, terms: string, signal: AbortSignal): Promise<void> {
    if (loadSearch === undefined) return;
    let groups: readonly SearchResultGroup[] = [];
    try {
      const createSearch = (await loadSearch()).default;
      const search = (this.#searches[path] ??= createSearch());
      if (!signal.aborted) groups = await search(terms, signal);
    } catch {
      // The account lacks permission or the service is down: other pages still return results.
    }
    if (signal.aborted) return;
    const visible = groups.filter((group) => group.results.length > 0);
    // Two empty results in a row change nothing, so the list is not rendered again.
    if (visible.length + (this.#results[path]?.length ?? 0) > 0) this.#results = { ...this.#results, [path]: visible };
  }
}
