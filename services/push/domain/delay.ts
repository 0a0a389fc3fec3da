import { parseDuration } from './duration.ts';
import { parseNaturalTime } from './natural-time.ts';
import { refuse } from './refusals.ts';

/** Minimum delay of a message in seconds. */
const minDelaySeconds = 10;

const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const naturalDuration = /^(\d{1,9})\s*(d|days?|h|hours?|m|mins?|minutes?|s|secs?|seconds?)$/i;

/** Parses a Go duration or a number with a unit (`30 min`, `2 days`) into ms. */
export function parseNaturalDuration(text: string): number | undefined {
  const [, count, unit = ''] = naturalDuration.exec(text) ?? [];
  if (count === undefined) return parseDuration(text);
  return Number(count) * (units[unit.slice(0, 1).toLowerCase()] ?? Number.NaN);
}

/**
 * Parses the delivery time of a delayed message into unix seconds: a future unix time, a duration, or natural language
 * such as `tomorrow, 10am` in the server's time zone. `now` is in ms, `maxDelaySeconds` in seconds.
 *
 * @throws Problem 40004, 40005, 40006
 */
export function parseDelay(text: string, now: number, maxDelaySeconds: number): number {
  const due = parseMoment(text.trim(), now);
  if (due === undefined || !Number.isFinite(due)) throw refuse('delay_invalid');
  const seconds = Math.floor(due / 1000);
  const nowSeconds = Math.floor(now / 1000);
  if (seconds < nowSeconds + minDelaySeconds) throw refuse('delay_too_small');
  if (seconds > nowSeconds + maxDelaySeconds) throw refuse('delay_too_large');
  return seconds;
}

function parseMoment(text: string, now: number): number | undefined {
  if (/^\d{1,15}$/.test(text)) return Number(text) * 1000 > now ? Number(text) * 1000 : undefined;
  const duration = parseNaturalDuration(text.replace(/^(?:in|after)\s+/i, ''));
  return duration === undefined ? parseNaturalTime(text, now) : now + duration;
}
