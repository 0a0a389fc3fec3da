import * as m from '#messages/notify-problems';
import { QuietHours, parseQuietSpans, getQuietEnd, type WallClock } from '../../contracts/quiet-hours.ts';
import type { NotificationType } from '../../contracts/notify/notification.ts';
import { decodePercentEncoding } from '../../contracts/percent-encoding.ts';

/** Delivery rules of a destination, from arguments of its URL that the destination itself does not see. */
export interface DeliveryRules {
  /** Quiet hours such as `22:00-07:00` or `sat sun 23:00-09:00`. Warnings and failures are delivered. */
  readonly quiet: readonly string[];
  /** Maximum number in a time window; further notifications are combined at its end. */
  readonly rate: { readonly count: number; readonly windowMs: number } | undefined;
  /** Notifications are combined at the end of each window of this length. */
  readonly digestMs: number | undefined;
}

/** Time and grouping of a delivery. */
export interface DeliveryPlan {
  /** ms since the epoch; undefined: immediately. */
  readonly runAt: number | undefined;
  /** Window whose notifications are combined; undefined: delivered separately. */
  readonly digest: string | undefined;
  /** Suffix of the order key; notifications in quiet hours must not delay failures. */
  readonly orderSuffix: '' | ':quiet';
}

export const noRules: DeliveryRules = { quiet: [], rate: undefined, digestMs: undefined };
const immediatePlan: DeliveryPlan = { runAt: undefined, digest: undefined, orderSuffix: '' };

const dayMs = 24 * 3_600_000;
const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: dayMs };

/** Parses `90s`, `15m`, `h` or `1d`. Returns undefined for anything else, and outside of one second to one day. */
function parseDuration(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,6})?\s*([smhd])$/i.exec(text.trim()) ?? [];
  const ms = Number(count ?? 1) * (units[unit.toLowerCase()] ?? Number.NaN);
  return ms >= 1000 && ms <= dayMs ? ms : undefined;
}

function decode(text: string): string {
  return decodePercentEncoding(text.replaceAll('+', ' ')) ?? text;
}

function parseRate(text: string): DeliveryRules['rate'] {
  const [, count, window = ''] = /^(\d{1,6})\/(.+)$/.exec(text.trim()) ?? [];
  const windowMs = parseDuration(window);
  return count === undefined || Number(count) < 1 || windowMs === undefined
    ? undefined
    : { count: Number(count), windowMs };
}

/**
 * Extracts `quiet=`, `rate=` and `digest=` from a destination's URL. `written` are the original arguments, for {@link
 * withRules}. Returns a sentence if one of them is invalid.
 */
export function extractRules(
  address: string,
): { readonly url: string; readonly rules: DeliveryRules; readonly written: readonly string[] } | string {
  const queryStart = address.indexOf('?');
  if (queryStart === -1) return { url: address, rules: noRules, written: [] };
  const pairs = address.slice(queryStart + 1).split('&');
  const isRule = (pair: string): boolean => /^(quiet|rate|digest)=/i.test(pair);
  const written = pairs.filter(isRule);
  if (written.length === 0) return { url: address, rules: noRules, written };
  const values = (name: string): readonly string[] =>
    written
      .filter((pair) => pair.toLowerCase().startsWith(`${name}=`))
      .map((pair) => decode(pair.slice(name.length + 1)));
  const quiet = values('quiet').flatMap((value) => value.split(','));
  if (!quiet.every((line) => QuietHours.safeParse(line).success)) return m.quietInvalid();
  const [rateText] = values('rate');
  const rate = rateText === undefined ? undefined : parseRate(rateText);
  if (rateText !== undefined && rate === undefined) return m.rateInvalid();
  const [digestText] = values('digest');
  const digestMs = digestText === undefined ? undefined : parseDuration(digestText);
  if (digestText !== undefined && digestMs === undefined) return m.digestInvalid();
  const otherPairs = pairs.filter((pair) => !isRule(pair)).join('&');
  return {
    url: address.slice(0, queryStart) + (otherPairs === '' ? '' : `?${otherPairs}`),
    rules: { quiet, rate, digestMs },
    written,
  };
}

/** Appends rules to a URL. */
export function withRules(url: string, written: readonly string[]): string {
  return written.length === 0 ? url : `${url}${url.includes('?') ? '&' : '?'}${written.join('&')}`;
}

/** Returns the start of the current rate window. */
export function windowStart(windowMs: number, now: number): number {
  return now - (now % windowMs);
}

/**
 * Plans a delivery. `sent` is the number of deliveries in the current rate window. Permanent quiet hours last a day.
 */
export function planDelivery(
  rules: DeliveryRules,
  type: NotificationType,
  sent: number,
  now: number,
  wallClock: WallClock,
): DeliveryPlan {
  if (rules === noRules) return immediatePlan;
  const isSuppressible = type === 'info' || type === 'success';
  const quietEnd = isSuppressible ? getQuietEnd(parseQuietSpans(rules.quiet), wallClock, now) : undefined;
  const isRateReached = rules.rate !== undefined && sent >= rules.rate.count;
  const windowMs = rules.digestMs ?? (isRateReached ? rules.rate?.windowMs : undefined);
  const windowEnd = windowMs === undefined ? undefined : windowStart(windowMs, now) + windowMs;
  const resumeAt = quietEnd === undefined ? undefined : Math.min(quietEnd, now + dayMs);
  if (windowEnd === undefined && resumeAt === undefined) return immediatePlan;
  const runAt = Math.max(windowEnd ?? 0, resumeAt ?? 0);
  return {
    runAt,
    digest: windowEnd === undefined ? undefined : String(runAt),
    orderSuffix: resumeAt === undefined ? '' : ':quiet',
  };
}
