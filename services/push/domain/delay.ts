import { parseDuration } from './duration.ts';
import { parseWordedTime } from './natural-time.ts';
import { refuse } from './refusals.ts';

/** Seconds: sooner than this, a message need not wait. */
const least = 10;

const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const wordedDuration = /^(\d{1,9})\s*(d|days?|h|hours?|m|mins?|minutes?|s|secs?|seconds?)$/i;

/** A duration as Go writes it, or one number with a unit in a word (`30 min`, `2 days`), in ms. */
export function parseWordedDuration(text: string): number | undefined {
  const [, count, unit = ''] = wordedDuration.exec(text) ?? [];
  if (count === undefined) return parseDuration(text);
  return Number(count) * (units[unit.slice(0, 1).toLowerCase()] ?? Number.NaN);
}

/**
 * When a message is to be delivered, in unix seconds: a unix time to come, a duration, or words such as `tomorrow, 10am`
 * in the server's time zone. `now` in ms, `most` in seconds from now.
 *
 * @throws Problem 40004, 40005, 40006
 */
export function parseDelay(text: string, now: number, most: number): number {
  const due = readMoment(text.trim(), now);
  if (due === undefined || !Number.isFinite(due)) throw refuse('delay_invalid');
  const seconds = Math.floor(due / 1000);
  const from = Math.floor(now / 1000);
  if (seconds < from + least) throw refuse('delay_too_small');
  if (seconds > from + most) throw refuse('delay_too_large');
  return seconds;
}

function readMoment(text: string, now: number): number | undefined {
  if (/^\d{1,15}$/.test(text)) return Number(text) * 1000 > now ? Number(text) * 1000 : undefined;
  const duration = parseWordedDuration(text.replace(/^(?:in|after)\s+/i, ''));
  return duration === undefined ? parseWordedTime(text, now) : now + duration;
}
