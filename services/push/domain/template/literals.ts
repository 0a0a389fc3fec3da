import { encodeRune, toBytes } from './bytes.ts';
import type { NumberLiteral } from './syntax.ts';

const int64Limit = 2n ** 63n;

/** Parses a Go number literal: `5`, `0x1F`, `0b11`, `1_000`, `1e3`; undefined when invalid. */
export function parseNumber(source: string): Pick<NumberLiteral, 'float' | 'integer' | 'isFloat'> | undefined {
  const negative = source.startsWith('-');
  const digits = source.replace(/^[+-]/, '').replaceAll('_', '');
  const isFloat = /^0[xX]/.test(digits) ? false : /[.eE]/.test(digits);
  const float = parseMagnitude(digits);
  if (Number.isNaN(float)) return undefined;
  const exact =
    isFloat || /[.pP]/.test(digits) ? (Number.isInteger(float) ? BigInt(float) : undefined) : parseWhole(digits);
  const integer = exact === undefined ? undefined : negative ? -exact : exact;
  const isInRange = integer !== undefined && integer < int64Limit && integer >= -int64Limit;
  return { float: negative ? -float : float, integer: isInRange ? integer : undefined, isFloat };
}

function parseWhole(size: string): bigint | undefined {
  if (/^0[0-7]+$/.test(size)) return BigInt(`0o${size}`);
  return /^(?:0[xX][\da-fA-F]+|0[oO][0-7]+|0[bB][01]+|0|[1-9]\d*)$/.test(size) ? BigInt(size) : undefined;
}

function parseMagnitude(size: string): number {
  const [, digits = '', fractionDigits = '', power] =
    /^0[xX]([\da-fA-F]*)\.?([\da-fA-F]*)(?:[pP]([+-]?\d+))?$/.exec(size) ?? [];
  if (/^0[xX]/.test(size) && digits + fractionDigits !== '') {
    return parseInt(digits + fractionDigits, 16) * 16 ** -fractionDigits.length * 2 ** Number(power ?? 0);
  }
  const integer = parseWhole(size);
  return integer === undefined ? Number(size) : Number(integer);
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', f: '\f', v: '\v' };
const escapePattern = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{3})|([^]))|[^\\]+/g;

/**
 * Returns the bytes of a quoted literal, or the code point of a literal in single quotes. Undefined for an invalid
 * escape.
 */
export function parseQuoted(source: string): string | number | undefined {
  const content = source.slice(1, -1);
  // Go drops carriage returns in raw strings.
  if (source.startsWith('`')) return toBytes(content.replaceAll('\r', ''));
  if (source.startsWith("'") && !content.startsWith('\\')) return content.codePointAt(0) ?? 0;
  let bytes = '';
  let rune = 0;
  for (const [all, hex, short, long, octal, letter] of content.matchAll(escapePattern)) {
    if (!all.startsWith('\\')) {
      bytes += toBytes(all);
      continue;
    }
    if (letter !== undefined && letter !== '\\' && letter !== source.charAt(0) && !Object.hasOwn(escapes, letter)) {
      return undefined;
    }
    const byte = hex === undefined ? octal && parseInt(octal, 8) : parseInt(hex, 16);
    const point = short ?? long;
    rune =
      byte || (point === undefined ? (escapes[letter ?? ''] ?? letter ?? '\0').charCodeAt(0) : parseInt(point, 16));
    bytes += typeof byte === 'number' ? String.fromCharCode(byte & 0xff) : encodeRune(rune);
  }
  return source.startsWith("'") ? rune : bytes;
}
