import { QuietHours, parseQuietSpans, getQuietEnd, type WallClock } from '../../contracts/quiet-hours.ts';
import type { NotificationType } from '../../contracts/notify/notification.ts';

/** What the owner of a destination asks of its deliveries, as arguments of its URL that the destination itself never sees. */
export interface DeliveryRules {
  /** Lines of quiet hours: `22:00-07:00`, `sat sun 23:00-09:00`. Warnings and failures pass. */
  readonly quiet: readonly string[];
  /** At most so many in a window of this length; what is more comes together at its end. */
  readonly rate: { readonly count: number; readonly windowMs: number } | undefined;
  /** Notices come together at the end of each window of this length. */
  readonly digestMs: number | undefined;
}

/** When a delivery is made. */
export interface DeliveryPlan {
  /** ms since the epoch; undefined: at once. */
  readonly runAt: number | undefined;
  /** The window whose notices come together; undefined: it comes alone. */
  readonly digest: string | undefined;
  /** Behind which others it waits: quiet ones must not hold back a failure. */
  readonly orderSuffix: '' | ':quiet';
}

export const noRules: DeliveryRules = { quiet: [], rate: undefined, digestMs: undefined };
const immediatePlan: DeliveryPlan = { runAt: undefined, digest: undefined, orderSuffix: '' };

const dayMs = 24 * 3_600_000;
const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: dayMs };

/** `90s`, `15m`, `h`, `1d`; undefined for anything else, and for more than a day or less than a second. */
function parseDuration(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,6})?\s*([smhd])$/i.exec(text.trim()) ?? [];
  const ms = Number(count ?? 1) * (units[unit.toLowerCase()] ?? Number.NaN);
  return ms >= 1000 && ms <= dayMs ? ms : undefined;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}

function parseRate(text: string): DeliveryRules['rate'] {
  const [, count, window = ''] = /^(\d{1,6})\/(.+)$/.exec(text.trim()) ?? [];
  const windowMs = parseDuration(window);
  return count === undefined || Number(count) < 1 || windowMs === undefined
    ? undefined
    : { count: Number(count), windowMs };
}

/**
 * Takes `quiet=`, `rate=` and `digest=` out of a destination's URL. `written` are they as they stood, to be put back with
 * {@link withRules}. A sentence where one of them is wrong.
 */
export function extractRules(
  address: string,
): { readonly url: string; readonly rules: DeliveryRules; readonly written: readonly string[] } | string {
  const at = address.indexOf('?');
  if (at === -1) return { url: address, rules: noRules, written: [] };
  const pairs = address.slice(at + 1).split('&');
  const isRule = (pair: string): boolean => /^(quiet|rate|digest)=/i.test(pair);
  const written = pairs.filter(isRule);
  if (written.length === 0) return { url: address, rules: noRules, written };
  const values = (name: string): readonly string[] =>
    written
      .filter((pair) => pair.toLowerCase().startsWith(`${name}=`))
      .map((pair) => decode(pair.slice(name.length + 1)));
  const quiet = values('quiet').flatMap((value) => value.split(','));
  if (!quiet.every((line) => QuietHours.safeParse(line).success)) return 'quiet must be hours such as 22:00-07:00';
  const [rateText] = values('rate');
  const rate = rateText === undefined ? undefined : parseRate(rateText);
  if (rateText !== undefined && rate === undefined) return 'rate must be a number and a time, such as 10/1h';
  const [digestText] = values('digest');
  const digestMs = digestText === undefined ? undefined : parseDuration(digestText);
  if (digestText !== undefined && digestMs === undefined) return 'digest must be a time of at most a day, such as 15m';
  const otherPairs = pairs.filter((pair) => !isRule(pair)).join('&');
  return {
    url: address.slice(0, at) + (otherPairs === '' ? '' : `?${otherPairs}`),
    rules: { quiet, rate, digestMs },
    written,
  };
}

/** A URL with its rules put back. */
export function withRules(url: string, written: readonly string[]): string {
  return written.length === 0 ? url : `${url}${url.includes('?') ? '&' : '?'}${written.join('&')}`;
}

/** The beginning of the window a moment lies in: what is sent since then counts against the rate. */
export function windowStart(windowMs: number, now: number): number {
  return now - (now % windowMs);
}

/**
 * When a delivery is made. `sent` is how many went to the destination in the present window of its rate. Quiet that never
 * ends lasts a day.
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
