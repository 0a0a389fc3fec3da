/** Line of a unified diff with its numbers in the old and the new file. */
export interface PatchLine {
  /** `note`: a remark of Git, such as a missing line end. */
  readonly kind: 'same' | 'added' | 'removed' | 'note';
  /** Text without the marker of the diff. */
  readonly text: string;
  readonly before?: number;
  readonly after?: number;
}

/** Consecutive changed lines with their context. */
export interface Hunk {
  /** Text after the line numbers, usually the enclosing function. */
  readonly heading: string;
  /** First line of the hunk in each file. */
  readonly before: number;
  readonly after: number;
  /** First line behind the hunk in each file. */
  readonly beforeEnd: number;
  readonly afterEnd: number;
  readonly lines: readonly PatchLine[];
}

const headerPattern = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/;

/** Parses the hunks of a patch, starting at its first hunk header (`@@`). */
export function parsePatch(patch: string): readonly Hunk[] {
  const hunks: (Hunk & { lines: PatchLine[]; beforeEnd: number; afterEnd: number })[] = [];
  for (const text of patch.replace(/\n$/, '').split('\n')) {
    const header = headerPattern.exec(text);
    const hunk = hunks.at(-1);
    if (header !== null) {
      const [before, after] = [toFirstLine(header[1], header[2]), toFirstLine(header[3], header[4])];
      hunks.push({ heading: header[5] ?? '', before, after, beforeEnd: before, afterEnd: after, lines: [] });
    } else if (hunk !== undefined) {
      hunk.lines.push(parseLine(text, hunk));
    }
  }
  return hunks;
}

/** Git counts a side without lines from the line before it. */
function toFirstLine(start: string | undefined, count: string | undefined): number {
  return Number(start) + Number(count === '0');
}

function parseLine(text: string, end: { beforeEnd: number; afterEnd: number }): PatchLine {
  const content = text.slice(1);
  if (text.startsWith('\\')) return { kind: 'note', text };
  if (text.startsWith('+')) return { kind: 'added', text: content, after: end.afterEnd++ };
  if (text.startsWith('-')) return { kind: 'removed', text: content, before: end.beforeEnd++ };
  return { kind: 'same', text: content, before: end.beforeEnd++, after: end.afterEnd++ };
}

/** Returns the number of a line in comments; a negative number refers to the old file. */
export function getLineNumber({ before, after }: PatchLine): number {
  return after ?? -(before ?? 0);
}
