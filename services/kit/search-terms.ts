/** Adjacent words; `prefix` makes the last one a prefix. */
export interface Phrase {
  readonly words: readonly string[];
  readonly prefix: boolean;
}

/** Letters without a decomposition to their base letter. */
const baseLetters: Readonly<Record<string, string>> = {
  ø: 'o',
  đ: 'd',
  ł: 'l',
  æ: 'ae',
  œ: 'oe',
  ı: 'i',
  ς: 'σ',
  ħ: 'h',
};
/** Diacritics of Latin, Greek and Cyrillic, points of Hebrew and Arabic. Elsewhere a mark may be a vowel. */
const diacritics = /[\u0300-\u036F\u0591-\u05BD\u05BF\u05C1\u05C2\u05C4\u05C5\u05C7\u064B-\u065F\u0670]/g;
/** Scripts without spaces between words: each character counts as a word. */
const unspacedScripts =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';
const wordPattern = new RegExp(`[${unspacedScripts}]\\p{M}*|(?:(?![${unspacedScripts}])[\\p{L}\\p{N}\\p{M}])+`, 'gu');
/** Longer words are truncated, both in the index and in queries. */
const maxWordLength = 64;
const maxPhrases = 16;

/** Splits a text into index words without case, diacritics and width; 東京 is two words. */
export function foldTerms(text: string): readonly string[] {
  const folded = text
    .normalize('NFKD')
    .replaceAll(diacritics, '')
    .normalize('NFC')
    .toUpperCase()
    .toLowerCase()
    .replaceAll(diacritics, '')
    .replaceAll(/[øđłæœıςħ]/g, (letter) => baseLetters[letter] ?? letter);
  return Array.from(folded.matchAll(wordPattern), ([word]) => word.slice(0, maxWordLength));
}

/**
 * Parses a search: all words must match, quoted words must be adjacent, `begin*` matches a prefix. The last word
 * matches as a prefix too unless it is quoted, since it may be incomplete.
 */
export function parseSearch(text: string): readonly Phrase[] {
  const parts = Array.from(text.matchAll(/"([^"]*)"?|[^\s"]+/g)).slice(0, maxPhrases);
  return parts.flatMap(([part, quoted], index) => {
    const terms = foldTerms(quoted ?? part);
    if (terms.length === 0) return [];
    return [{ words: terms, prefix: quoted === undefined && (part.endsWith('*') || index === parts.length - 1) }];
  });
}
