/** Code points of a text, so that no character is torn where it is measured or cut. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

/** True when the text has at most so many code points. */
export function fits(text: string, limit: number | undefined): boolean {
  return limit === undefined || text.length <= limit || lengthOf(text) <= limit;
}

/** Cuts a text that is too long and marks the place. */
export function truncate(text: string, limit: number | undefined): string {
  if (fits(text, limit)) return text;
  return `${[...text].slice(0, Math.max(0, (limit ?? 0) - 1)).join('')}…`;
}

/** Messages one notice may become; the rest of a longer one is cut. */
const mostPieces = 20;

/**
 * Splits a text into pieces of at most `limit` code points, at the end of a line or a word where there is one in the last
 * half of a piece. `first` is what the first piece may have instead.
 */
export function splitText(text: string, limit: number, first = limit): readonly string[] {
  const points = [...text];
  const pieces: string[] = [];
  let start = 0;
  while (start < points.length) {
    const room = Math.max(1, pieces.length === 0 ? first : limit);
    if (points.length - start <= room) {
      pieces.push(points.slice(start).join(''));
      break;
    }
    if (pieces.length === mostPieces - 1) {
      pieces.push(truncate(points.slice(start, start + room + 1).join(''), room));
      break;
    }
    const end = start + breakBefore(points.slice(start, start + room + 1), room);
    pieces.push(points.slice(start, end).join('').trimEnd());
    start = end;
    while (points[start] === '\n' || points[start] === ' ' || points[start] === '\r') start += 1;
  }
  return pieces.length === 0 ? [''] : pieces;
}

function breakBefore(points: readonly string[], room: number): number {
  for (const mark of ['\n', ' ']) {
    const at = points.lastIndexOf(mark, room);
    if (at > room / 2) return at;
  }
  return room;
}
