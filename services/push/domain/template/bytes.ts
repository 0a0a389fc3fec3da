/**
 * Text inside of a template is what it is in Go: bytes. Each stands as one character below 256, so that lengths, cuts and
 * comparisons come out as there, also in the middle of a character.
 */

const ascii = /^[\0-\x7f]*$/;

export function toBytes(text: string): string {
  return ascii.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

/** The text of bytes; each byte that belongs to no character becomes U+FFFD. */
export function fromBytes(bytes: string): string {
  if (ascii.test(bytes)) return bytes;
  const text = Buffer.from(bytes, 'latin1').toString('utf8');
  if (!text.includes('\ufffd')) return text;
  let read = '';
  for (const { rune } of runesOf(bytes)) read += String.fromCodePoint(rune);
  return read;
}

export interface Rune {
  /** The code point; U+FFFD for a byte that belongs to no character. */
  readonly rune: number;
  readonly at: number;
  readonly size: number;
}

/** The characters of bytes, one after another. */
export function* runesOf(bytes: string): Generator<Rune> {
  for (let at = 0; at < bytes.length;) {
    const rune = runeAt(bytes, at);
    yield rune;
    at += rune.size;
  }
}

/** The smallest code point that a sequence of so many bytes may stand for. */
const least = [0, 0, 0x80, 0x800, 0x10000];

export function runeAt(bytes: string, at: number): Rune {
  const first = bytes.charCodeAt(at);
  if (first < 0x80) return { rune: first, at, size: 1 };
  const size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  let rune = first & (0x7f >> size);
  for (let next = 1; next < size; next += 1) {
    const byte = bytes.charCodeAt(at + next);
    if (Number.isNaN(byte) || (byte & 0xc0) !== 0x80) return { rune: 0xfffd, at, size: 1 };
    rune = (rune << 6) | (byte & 0x3f);
  }
  const isValid =
    first >= 0xc2 && first <= 0xf4 && rune >= (least[size] ?? 0) && rune <= 0x10ffff && (rune & 0xfff800) !== 0xd800;
  return isValid ? { rune, at, size } : { rune: 0xfffd, at, size: 1 };
}

export function bytesOfRune(rune: number): string {
  return toBytes(String.fromCodePoint(rune > 0x10ffff || rune < 0 || (rune & 0xfff800) === 0xd800 ? 0xfffd : rune));
}

export function runeCount(bytes: string): number {
  if (ascii.test(bytes)) return bytes.length;
  let count = 0;
  for (const _ of runesOf(bytes)) count += 1;
  return count;
}

/** The characters one by one; the last of `most` holds the rest. */
export function splitRunes(bytes: string, most: number): readonly string[] {
  const runes: string[] = [];
  for (const { at, size } of runesOf(bytes)) {
    if (runes.length === most - 1) return [...runes, bytes.slice(at)];
    runes.push(bytes.slice(at, at + size));
  }
  return runes;
}

/** White space as Go trims it. */
const spaces = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

export function trimSpace(bytes: string): string {
  const runes = [...runesOf(bytes)];
  const isSpace = ({ rune }: Rune): boolean => spaces.test(String.fromCodePoint(rune));
  const first = runes.find((rune) => !isSpace(rune));
  const last = runes.findLast((rune) => !isSpace(rune));
  return first === undefined || last === undefined ? '' : bytes.slice(first.at, last.at + last.size);
}
