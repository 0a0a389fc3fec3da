import { bytesOfRune, toBytes } from './bytes.ts';
import type { NumberLiteral } from './syntax.ts';

const largest = 2n ** 63n;

/** A number as Go writes it: `5`, `0x1F`, `0b11`, `1_000`, `1e3`; undefined when it is none. */
export function readNumber(source: string): Pick<NumberLiteral, 'float' | 'integer' | 'isFloat'> | undefined {
  const negative = source.startsWith('-');
  const size = source.replace(/^[+-]/, '').replaceAll('_', '');
  const isFloat = /^0[xX]/.test(size) ? false : /[.eE]/.test(size);
  const float = magnitude(size);
  if (Number.isNaN(float)) return undefined;
  const exact = isFloat || /[.pP]/.test(size) ? (Number.isInteger(float) ? BigInt(float) : undefined) : wholeOf(size);
  const integer = exact === undefined ? undefined : negative ? -exact : exact;
  const fits = integer !== undefined && integer < largest && integer >= -largest;
  return { float: negative ? -float : float, integer: fits ? integer : undefined, isFloat };
}

function wholeOf(size: string): bigint | undefined {
  if (/^0[0-7]+$/.test(size)) return BigInt(`0o${size}`);
  return /^(?:0[xX][\da-fA-F]+|0[oO][0-7]+|0[bB][01]+|0|[1-9]\d*)$/.test(size) ? BigInt(size) : undefined;
}

function magnitude(size: string): number {
  const [, digits = '', behind = '', power] =
    /^0[xX]([\da-fA-F]*)\.?([\da-fA-F]*)(?:[pP]([+-]?\d+))?$/.exec(size) ?? [];
  if (/^0[xX]/.test(size) && digits + behind !== '') {
    return parseInt(digits + behind, 16) * 16 ** -behind.length * 2 ** Number(power ?? 0);
  }
  const whole = wholeOf(size);
  return whole === undefined ? Number(size) : Number(whole);
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', f: '\f', v: '\v' };
const escape = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{3})|([^]))|[^\\]+/g;

/** The bytes that a quoted text stands for; a character in single quotes is its code point. Undefined for an escape that is none. */
export function readQuoted(source: string): string | number | undefined {
  const inside = source.slice(1, -1);
  // Carriage returns are left out of what stands between back quotes.
  if (source.startsWith('`')) return toBytes(inside.replaceAll('\r', ''));
  if (source.startsWith("'") && !inside.startsWith('\\')) return inside.codePointAt(0) ?? 0;
  let bytes = '';
  let rune = 0;
  for (const [all, hex, short, long, octal, letter] of inside.matchAll(escape)) {
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
    bytes += typeof byte === 'number' ? String.fromCharCode(byte & 0xff) : bytesOfRune(rune);
  }
  return source.startsWith("'") ? rune : bytes;
}
