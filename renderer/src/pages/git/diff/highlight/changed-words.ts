import type { Token } from '../../../../parts/text/highlight-tokens.ts';
import type { Hunk, PatchLine } from '../patch-parser.ts';

/** Part of a line, from its first to behind its last character. */
export interface TextRange {
  readonly from: number;
  readonly to: number;
}

/** Lines that have less in common are shown without changed words, because everything would be marked. */
const minCommonShare = 0.3;
const maxLineLength = 2000;

/** Finds the changed words of lines that replace each other. */
export function findChangedWords(hunks: readonly Hunk[]): ReadonlyMap<PatchLine, TextRange> {
  const ranges = new Map<PatchLine, TextRange>();
  for (const { lines } of hunks) {
    for (let index = 0; index < lines.length; index += 1) {
      const removed = takeWhile(lines, index, 'removed');
      const added = takeWhile(lines, index + removed.length, 'added');
      // Without the same number of lines it is unknown which ones belong together.
      if (removed.length > 0 && removed.length === added.length) {
        for (const [at, line] of removed.entries()) compareLines(line, added[at] ?? line, ranges);
      }
      index += Math.max(0, removed.length + added.length - 1);
    }
  }
  return ranges;
}

function takeWhile(lines: readonly PatchLine[], start: number, kind: PatchLine['kind']): readonly PatchLine[] {
  let end = start;
  while (lines[end]?.kind === kind) end += 1;
  return lines.slice(start, end);
}

function compareLines(before: PatchLine, after: PatchLine, ranges: Map<PatchLine, TextRange>): void {
  const [one, other] = [before.text, after.text];
  const [shorter, longer] = [Math.min(one.length, other.length), Math.max(one.length, other.length)];
  if (longer > maxLineLength) return;
  let start = 0;
  while (start < shorter && one[start] === other[start]) start += 1;
  // Whole words are marked.
  while (start > 0 && isWordCharacter(one[start - 1]) && (isWordCharacter(one[start]) || isWordCharacter(other[start])))
    start -= 1;
  let end = 0;
  while (end < shorter - start && one[one.length - end - 1] === other[other.length - end - 1]) end += 1;
  const startsInWord = (text: string): boolean => isWordCharacter(text[text.length - end - 1]);
  while (end > 0 && isWordCharacter(one[one.length - end]) && (startsInWord(one) || startsInWord(other))) end -= 1;
  const indent = /^\s*/.exec(one)?.[0].length ?? 0;
  if (start + end - Math.min(start, indent) < minCommonShare * (shorter - indent)) return;
  ranges.set(before, { from: start, to: one.length - end });
  ranges.set(after, { from: start, to: other.length - end });
}

function isWordCharacter(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}_$]/u.test(character);
}

/** Splits the tokens of a line at a range and marks those inside it. */
export function markTokens(tokens: readonly Token[], { from, to }: TextRange): readonly Token[] {
  let position = 0;
  return tokens.flatMap(({ text, kind }) => {
    const start = position;
    position += text.length;
    const cuts = [0, from - start, to - start, text.length].map((cut) => Math.min(text.length, Math.max(0, cut)));
    const [before, marked, after] = [text.slice(0, cuts[1]), text.slice(cuts[1], cuts[2]), text.slice(cuts[2])];
    return [
      { text: before, kind },
      { text: marked, kind, isChanged: true },
      { text: after, kind },
    ].filter((part) => part.text !== '');
  });
}
