/** Values as other programs have them in variables that we read as well, and what they are here. */
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

/** The text of a variable as we write it. What is not known stays, to be complained about. */
export function spelt(variable: string, text: string): string {
  const known = spellings[variable];
  const word = text.trim().toLowerCase();
  return known !== undefined && Object.hasOwn(known, word) ? (known[word] ?? text) : text;
}
