import { bytesOfRune, fromBytes, runesOf, toBytes } from '../bytes.ts';

/** Go turns each character by itself, and only into one other. */
function each(bytes: string, turn: (letter: string) => string): string {
  let turned = '';
  for (const { rune, at, size } of runesOf(bytes)) {
    const letter = String.fromCodePoint(rune);
    const [first = letter, ...more] = turn(letter);
    // A byte that is no character stays as it is.
    const isByte = rune === 0xfffd && size === 1;
    turned += isByte || more.length > 0 ? bytes.slice(at, at + size) : bytesOfRune(first.codePointAt(0) ?? rune);
  }
  return turned;
}

export function upperCase(bytes: string): string {
  return each(bytes, (letter) => letter.toUpperCase());
}

export function lowerCase(bytes: string): string {
  return each(bytes, (letter) => (letter === 'İ' ? 'i' : letter.toLowerCase()));
}

/** A word: marks such as an apostrophe or a point belong to it where they stand between letters. */
const word =
  /[\p{L}\p{M}\p{N}_]+(?:[.:'··’‘․﹒＇．﹕：‧][\p{L}\p{M}_][\p{L}\p{M}\p{N}_]*|(?<=\p{N})[.,;'](?=\p{N})[\p{L}\p{M}\p{N}_]+)*/gu;
const cased = /\p{L}/u;
/** Letters of two that have a form with one capital. */
const pairs: Readonly<Record<string, string>> = { Ǆ: 'ǅ', Ǉ: 'ǈ', Ǌ: 'ǋ', Ǳ: 'ǲ' };

/** Each word with one capital at its first letter. */
export function titleCase(bytes: string): string {
  return toBytes(
    fromBytes(bytes).replace(word, (found) => {
      const letter = cased.exec(found)?.[0];
      const lower = found.toLowerCase();
      if (letter === undefined) return lower;
      const at = found.indexOf(letter);
      const [first = '', ...more] = letter.toUpperCase();
      const capital = (pairs[first] ?? first) + (first === 'ʼ' ? more.join('') : more.join('').toLowerCase());
      return found.slice(0, at) + capital + lower.slice(at + letter.toLowerCase().length);
    }),
  );
}
