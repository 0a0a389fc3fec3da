/**
 * Returns whether a text consists of the parts in order with anything in between; the parts are a pattern split at
 * its `*` wildcards. Matching each part as early as possible is sufficient, without backtracking.
 */
export function matchesWildcardParts(parts: readonly string[], text: string): boolean {
  const first = parts[0] ?? '';
  if (parts.length === 1) return text === first;
  const last = parts.at(-1) ?? '';
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let index = first.length;
  for (const piece of parts.slice(1, -1)) {
    const partIndex = text.indexOf(piece, index);
    if (partIndex < 0 || partIndex + piece.length > end) return false;
    index = partIndex + piece.length;
  }
  return true;
}
