/** Builds a pattern for SQL `LIKE … ESCAPE '\'` that matches values which contain a text. */
export function buildContainsPattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}

/**
 * Builds a pattern for `LIKE` without `ESCAPE`, whose default differs between databases. Special characters match any
 * character, so that the result may contain other rows as well.
 */
export function buildCandidatePattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, '_')}%`;
}
