/** Returns the line and the column of an index in a text, both from 1. */
export function toLineAndColumn(text: string, index: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, index).split('\n');
  return { line: before.length, column: [...(before.at(-1) ?? '')].length + 1 };
}
