/** Patterns of typographic errors in each language, each with the advice. Spaces in the patterns are plain spaces. */
const patterns: Readonly<Record<string, readonly (readonly [RegExp, string])[]>> = {
  de: [[/ %(?![\w(])/, 'use a non-breaking space before %']],
  fr: [
    [/ [:%](?=[\s,.]|$)/, 'use a non-breaking space before : and %'],
    [/ ;(?=\s|$)/, 'use a narrow non-breaking space before ;'],
    // A wildcard such as "* et ?" is followed by a word in lower case.
    [/ [?!](?=\s+\p{Lu}|$)/u, 'use a narrow non-breaking space before ? and !'],
    [/« | »/, 'use non-breaking spaces inside « »'],
  ],
  es: [[/^[^¿]*[\p{L}\d»)]\?(?=\s|$)/u, 'begin a question with ¿']],
};

/** Returns the advice for each typographic error in the literal parts of a message. */
export function findTypographicErrors(language: string, literals: readonly string[]): readonly string[] {
  return (patterns[language] ?? [])
    .filter(([pattern]) => literals.some((literal) => pattern.test(literal)))
    .map(([, advice]) => advice);
}
