import { TextFormat } from '../../contracts/notice.ts';
import type { Overflow } from '../domain/fit.ts';
import type { DestinationUrl } from './url.ts';

/** Arguments every URL may carry. */
export interface CommonOptions {
  readonly format: TextFormat;
  readonly overflow: Overflow;
  readonly retry: number;
  readonly wait: number;
  readonly optional: boolean;
  /** Of a whole exchange, in ms. */
  readonly timeoutMs: number;
  readonly redirect: boolean;
}

/** Names of the common arguments, for the catalogue. */
export const commonArguments = ['format', 'overflow', 'retry', 'wait', 'optional', 'rto', 'cto', 'redirect'] as const;

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
  if (!isYes(query.get('verify'), true)) return 'verify=no is not served: certificates are always checked';
  const seconds = number(query.get('cto'), 4, 30) + number(query.get('rto'), otherwise.readSeconds ?? 4, 60);
  return {
    format: format.data,
    overflow,
    retry: number(query.get('retry'), 0, 10),
    wait: number(query.get('wait'), 0.5, 3600),
    optional: isYes(query.get('optional'), false),
    timeoutMs: Math.max(1, Math.round(seconds * 1000)),
    redirect: isYes(query.get('redirect'), true),
  };
}

/** The common arguments as the peer writes them at the end of a normal form. */
export function writeOptions(options: CommonOptions): string {
  const { format, overflow, retry, wait, optional } = options;
  return `format=${format}&overflow=${overflow}&retry=${retry}&wait=${wait}&optional=${optional ? 'yes' : 'no'}`;
}
