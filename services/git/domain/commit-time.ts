/** What a date can hold at most, ms since the epoch: whoever makes a commit may write any number of seconds into it. */
const lastMs = 8.64e15;
/** Years of more digits are read by no client. */
const lastWritten = '9999-12-31T23:59:59Z';

/** ms since the epoch of what git tells in seconds; what no date can hold is the last one, and nothing is 0. */
export function timeOfSeconds(seconds: string): number {
  const ms = Number(seconds) * 1000;
  return Number.isNaN(ms) ? 0 : Math.max(-lastMs, Math.min(lastMs, ms));
}

/** The same of what git tells as a date in the form of RFC 3339, whose years may have more digits. */
export function timeOfDate(text: string): number {
  const [, year = '', rest = ''] = /^(\d{5,})(-.*)$/.exec(text) ?? [];
  if (year === '') return Date.parse(text) || 0;
  const ms = Date.parse(`+${year.padStart(6, '0')}${rest}`);
  return Number.isNaN(ms) ? lastMs : ms;
}

/** Such a date as clients read it. */
export function writtenDate(text: string): string {
  return /^\d{5,}-/.test(text) ? lastWritten : text;
}
