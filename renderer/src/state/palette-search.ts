import type { IconName } from '../icons/icons.ts';

/** A search result in the command palette. */
export interface SearchResult {
  /** Unique within the palette. */
  readonly id: string;
  readonly title: string;
  /** Text that distinguishes results with the same title, such as the first line of a message. */
  readonly note?: string;
  readonly icon: IconName;
  /** Path that the result opens; `run` is an action instead. */
  readonly to?: string;
  readonly run?: () => Promise<void>;
}

export interface SearchResultGroup {
  readonly title: string;
  readonly results: readonly SearchResult[];
  /** The group may have very many results and is listed last. */
  readonly many?: true;
}

/**
 * Returns the results for the typed words. It is called at each letter and must be fast; `signal` is aborted by the
 * next call.
 */
export type PaletteSearch = (terms: string, signal: AbortSignal) => Promise<readonly SearchResultGroup[]>;

/**
 * Creates the search of a page for one opening of the palette, so that data that does not depend on the words is
 * loaded once.
 */
export type CreatePaletteSearch = () => PaletteSearch;

/** Calls `read` once and returns the same result from then on. A failed call is repeated. */
export function memoize<Answer>(read: () => Promise<Answer>): () => Promise<Answer> {
  let answer: Promise<Answer> | undefined;
  return () => {
    answer ??= read().catch((error: unknown) => {
      answer = undefined;
      throw error;
    });
    return answer;
  };
}
