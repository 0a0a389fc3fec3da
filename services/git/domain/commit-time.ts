/** Latest time that a date can represent, ms since the epoch. A commit may contain any number of seconds. */
const maxTimestamp = 8.64e15;
/** Latest date that clients can parse: they do not support years with more than four digits. */
const maxFormattedDate = '9999-12-31T23:59:59Z';

/**
 * Parses a number of Unix seconds from git into ms, clamped to the range of a date. Returns 0 for text that is no
 * number.
 */
export function parseUnixSeconds(seconds: string): number {
  const ms = Number(seconds) * 1000;
  return Number.isNaN(ms) ? 0 : Math.max(-maxTimestamp, Math.min(maxTimestamp, ms));
}

/** Parses an RFC 3339 date from git into ms since the epoch. Its year may have more than four digits. */
export function parseCommitDate(text: string): number {
  const [, year = '', rest = ''] = /^(\d{5,})(-.*)$/.exec(text) ?? [];
  if (year === '') return Date.parse(text) || 0;
  const ms = Date.parse(`+${year.padStart(6, '0')}${rest}`);
  return Number.isNaN(ms) ? maxTimestamp : ms;
}

/** Formats a date from git so that clients can parse it. */
export function formatCommitDate(text: string): string {
  return /^\d{5,}-/.test(text) ? maxFormattedDate : text;
}
