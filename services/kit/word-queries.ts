import type { Phrase } from './search-words.ts';

// Folded words hold letters, digits and marks alone, so that nothing in them means anything to either language.

/** How FTS5 creates its table for words that come folded: nothing in them is changed or parted once more. */
export const ftsTokenizer = `"unicode61 remove_diacritics 0 categories 'L* N* M* Co'"`;

/** What FTS5 is to match: all of the phrases. */
export function toFtsMatch(phrases: readonly Phrase[]): string {
  return phrases.map(({ words, prefix }) => `"${words.join(' ')}"${prefix ? ' *' : ''}`).join(' AND ');
}

/** The same for PostgreSQL, as the text of a `tsquery`. */
export function toTsQuery(phrases: readonly Phrase[]): string {
  const toPhraseQuery = ({ words, prefix }: Phrase): string =>
    `(${words.map((word) => `'${word}'`).join(' <-> ')}${prefix ? ':*' : ''})`;
  return phrases.map(toPhraseQuery).join(' & ');
}

/** The words of a row as the text of PostgreSQL's `tsvector`. */
export function toTsVector(words: readonly string[]): string {
  return words.map((word, index) => `'${word}':${String(index + 1)}`).join(' ');
}
