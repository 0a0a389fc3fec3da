/**
 * Looks a parameter up under its names, in order, first among the headers and then in the query; the first one that is
 * not empty wins. Empty when there is none.
 */
export type Parameters = (...names: readonly string[]) => string;

/** 1, yes and true are true, any other text is false, no text is the default. */
export function flag(text: string, otherwise: boolean): boolean {
  if (text === '') return otherwise;
  return /^(1|yes|true)$/i.test(text);
}

/** The entries of a comma list, trimmed, without empty ones. */
export function commaList(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}
