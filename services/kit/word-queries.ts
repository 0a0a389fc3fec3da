import type { Phrase } from './search-terms.ts';

// Folded words contain only letters, digits and marks, so they need no escaping in either query language.

/** FTS5 tokenizer for folded words: does not change or split them. */
export const ftsTokenizer = `"unicode61 remove_diacritics 0 categories 'L* N* M* Co'"`;

/** Builds the FTS5 query that matches all phrases. */
export function toFtsMatch(phrases: readonly Phrase[]): string {
  return phrases.map(({ words: terms, prefix }) => `"${terms.join(' ')}"${prefix ? ' *' : ''}`).join(' AND ');
}

/** Builds the PostgreSQL `tsquery` that matches all phrases. */
export function toTsQuery(phrases: readonly Phrase[]): string {
  const toPhraseQuery = ({ words: terms, prefix }: Phrase): string =>
    `(${terms.map((word) => `'${word}'`).join(' <-> ')}${prefix ? ':*' : ''})`;
  return phrases.map(toPhraseQuery).join(' & ');
}

/** Builds the PostgreSQL `tsvector` of the words of a row. */
export function toTsVector(terms: readonly string[]): string {
  return terms.map((word, index) => `'${word}':${String(index + 1)}`).join(' ');
}
