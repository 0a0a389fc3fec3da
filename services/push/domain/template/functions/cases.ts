import { encodeRune, fromBytes, iterateRunes, toBytes } from '../bytes.ts';

/** Go converts each character separately and only to a single character. */
function mapCharacters(bytes: string, convert: (letter: string) => string): string {
  let converted = '';
  for (const { rune, index, size } of iterateRunes(bytes)) {
    const letter = String.fromCodePoint(rune);
    const [first = letter, ...more] = convert(letter);
    // Invalid bytes are unchanged.
    const isByte = rune === 0xfffd && size === 1;
    converted +=
      isByte || more.length > 0 ? bytes.slice(index, index + size) : encodeRune(first.codePointAt(0) ?? rune);
  }
  return converted;
}

export function upperCase(bytes: string): string {
  return mapCharacters(bytes, (letter) => letter.toUpperCase());
}

export function lowerCase(bytes: string): string {
  return mapCharacters(bytes, (letter) => (letter === 'İ' ? 'i' : letter.toLowerCase()));
}

/** Word pattern: characters such as an apostrophe or a point belong to a word between letters. */
const wordPattern =
  /[\p{L}\p{M}\p{N}_]+(?:[.:'··’‘․﹒＇．﹕：‧][\p{L}\p{M}_][\p{L}\p{M}\p{N}_]*|(?<=\p{N})[.,;'](?=\p{N})[\p{L}\p{M}\p{N}_]+)*/gu;
const letterPattern = /\p{L}/u;
/** Digraphs with a title case form. */
const titleCaseDigraphs: Readonly<Record<string, string>> = { Ǆ: 'ǅ', Ǉ: 'ǈ', Ǌ: 'ǋ', Ǳ: 'ǲ' };

/** Converts each word to title case at its first letter. */
export function titleCase(bytes: string): string {
  return toBytes(
    fromBytes(bytes).replace(wordPattern, (matched) => {
      const letter = letterPattern.exec(matched)?.[0];
      const lower = matched.toLowerCase();
      if (letter === undefined) return lower;
      const position = matched.indexOf(letter);
      const [first = '', ...more] = letter.toUpperCase();
      const capital =
        (titleCaseDigraphs[first] ?? first) + (first === 'ʼ' ? more.join('') : more.join('').toLowerCase());
      return matched.slice(0, position) + capital + lower.slice(position + letter.toLowerCase().length);
    }),
  );
}
