/**
 * Whether a text is the pieces in order with anything between them, as a pattern cut at its `*` wildcards says. The
 * earliest place of each piece leaves the most room for the rest, so taking it never has to be taken back.
 */
export function matchesPieces(pieces: readonly string[], text: string): boolean {
  const first = pieces[0] ?? '';
  if (pieces.length === 1) return text === first;
  const last = pieces.at(-1) ?? '';
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at);
    if (found < 0 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}
