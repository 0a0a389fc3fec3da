/** Number of context lines before the commented line. */
const linesAbove = 3;

/**
 * Returns the part of a unified patch that ends at a line: a line of the new file, or of the old file if it is
 * negative.
 */
export function hunkAt(patch: string, line: number): string {
  let head = '';
  let [before, after] = [0, 0];
  let shown: string[] = [];
  for (const text of patch.split('\n')) {
    const start = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(text);
    if (start !== null) {
      [head, shown] = [text, []];
      [before, after] = [Number(start[1]) - 1, Number(start[2]) - 1];
      continue;
    }
    if (head === '' || text.startsWith('\\')) continue;
    if (!text.startsWith('+')) before += 1;
    if (!text.startsWith('-')) after += 1;
    shown.push(text);
    const isIt = line > 0 ? after === line && !text.startsWith('-') : before === -line && !text.startsWith('+');
    if (isIt) return [head, ...shown.slice(-linesAbove - 1)].join('\n');
  }
  return '';
}
