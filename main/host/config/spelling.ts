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
  const equivalents = spellings[variable];
  const value = text.trim().toLowerCase();
  return equivalents !== undefined && Object.hasOwn(equivalents, value) ? (equivalents[value] ?? text) : text;
}
