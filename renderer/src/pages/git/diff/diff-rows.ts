import type { Hunk, PatchLine } from './patch-parser.ts';

/** Number of lines that one press reveals. */
export const revealStep = 20;
/** Unchanged lines that Git adds after a change; fewer of them end the file. */
const contextLines = 3;

/** Revealed lines of a gap: from its start, below the previous hunk, and from its end, above the next one. */
export interface Revealed {
  readonly top: number;
  readonly bottom: number;
}

/** Unchanged lines that are not shown. */
export interface Gap {
  readonly kind: 'gap';
  /** Number of the hunk that follows; the gap after the last hunk has the number of hunks. */
  readonly index: number;
  /** Number of hidden lines; undefined after the last hunk until the file is loaded. */
  readonly count: number | undefined;
  /** Heading of the hunk that follows. */
  readonly heading: string;
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

export type DiffRow = PatchLine | Gap;

export interface DiffInput {
  readonly hunks: readonly Hunk[];
  /** Revealed lines by gap. */
  readonly revealed: readonly (Revealed | undefined)[];
  /** Lines of the new file; undefined until they are loaded. */
  readonly fileLines: readonly string[] | undefined;
  /** False for added and deleted files, whose diff is the whole file. */
  readonly hasContext: boolean;
}

/** Builds the rows of a diff: its lines, the revealed lines between them, and the remaining gaps. */
export function buildDiffRows({ hunks, revealed, fileLines, hasContext }: DiffInput): readonly DiffRow[] {
  const rows: DiffRow[] = [];
  for (const [index, hunk] of hunks.entries()) {
    const previous = hunks[index - 1];
    if (hasContext) {
      const [start, end] = [previous?.afterEnd ?? 1, hunk.after];
      const gap = { kind: 'gap', index, heading: hunk.heading, isFirst: index === 0, isLast: false } as const;
      rows.push(...buildGap({ start, end, shift: hunk.before - hunk.after }, gap, revealed[index], fileLines));
    }
    rows.push(...hunk.lines);
  }
  const last = hunks.at(-1);
  if (hasContext && last !== undefined && mayContinue(last)) {
    const gap = { kind: 'gap', index: hunks.length, heading: '', isFirst: false, isLast: true } as const;
    const end = fileLines === undefined ? undefined : fileLines.length + 1;
    const range = { start: last.afterEnd, end, shift: last.beforeEnd - last.afterEnd };
    rows.push(...buildGap(range, gap, revealed[hunks.length], fileLines));
  }
  return rows;
}

/** Returns whether the file may have lines after its last hunk. */
function mayContinue({ lines }: Hunk): boolean {
  return lines.length > contextLines && lines.slice(-contextLines).every(({ kind }) => kind === 'same');
}

function buildGap(
  { start, end, shift }: { readonly start: number; readonly end: number | undefined; readonly shift: number },
  gap: Omit<Gap, 'count'>,
  { top, bottom }: Revealed = { top: 0, bottom: 0 },
  fileLines: readonly string[] = [],
): readonly DiffRow[] {
  if (end === undefined) return [{ ...gap, count: undefined }];
  const toLine = (after: number): PatchLine => ({
    kind: 'same',
    text: fileLines[after - 1] ?? '',
    before: after + shift,
    after,
  });
  const range = (from: number, to: number): readonly PatchLine[] =>
    Array.from({ length: Math.max(0, to - from) }, (_, offset) => toLine(from + offset));
  const hidden = end - start - top - bottom;
  if (hidden <= 0) return fileLines.length === 0 ? [] : range(start, end);
  return [...range(start, start + top), { ...gap, count: hidden }, ...range(end - bottom, end)];
}

/** Row of the split view; one side is missing for added and removed lines without a counterpart. */
export interface SplitRow {
  readonly kind: 'pair';
  readonly left?: PatchLine;
  readonly right?: PatchLine;
}

/** Arranges the rows side by side: removed lines next to the added lines that replace them. */
export function toSplitRows(rows: readonly DiffRow[]): readonly (SplitRow | Gap)[] {
  const result: (SplitRow | Gap)[] = [];
  let [removed, added]: [PatchLine[], PatchLine[]] = [[], []];
  const flush = (): void => {
    for (let index = 0; index < Math.max(removed.length, added.length); index += 1) {
      const [left, right] = [removed[index], added[index]];
      result.push({ kind: 'pair', ...(left && { left }), ...(right && { right }) });
    }
    [removed, added] = [[], []];
  };
  for (const row of rows) {
    if (row.kind === 'removed') {
      // A removal after an addition begins another change.
      if (added.length > 0) flush();
      removed.push(row);
    } else if (row.kind === 'added') {
      added.push(row);
    } else {
      flush();
      if (row.kind === 'gap') result.push(row);
      else if (row.kind === 'same') result.push({ kind: 'pair', left: row, right: row });
      else result.push({ kind: 'pair', left: row });
    }
  }
  flush();
  return result;
}

/** Returns the number of digits of the largest line number. */
export function countDigits(rows: readonly DiffRow[]): number {
  let largest = 0;
  for (const row of rows) {
    if (row.kind !== 'gap') largest = Math.max(largest, row.before ?? 0, row.after ?? 0);
  }
  return String(largest).length;
}

/** Returns the key of a row, which stays the same when lines are revealed. */
export function getRowKey(row: DiffRow, position: number): string {
  if (row.kind === 'gap') return `gap ${row.index}`;
  if (row.kind === 'note') return `note ${position}`;
  return `${row.before ?? ''} ${row.after ?? ''}`;
}
