/** Words that stand one after another; of the last, `prefix` means its beginning. */
export interface Phrase {
  readonly words: readonly string[];
  readonly prefix: boolean;
}

/** Letters that no decomposition leads to their plain form. */
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
/** Scripts that put no space between words: each character counts as one. */
const unspacedScripts =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';
const wordPattern = new RegExp(`[${unspacedScripts}]\\p{M}*|(?:(?![${unspacedScripts}])[\\p{L}\\p{N}\\p{M}])+`, 'gu');
/** A longer word is cut, where it is kept and where it is sought. */
const maxWordLength = 64;
const maxPhrases = 16;

/** The words of a text as they are kept and sought: without case, diacritics and width; 東京 is two words. */
export function foldWords(text: string): readonly string[] {
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
 * What somebody seeks: words that are all to be there, "in quotes" one after another, `begin*` of a word. The last word,
 * which may still be written, counts as a beginning too unless it is in quotes.
 */
export function parseSearch(text: string): readonly Phrase[] {
  const parts = Array.from(text.matchAll(/"([^"]*)"?|[^\s"]+/g)).slice(0, maxPhrases);
  return parts.flatMap(([part, quoted], index) => {
    const words = foldWords(quoted ?? part);
    if (words.length === 0) return [];
    return [{ words, prefix: quoted === undefined && (part.endsWith('*') || index === parts.length - 1) }];
  });
}
