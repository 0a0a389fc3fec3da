/** What a service counts where it limits a text. */
export type LengthUnit = 'characters' | 'bytes' | 'utf16';

/** Of one character, which is a code point; `bytes` are those of UTF-8. */
const sizes: Readonly<Record<LengthUnit, (point: string) => number>> = {
  characters: () => 1,
  bytes: (point) => Buffer.byteLength(point),
  utf16: (point) => point.length,
};

/** How long a text is, in a unit; no character is torn where it is measured or cut. */
export function measureLength(text: string, unit: LengthUnit = 'characters'): number {
  if (unit === 'bytes') return Buffer.byteLength(text);
  if (unit === 'utf16') return text.length;
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

/** True when the text is not longer than the limit. */
export function fits(text: string, limit: number | undefined, unit: LengthUnit = 'characters'): boolean {
  return limit === undefined || text.length * (unit === 'bytes' ? 3 : 1) <= limit || measureLength(text, unit) <= limit;
}

/** Cuts a text that is too long and marks the place. */
export function truncate(text: string, limit: number | undefined, unit: LengthUnit = 'characters'): string {
  if (limit === undefined || fits(text, limit, unit)) return text;
  const points = [...text];
  return `${points.slice(0, findEnd(points, 0, Math.max(0, limit - measureLength('…', unit)), unit)).join('')}…`;
}

/** Messages one notice may become; the rest of a longer one is cut. */
const maxPieces = 20;

/**
 * Splits a text into pieces that are not longer than `limit`, at the end of a line or a word where there is one in the last
 * half of a piece. `first` is what the first piece may have instead.
 */
export function splitText(
  text: string,
  limit: number,
  first = limit,
  unit: LengthUnit = 'characters',
): readonly string[] {
  const points = [...text];
  const pieces: string[] = [];
  let start = 0;
  while (start < points.length) {
    const room = Math.max(1, pieces.length === 0 ? first : limit);
    // One character at least, or it would never end.
    const full = Math.max(start + 1, findEnd(points, start, room, unit));
    if (full === points.length) {
      pieces.push(points.slice(start).join(''));
      break;
    }
    if (pieces.length === maxPieces - 1) {
      pieces.push(truncate(points.slice(start, full + 1).join(''), room, unit));
      break;
    }
    const end = findBreak(points, start, full);
    pieces.push(points.slice(start, end).join('').trimEnd());
    start = end;
    while (points[start] === '\n' || points[start] === ' ' || points[start] === '\r') start += 1;
  }
  return pieces.length === 0 ? [''] : pieces;
}

/** How far one comes from a place with so much room. */
function findEnd(points: readonly string[], start: number, room: number, unit: LengthUnit): number {
  const measureCharacter = sizes[unit];
  let end = start;
  for (let remaining = room; end < points.length; end += 1) {
    remaining -= measureCharacter(points[end] ?? '');
    if (remaining < 0) break;
  }
  return end;
}

function findBreak(points: readonly string[], start: number, full: number): number {
  for (const mark of ['\n', ' ']) {
    const at = points.lastIndexOf(mark, full);
    if (at > start + (full - start) / 2) return at;
  }
  return full;
}
