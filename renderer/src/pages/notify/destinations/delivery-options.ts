import * as m from '#messages/notify';
import type { DeliveryArguments } from '../../../../../services/contracts/notify/delivery.ts';
import { formatSpan } from '../../../parts/text/time-spans.ts';

type FormatCount = (values: { readonly count: number }) => string;

/** Formats of the time after "in", by the unit. */
const spanFormats: Readonly<Record<string, FormatCount>> = {
  s: m.spanSeconds,
  m: m.spanMinutes,
  h: m.spanHours,
  d: m.spanDays,
};
/** Formats of a repeated time, by the unit: `every hour`. */
const intervalFormats: Readonly<Record<string, FormatCount>> = {
  s: m.everySeconds,
  m: m.everyMinutes,
  h: m.everyHours,
  d: m.everyDays,
};

/** Formats a number and a unit; undefined for other texts. */
function formatWith(formats: typeof spanFormats, text: string): string | undefined {
  const [, count = '', unit = ''] = /^(\d*)\s*([smhd])$/i.exec(text.trim()) ?? [];
  return formats[unit.toLowerCase()]?.({ count: count === '' ? 1 : Number(count) });
}

/** Formats a time span of an address: `15m` is `15 minutes`, `h` and `1h` are `an hour`. */
function formatTimeSpan(text: string): string {
  return formatWith(spanFormats, text) ?? text;
}

const windows = ['1m', '5m', '15m', '1h', '6h', '1d'];
const digests = ['5m', '15m', '30m', '1h', '6h', '12h', '1d'];

function withCurrent(list: readonly string[], value: string): readonly string[] {
  return value === '' || list.includes(value) ? list : [...list, value];
}

/** Returns the options for the time span of a rate limit, including the current one. */
export function getWindowOptions(value: string): readonly (readonly [string, string])[] {
  return withCurrent(windows, value).map((each) => [each, m.inSpan({ span: formatTimeSpan(each) })]);
}

/** Returns the options for the interval of summaries, including the current one. */
export function getDigestOptions(value: string): readonly (readonly [string, string])[] {
  return [
    ['', m.eachAsItComes()],
    ...withCurrent(digests, value).map((each) => [each, m.togetherOption({ interval: formatInterval(each) })] as const),
  ];
}

/** Parses the parts of `10/1h`; no limit has an empty count. */
export function parseRate(rate: string): { readonly count: string; readonly window: string } {
  const [count = '', window = ''] = rate.split('/');
  return window === '' ? { count: '', window: '1h' } : { count: count.trim(), window: window.trim() };
}

export function stringifyRate({ count, window }: { readonly count: string; readonly window: string }): string {
  return count.trim() === '' ? '' : `${count.trim()}/${window}`;
}

/** Parses the lines of quiet hours. */
export function parseQuietHours(quiet: string): readonly string[] {
  return quiet
    .split(',')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Formats the options of a destination that differ from the default. */
export function formatDeliveryOptions(delivery: DeliveryArguments): readonly string[] {
  const { quiet = '', rate = '', digest = '', retry = '', optional = '', verify = '' } = delivery;
  const { count, window } = parseRate(rate);
  const hours = parseQuietHours(quiet).map(formatSpan).join('; ');
  return [
    ...(hours === '' ? [] : [m.quietHours({ hours })]),
    ...(count === '' ? [] : [m.atMostInSpan({ count, span: formatTimeSpan(window) })]),
    ...(digest === '' ? [] : [m.together({ interval: formatInterval(digest) })]),
    ...(retry === '' || retry === '0' ? [] : [m.moreTries({ count: Number(retry) })]),
    ...(isYes(optional) ? [m.mayFail()] : []),
    ...(verify === '' || isYes(verify) ? [] : [m.anyCertificate()]),
  ];
}

function formatInterval(span: string): string {
  return formatWith(intervalFormats, span) ?? m.everyOther({ span });
}

/** True for the texts that Apprise accepts as yes. */
export function isYes(text: string): boolean {
  return /^(y|t|1|on|e|\+|a)/i.test(text);
}

/** Returns the changed options of a draft, so that other parts of an address stay as they were typed. */
export function getChanges(draft: DeliveryArguments, before: DeliveryArguments): DeliveryArguments {
  const names = Object.keys(draft) as (keyof DeliveryArguments)[];
  return Object.fromEntries(
    names.filter((name) => (draft[name] ?? '') !== (before[name] ?? '')).map((name) => [name, draft[name]]),
  );
}

/** Removes the arguments of an address; the rest identifies the destination. */
export function stripArguments(url: string): string {
  return url.split('?', 1)[0] ?? url;
}
