import type { DeliveryArguments } from '../../../../services/contracts/notify/delivery.ts';
import { formatSpan } from '../../parts/text/time-spans.ts';

const words: Readonly<Record<string, readonly [one: string, many: string]>> = {
  s: ['a second', 'seconds'],
  m: ['a minute', 'minutes'],
  h: ['an hour', 'hours'],
  d: ['a day', 'days'],
};

/** A length of time as an address has it, in words: `15m` is `15 minutes`, `h` and `1h` are `an hour`. */
function spanOf(text: string): string {
  const [, count = '', unit = ''] = /^(\d*)\s*([smhd])$/i.exec(text.trim()) ?? [];
  const [one, many] = words[unit.toLowerCase()] ?? [text, text];
  return count === '' || count === '1' ? one : `${count} ${many}`;
}

const windows = ['1m', '5m', '15m', '1h', '6h', '1d'];
const digests = ['5m', '15m', '30m', '1h', '6h', '12h', '1d'];

function known(list: readonly string[], value: string): readonly string[] {
  return value === '' || list.includes(value) ? list : [...list, value];
}

/** Choices of what a limit counts within, and what is there already. */
export function windowChoices(value: string): readonly (readonly [string, string])[] {
  return known(windows, value).map((each) => [each, `in ${spanOf(each)}`]);
}

/** Choices of how often what came is summed up. */
export function digestChoices(value: string): readonly (readonly [string, string])[] {
  return [
    ['', 'Each as it comes'],
    ...known(digests, value).map((each) => [each, `Together, ${everyWords(each)}`] as const),
  ];
}

/** The two halves of `10/1h`; no limit is an empty count. */
export function readRate(rate: string): { readonly count: string; readonly window: string } {
  const [count = '', window = ''] = rate.split('/');
  return window === '' ? { count: '', window: '1h' } : { count: count.trim(), window: window.trim() };
}

export function writeRate({ count, window }: { readonly count: string; readonly window: string }): string {
  return count.trim() === '' ? '' : `${count.trim()}/${window}`;
}

/** Lines of quiet hours. */
export function readQuiet(quiet: string): readonly string[] {
  return quiet
    .split(',')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** How a destination is told, each as a few words; nothing for what is as usual. */
export function deliveryWords(delivery: DeliveryArguments): readonly string[] {
  const { quiet = '', rate = '', digest = '', retry = '', optional = '', verify = '' } = delivery;
  const { count, window } = readRate(rate);
  const hours = readQuiet(quiet).map(formatSpan).join('; ');
  return [
    ...(hours === '' ? [] : [`Quiet: ${hours}`]),
    ...(count === '' ? [] : [`at most ${count} in ${spanOf(window)}`]),
    ...(digest === '' ? [] : [`together ${everyWords(digest)}`]),
    ...(retry === '' || retry === '0' ? [] : [`${retry} more ${retry === '1' ? 'try' : 'tries'} at once`]),
    ...(isYes(optional) ? ['may fail'] : []),
    ...(verify === '' || isYes(verify) ? [] : ['any certificate']),
  ];
}

function everyWords(span: string): string {
  return `every ${spanOf(span).replace(/^an? /, '')}`;
}

/** The words the aggregator takes for yes. */
export function isYes(text: string): boolean {
  return /^(y|t|1|on|e|\+|a)/i.test(text);
}

/** What of a draft is new, so that the rest of an address stays as it was typed. */
export function changesOf(draft: DeliveryArguments, before: DeliveryArguments): DeliveryArguments {
  const names = Object.keys(draft) as (keyof DeliveryArguments)[];
  return Object.fromEntries(
    names.filter((name) => (draft[name] ?? '') !== (before[name] ?? '')).map((name) => [name, draft[name]]),
  );
}

/** An address without its arguments: enough to tell one destination from another. */
export function placeOf(url: string): string {
  return url.split('?', 1)[0] ?? url;
}
