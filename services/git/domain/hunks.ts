/** Number of context lines before the commented line. */
const contextLines = 3;

/**
 * Returns the part of a unified patch that ends at a line: a line of the new file, or of the old file if it is
 * negative.
 */
export function extractHunk(patch: string, line: number): string {
  let head = '';
  let [before, after] = [0, 0];
  let lines: string[] = [];
  for (const text of patch.split('\n')) {
    const start = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? (@@.*)$/.exec(text);
    if (start !== null) {
      [head, lines] = [start[3] ?? '', []];
      [before, after] = [Number(start[1]) - 1, Number(start[2]) - 1];
      continue;
    }
    if (head === '' || text.startsWith('\\')) continue;
    if (!text.startsWith('+')) before += 1;
    if (!text.startsWith('-')) after += 1;
    lines.push(text);
    const isTarget = line > 0 ? after === line && !text.startsWith('-') : before === -line && !text.startsWith('+');
    if (isTarget) return formatHunk(head, { before, after }, lines.slice(-contextLines - 1));
  }
  return '';
}

/** Formats a hunk whose last line is at the given positions in the old and the new file. */
function formatHunk(
  head: string,
  last: { readonly before: number; readonly after: number },
  lines: readonly string[],
): string {
  const oldCount = lines.filter((text) => !text.startsWith('+')).length;
  const newCount = lines.filter((text) => !text.startsWith('-')).length;
  const oldRange = `-${last.before - oldCount + 1},${oldCount}`;
  const newRange = `+${last.after - newCount + 1},${newCount}`;
  return [`@@ ${oldRange} ${newRange} ${head}`, ...lines].join('\n');
}
