/** Returns the value of a parameter by its names, from headers and then from the query; empty without one. */
export type Parameters = (...names: readonly string[]) => string;

/** Parses a boolean: 1, yes and true are true, other text is false, empty text is the default. */
export function parseFlag(text: string, defaultValue: boolean): boolean {
  if (text === '') return defaultValue;
  return /^(1|yes|true)$/i.test(text);
}

/** Splits a comma-separated list, without empty entries. */
export function parseCommaList(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}
