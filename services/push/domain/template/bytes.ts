/**
 * Text in templates consists of bytes, as in Go. Each byte is one character below 256, so that lengths, slices and
 * comparisons equal Go's, including inside of a character.
 */

const ascii = /^[\0-\x7f]*$/;

export function toBytes(text: string): string {
  return ascii.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

/** Decodes bytes as UTF-8; each invalid byte becomes U+FFFD. */
export function fromBytes(bytes: string): string {
  if (ascii.test(bytes)) return bytes;
  const text = Buffer.from(bytes, 'latin1').toString('utf8');
  if (!text.includes('\ufffd')) return text;
  let decoded = '';
  for (const { rune } of iterateRunes(bytes)) decoded += String.fromCodePoint(rune);
  return decoded;
}

export interface Rune {
  /** Code point; U+FFFD for an invalid byte. */
  readonly rune: number;
  readonly index: number;
  readonly size: number;
}

/** Yields the characters of a byte string. */
export function* iterateRunes(bytes: string): Generator<Rune> {
  for (let index = 0; index < bytes.length;) {
    const rune = readRune(bytes, index);
    yield rune;
    index += rune.size;
  }
}

/** Minimum code point by sequence length. */
const minCodePoints = [0, 0, 0x80, 0x800, 0x10000];

export function readRune(bytes: string, index: number): Rune {
  const first = bytes.charCodeAt(index);
  if (first < 0x80) return { rune: first, index, size: 1 };
  const size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  let rune = first & (0x7f >> size);
  for (let offset = 1; offset < size; offset += 1) {
    const byte = bytes.charCodeAt(index + offset);
    if (Number.isNaN(byte) || (byte & 0xc0) !== 0x80) return { rune: 0xfffd, index, size: 1 };
    rune = (rune << 6) | (byte & 0x3f);
  }
  const isValid =
    first >= 0xc2 &&
    first <= 0xf4 &&
    rune >= (minCodePoints[size] ?? 0) &&
    rune <= 0x10ffff &&
    (rune & 0xfff800) !== 0xd800;
  return isValid ? { rune, index, size } : { rune: 0xfffd, index, size: 1 };
}

export function encodeRune(rune: number): string {
  return toBytes(String.fromCodePoint(rune > 0x10ffff || rune < 0 || (rune & 0xfff800) === 0xd800 ? 0xfffd : rune));
}

export function countRunes(bytes: string): number {
  if (ascii.test(bytes)) return bytes.length;
  let count = 0;
  for (const _ of iterateRunes(bytes)) count += 1;
  return count;
}

/** Splits into characters; the last of `maxParts` contains the rest. */
export function splitRunes(bytes: string, maxParts: number): readonly string[] {
  const runes: string[] = [];
  for (const { index, size } of iterateRunes(bytes)) {
    if (runes.length === maxParts - 1) return [...runes, bytes.slice(index)];
    runes.push(bytes.slice(index, index + size));
  }
  return runes;
}

/** White space as defined by Go's TrimSpace. */
const spaces = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

export function trimSpace(bytes: string): string {
  const runes = [...iterateRunes(bytes)];
  const isSpace = ({ rune }: Rune): boolean => spaces.test(String.fromCodePoint(rune));
  const first = runes.find((rune) => !isSpace(rune));
  const last = runes.findLast((rune) => !isSpace(rune));
  return first === undefined || last === undefined ? '' : bytes.slice(first.index, last.index + last.size);
}
