/** Unit of a length limit. */
export type LengthUnit = 'characters' | 'bytes' | 'utf16';

/** Size of one code point in each unit; `bytes` are those of UTF-8. */
const sizes: Readonly<Record<LengthUnit, (point: string) => number>> = {
  characters: () => 1,
  bytes: (point) => Buffer.byteLength(point),
  utf16: (point) => point.length,
};

/** Returns the length of a text in a unit. */
export function measureLength(text: string, unit: LengthUnit = 'characters'): number {
  if (unit === 'bytes') return Buffer.byteLength(text);
  if (unit === 'utf16') return text.length;
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

/** Returns true if the text does not exceed the limit. */
export function fits(text: string, limit: number | undefined, unit: LengthUnit = 'characters'): boolean {
  return limit === undefined || text.length * (unit === 'bytes' ? 3 : 1) <= limit || measureLength(text, unit) <= limit;
}

/** Truncates a text and appends an ellipsis. */
export function truncate(text: string, limit: number | undefined, unit: LengthUnit = 'characters'): string {
  if (limit === undefined || fits(text, limit, unit)) return text;
  const points = [...text];
  return `${points.slice(0, findEnd(points, 0, Math.max(0, limit - measureLength('…', unit)), unit)).join('')}…`;
}

/** Maximum number of messages for one notification; a longer text is truncated. */
const maxPieces = 20;

/**
 * Splits a text into pieces of at most `limit`, at the end of a line or word in the last half of a piece if possible.
 * `first` is the limit of the first piece.
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
    const maxSize = Math.max(1, pieces.length === 0 ? first : limit);
    // At least one character, so that the loop ends.
    const full = Math.max(start + 1, findEnd(points, start, maxSize, unit));
    if (full === points.length) {
      pieces.push(points.slice(start).join(''));
      break;
    }
    if (pieces.length === maxPieces - 1) {
      pieces.push(truncate(points.slice(start, full + 1).join(''), maxSize, unit));
      break;
    }
    const end = findBreak(points, start, full);
    pieces.push(points.slice(start, end).join('').trimEnd());
    start = end;
    while (points[start] === '\n' || points[start] === ' ' || points[start] === '\r') start += 1;
  }
  return pieces.length === 0 ? [''] : pieces;
}

/** Returns the index up to which the characters fit. */
function findEnd(points: readonly string[], start: number, maxSize: number, unit: LengthUnit): number {
  const measureCharacter = sizes[unit];
  let end = start;
  for (let remaining = maxSize; end < points.length; end += 1) {
    remaining -= measureCharacter(points[end] ?? '');
    if (remaining < 0) break;
  }
  return end;
}

function findBreak(points: readonly string[], start: number, full: number): number {
  for (const mark of ['\n', ' ']) {
    const breakIndex = points.lastIndexOf(mark, full);
    if (breakIndex > start + (full - start) / 2) return breakIndex;
  }
  return full;
}
