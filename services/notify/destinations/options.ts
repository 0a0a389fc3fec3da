import { TextFormat } from '../../contracts/notify/notification.ts';
import type { Overflow } from '../domain/fit-message.ts';
import type { DestinationUrl } from './url.ts';

/** Arguments every URL may carry. */
export interface CommonOptions {
  readonly format: TextFormat;
  readonly overflow: Overflow;
  readonly retry: number;
  readonly wait: number;
  readonly optional: boolean;
  /** Of a whole exchange, in ms: the time to connect and the time to answer. */
  readonly timeoutMs: number;
  readonly redirect: boolean;
  /** False: any certificate will do. */
  readonly verify: boolean;
  /** Whether `:rocket:` becomes a picture; undefined where the URL does not say. */
  readonly emojis: boolean | undefined;
  /** Those that few URLs have, `name=value`, where they say something else than is usual. */
  readonly unusual: readonly string[];
}

/** Names of the common arguments, for the catalogue. */
export const commonArguments = [
  ...['format', 'overflow', 'retry', 'wait', 'optional'],
  ...['rto', 'cto', 'redirect', 'verify', 'emojis'],
] as const;

/** Seconds to connect and to answer, at most. */
const longest = { cto: 30, rto: 60 } as const;
/** Both together: an attempt of the outbox has a minute. */
const mostMs = 55_000;

/** The peer takes any word that begins like yes, true, 1, on or enabled. */
export function isYes(text: string | undefined, otherwise: boolean): boolean {
  if (text === undefined || text === '') return otherwise;
  return /^(y|t|1|on|e|\+|a)/i.test(text);
}

function number(text: string | undefined, otherwise: number, most: number): number {
  const value = Number(text === undefined || text === '' ? otherwise : text);
  return Number.isFinite(value) ? Math.min(Math.max(value, 0), most) : otherwise;
}

/** Reads the common arguments, or says which one cannot be honoured. */
export function parseOptions(
  url: DestinationUrl,
  otherwise: { readonly format?: TextFormat; readonly overflow?: Overflow; readonly readSeconds?: number } = {},
): CommonOptions | string {
  const { query } = url;
  const format = TextFormat.safeParse(query.get('format')?.toLowerCase() ?? otherwise.format ?? 'text');
  if (!format.success) return 'format must be text, markdown or html';
  const overflow = query.get('overflow')?.toLowerCase() ?? otherwise.overflow ?? 'upstream';
  if (overflow !== 'upstream' && overflow !== 'truncate' && overflow !== 'split') {
    return 'overflow must be upstream, truncate or split';
  }
  const usual = { cto: 4, rto: otherwise.readSeconds ?? 4 } as const;
  const cto = number(query.get('cto'), usual.cto, longest.cto);
  const rto = number(query.get('rto'), usual.rto, longest.rto);
  const redirect = isYes(query.get('redirect'), true);
  const verify = isYes(query.get('verify'), true);
  const emojis = query.has('emojis') ? isYes(query.get('emojis'), false) : undefined;
  return {
    format: format.data,
    overflow,
    retry: number(query.get('retry'), 0, 10),
    wait: number(query.get('wait'), 0.5, 3600),
    optional: isYes(query.get('optional'), false),
    timeoutMs: Math.max(1, Math.min(mostMs, Math.round((cto + rto) * 1000))),
    redirect,
    verify,
    emojis,
    unusual: [
      ...(cto === usual.cto ? [] : [`cto=${cto}`]),
      ...(rto === usual.rto ? [] : [`rto=${rto}`]),
      ...(redirect ? [] : ['redirect=no']),
      ...(verify ? [] : ['verify=no']),
      ...(emojis === undefined ? [] : [`emojis=${emojis ? 'yes' : 'no'}`]),
    ],
  };
}

/** The common arguments as the peer writes them at the end of a normal form. */
export function writeOptions(options: CommonOptions): string {
  const { format, overflow, retry, wait, optional, unusual } = options;
  const usual = [`format=${format}`, `overflow=${overflow}`, `retry=${retry}`, `wait=${wait}`];
  return [...unusual, ...usual, `optional=${optional ? 'yes' : 'no'}`].join('&');
}
