/** Values of other programs' variables that are read as well, with their equivalents. */
const spellings: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  LOGLEVEL: {
    debug: 'debug',
    info: 'info',
    warning: 'warn',
    warn: 'warn',
    error: 'error',
    critical: 'error',
    none: 'error',
  },
};

/** Returns the equivalent of a variable's text. Unknown text is returned unchanged and fails the validation. */
export function findSpelling(variable: string, text: string): string {
  const known = spellings[variable];
  const word = text.trim().toLowerCase();
  return known !== undefined && Object.hasOwn(known, word) ? (known[word] ?? text) : text;
}
