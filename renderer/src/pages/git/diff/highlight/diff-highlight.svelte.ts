import type { Token } from '../../../../parts/text/highlight-tokens.ts';
import { findChangedWords, markTokens } from './changed-words.ts';
import { highlightFile, highlightHunks, noTokens, type TokensByLine } from './hunk-highlight.ts';
import type { Hunk, PatchLine } from '../patch-parser.ts';

/** Highlighted lines of a diff: unstyled at first, colored when the highlighter is loaded. */
export class DiffHighlight {
  #before = $state.raw<TokensByLine>(noTokens);
  #after = $state.raw<TokensByLine>(noTokens);
  readonly #hunks: () => readonly Hunk[];
  readonly #changed = $derived.by(() => findChangedWords(this.#hunks()));

  /**
   * @param hunks Returns the hunks; none while the diff is not visible.
   * @param path Returns the path, whose extension selects the language.
   * @param fileLines Returns the lines of the new file when they are loaded.
   */
  constructor(hunks: () => readonly Hunk[], path: () => string, fileLines: () => readonly string[] | undefined) {
    this.#hunks = hunks;
    $effect(() => {
      let isDestroyed = false;
      const lines = fileLines();
      const jobs = [
        highlightHunks(hunks(), 'before', path()),
        lines === undefined ? highlightHunks(hunks(), 'after', path()) : highlightFile(lines, path()),
      ] as const;
      // A failed highlighter leaves the text readable.
      Promise.all(jobs).then(
        ([before, after]) => {
          if (!isDestroyed) [this.#before, this.#after] = [before, after];
        },
        () => undefined,
      );
      return () => (isDestroyed = true);
    });
  }

  /** Returns the tokens of a line. */
  getTokens(line: PatchLine): readonly Token[] {
    const { text, before, after } = line;
    const highlighted = after === undefined ? this.#before.get(before ?? 0) : this.#after.get(after);
    const tokens = highlighted ?? [{ text, kind: '' }];
    const range = this.#changed.get(line);
    return range === undefined ? tokens : markTokens(tokens, range);
  }
}
