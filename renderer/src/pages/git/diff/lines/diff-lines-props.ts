import type { Snippet } from 'svelte';
import type { Token } from '../../../../parts/text/highlight-tokens.ts';
import type { DiffRow, Gap } from '../diff-rows.ts';
import type { PatchLine } from '../patch-parser.ts';

/** Properties of the views of the lines of a diff. */
export interface DiffLinesProps {
  rows: readonly DiffRow[];
  getTokens: (line: PatchLine) => readonly Token[];
  gap?: Snippet<[Gap]>;
  /** Starts a comment on a line. */
  oncomment?: ((line: number) => void) | undefined;
  /** Content below a line, such as its comments. */
  below?: Snippet<[number]> | undefined;
}
