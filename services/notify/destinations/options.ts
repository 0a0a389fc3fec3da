import * as problems from '#messages/notify-problems';
import { TextFormat } from '../../contracts/notify/notification.ts';
import type { Overflow } from '../domain/fit-message.ts';
import type { DestinationUrl } from './url.ts';

/** Arguments of every URL. */
export interface CommonOptions {
  readonly format: TextFormat;
  readonly overflow: Overflow;
  readonly retry: number;
  readonly wait: number;
  readonly optional: boolean;
  /** Timeout for connecting and responding together, in ms. */
  readonly timeoutMs: number;
  readonly redirect: boolean;
  /** False: accepts every certificate. */
  readonly verify: boolean;
  /** True replaces short codes such as `:rocket:` by emojis; undefined if the URL does not specify it. */
  readonly emojis: boolean | undefined;
  /** Less common arguments that differ from their default, as `name=value`. */
  readonly nonDefault: readonly string[];
}

/** Names of the common arguments, for the catalogue. */
export const commonArguments = [
  ...['format', 'overflow', 'retry', 'wait', 'optional'],
  ...['rto', 'cto', 'redirect', 'verify', 'emojis'],
] as const;

/** Maximum number of seconds to connect and to respond. */
const maxSeconds = { cto: 30, rto: 60 } as const;
/** Maximum of the sum; a job attempt is limited to a minute. */
const maxTimeoutMs = 55_000;

/** Parses a boolean; Apprise accepts any word that begins like yes, true, 1, on or enabled. */
export function isYes(text: string | undefined, fallback: boolean): boolean {
  if (text === undefined || text === '') return fallback;
  return /^(y|t|1|on|e|\+|a)/i.test(text);
}

function parseNumber(text: string | undefined, fallback: number, maximum: number): number {
  const value = Number(text === undefined || text === '' ? fallback : text);
  return Number.isFinite(value) ? Math.min(Math.max(value, 0), maximum) : fallback;
}

/** Parses the common arguments, or returns a sentence about an invalid one. */
export function parseOptions(
  url: DestinationUrl,
  fallback: { readonly format?: TextFormat; readonly overflow?: Overflow; readonly readSeconds?: number } = {},
): CommonOptions | string {
  const { query } = url;
  const format = TextFormat.safeParse(query.get('format')?.toLowerCase() ?? fallback.format ?? 'text');
  if (!format.success) return problems.argumentInvalid({ name: 'format', values: 'text, markdown, html' });
  const overflow = query.get('overflow')?.toLowerCase() ?? fallback.overflow ?? 'upstream';
  if (overflow !== 'upstream' && overflow !== 'truncate' && overflow !== 'split') {
    return problems.argumentInvalid({ name: 'overflow', values: 'upstream, truncate, split' });
  }
  const defaults = { cto: 4, rto: fallback.readSeconds ?? 4 } as const;
  const cto = parseNumber(query.get('cto'), defaults.cto, maxSeconds.cto);
  const rto = parseNumber(query.get('rto'), defaults.rto, maxSeconds.rto);
  const redirect = isYes(query.get('redirect'), true);
  const verify = isYes(query.get('verify'), true);
  const emojis = query.has('emojis') ? isYes(query.get('emojis'), false) : undefined;
  return {
    format: format.data,
    overflow,
    retry: parseNumber(query.get('retry'), 0, 10),
    wait: parseNumber(query.get('wait'), 0.5, 3600),
    optional: isYes(query.get('optional'), false),
    timeoutMs: Math.max(1, Math.min(maxTimeoutMs, Math.round((cto + rto) * 1000))),
    redirect,
    verify,
    emojis,
    nonDefault: [
      ...(cto === defaults.cto ? [] : [`cto=${cto}`]),
      ...(rto === defaults.rto ? [] : [`rto=${rto}`]),
      ...(redirect ? [] : ['redirect=no']),
      ...(verify ? [] : ['verify=no']),
      ...(emojis === undefined ? [] : [`emojis=${emojis ? 'yes' : 'no'}`]),
    ],
  };
}

/** Formats the common arguments as Apprise writes them at the end of a normal form. */
export function writeOptions(options: CommonOptions): string {
  const { format, overflow, retry, wait, optional, nonDefault } = options;
  const usual = [`format=${format}`, `overflow=${overflow}`, `retry=${retry}`, `wait=${wait}`];
  return [...nonDefault, ...usual, `optional=${optional ? 'yes' : 'no'}`].join('&');
}
