import { QuietHours, parseQuietSpans, getQuietEnd, type WallClock } from '../../contracts/quiet-hours.ts';
import type { NotificationType } from '../../contracts/notify/notification.ts';

/** What the owner of a destination asks of its deliveries, as arguments of its URL that the destination itself never sees. */
export interface Rules {
  /** Lines of quiet hours: `22:00-07:00`, `sat sun 23:00-09:00`. Warnings and failures pass. */
  readonly quiet: readonly string[];
  /** At most so many in a window of this length; what is more comes together at its end. */
  readonly rate: { readonly count: number; readonly windowMs: number } | undefined;
  /** Notices come together at the end of each window of this length. */
  readonly digestMs: number | undefined;
}

/** When a delivery is made. */
export interface Plan {
  /** ms since the epoch; undefined: at once. */
  readonly runAt: number | undefined;
  /** The window whose notices come together; undefined: it comes alone. */
  readonly digest: string | undefined;
  /** Behind which others it waits: quiet ones must not hold back a failure. */
  readonly orderSuffix: '' | ':quiet';
}

export const noRules: Rules = { quiet: [], rate: undefined, digestMs: undefined };
const atOnce: Plan = { runAt: undefined, digest: undefined, orderSuffix: '' };

const dayMs = 24 * 3_600_000;
const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: dayMs };

/** `90s`, `15m`, `h`, `1d`; undefined for anything else, and for more than a day or less than a second. */
function duration(text: string): number | undefined {
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

function parseRate(text: string): Rules['rate'] {
  const [, count, window = ''] = /^(\d{1,6})\/(.+)$/.exec(text.trim()) ?? [];
  const windowMs = duration(window);
  return count === undefined || Number(count) < 1 || windowMs === undefined
    ? undefined
    : { count: Number(count), windowMs };
}

/**
 * Takes `quiet=`, `rate=` and `digest=` out of a destination's URL. `written` are they as they stood, to be put back with
 * {@link withRules}. A sentence where one of them is wrong.
 */
export function takeRules(
  address: string,
): { readonly url: string; readonly rules: Rules; readonly written: readonly string[] } | string {
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
  const [rated] = values('rate');
  const rate = rated === undefined ? undefined : parseRate(rated);
  if (rated !== undefined && rate === undefined) return 'rate must be a number and a time, such as 10/1h';
  const [digested] = values('digest');
  const digestMs = digested === undefined ? undefined : duration(digested);
  if (digested !== undefined && digestMs === undefined) return 'digest must be a time of at most a day, such as 15m';
  const kept = pairs.filter((pair) => !isRule(pair)).join('&');
  return { url: address.slice(0, at) + (kept === '' ? '' : `?${kept}`), rules: { quiet, rate, digestMs }, written };
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
export function planDelivery(rules: Rules, type: NotificationType, sent: number, now: number, wall: WallClock): Plan {
  if (rules === noRules) return atOnce;
  const calm = type === 'info' || type === 'success';
  const quiet = calm ? getQuietEnd(parseQuietSpans(rules.quiet), wall, now) : undefined;
  const full = rules.rate !== undefined && sent >= rules.rate.count;
  const windowMs = rules.digestMs ?? (full ? rules.rate?.windowMs : undefined);
  const end = windowMs === undefined ? undefined : windowStart(windowMs, now) + windowMs;
  const wake = quiet === undefined ? undefined : Math.min(quiet, now + dayMs);
  if (end === undefined && wake === undefined) return atOnce;
  const runAt = Math.max(end ?? 0, wake ?? 0);
  return {
    runAt,
    digest: end === undefined ? undefined : String(runAt),
    orderSuffix: wake === undefined ? '' : ':quiet',
  };
}
