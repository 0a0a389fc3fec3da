/**
 * Whether a text is the pieces in order with anything between them, as a pattern cut at its `*` wildcards says. The
 * earliest place of each piece leaves the most room for the rest, so taking it never has to be taken back.
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
