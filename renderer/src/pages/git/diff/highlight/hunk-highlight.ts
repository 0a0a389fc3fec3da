import type { Token } from '../../../../parts/text/highlight-tokens.ts';
import { highlight } from '../../code/highlight.ts';
import type { Hunk } from '../patch-parser.ts';

/** Tokens of the lines of one side of a diff, by line number. */
export type TokensByLine = ReadonlyMap<number, readonly Token[]>;
type Side = 'before' | 'after';

/** Lines that are not highlighted yet. */
export const noTokens: TokensByLine = new Map();

/** Highlights each hunk on its own: the lines between them are unknown. */
export async function highlightHunks(hunks: readonly Hunk[], side: Side, path: string): Promise<TokensByLine> {
  const result = new Map<number, readonly Token[]>();
  for (const hunk of hunks) {
    const lines = hunk.lines.filter((line) => line[side] !== undefined);
    const tokens = await highlight(lines.map(({ text }) => text).join('\n'), path);
    for (const [index, line] of lines.entries()) result.set(line[side] ?? 0, tokens[index] ?? []);
  }
  return result;
}

/** Highlights all lines of a file. */
export async function highlightFile(lines: readonly string[], path: string): Promise<TokensByLine> {
  const tokens = await highlight(lines.join('\n'), path);
  return new Map(tokens.map((line, index) => [index + 1, line]));
}
