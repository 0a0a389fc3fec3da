import { encodeRune, countRunes, iterateRunes, toBytes } from '../bytes.ts';
import type { TemplateRun } from '../run.ts';
import { days, formatMoment, months } from '../time/layout.ts';
import { Moment } from '../time/moment.ts';
import { formatGoDuration } from '../time/duration.ts';
import { Dict, Integer, List, getType, type Value } from '../values.ts';
import { formatFloat } from './float.ts';
import { canUseBackQuotes, quote, quoteRune } from './quote.ts';

/** Flags of a format verb. */
export interface Flags {
  readonly minus?: boolean;
  readonly plus?: boolean;
  readonly sharp?: boolean;
  /** Go syntax (`%#v`). */
  readonly goSyntax?: boolean;
  readonly space?: boolean;
  readonly zero?: boolean;
  readonly width?: number | undefined;
  readonly precision?: number | undefined;
}

/** Returns the result of Go's String method, for values that have one. */
export function callString(value: Value): string | undefined {
  if (value instanceof Moment) return formatMoment(value, '2006-01-02 15:04:05.999999999 -0700 MST');
  if (!(value instanceof Integer)) return undefined;
  if (value.type === 'time.Duration') return toBytes(formatGoDuration(value.value));
  if (value.type === 'time.Month') return months[Number(value.value) - 1] ?? `%!Month(${String(value.value)})`;
  if (value.type === 'time.Weekday') return days[Number(value.value)] ?? `%!Weekday(${String(value.value)})`;
  return undefined;
}

/** Formats values like Go's fmt. */
export class Formatter {
  readonly #run: TemplateRun;

  constructor(run: TemplateRun) {
    this.#run = run;
  }

  /** Formats a value with a verb. */
  write(value: Value, verb: string, flags: Flags = {}): string {
    // With %v, plus prints field names, which no value here has.
    const effectiveFlags =
      verb === 'v' ? { ...flags, plus: false, sharp: false, goSyntax: flags.sharp === true } : flags;
    return this.#checkLimits(this.#value(value, verb, effectiveFlags, 0));
  }

  #value(value: Value, verb: string, flags: Flags, depth: number): string {
    this.#run.step();
    if (verb === 'T') return this.#text(getType(value), 's', flags);
    if (value === undefined || value === null) return this.#nil(verb, flags, depth);
    const { goSyntax = false } = flags;
    if (goSyntax && value instanceof Moment) return goDate(value);
    const text = goSyntax || !/[vsxXq]/.test(verb) ? undefined : callString(value);
    if (text !== undefined) return this.#text(text, verb, flags);
    if (typeof value === 'boolean')
      return /[tv]/.test(verb) ? pad(String(value), flags) : this.#formatMismatch(value, verb, flags);
    if (typeof value === 'number') return this.#float(value, verb, flags);
    if (typeof value === 'string') return this.#text(value, verb, flags);
    if (value instanceof Integer) return this.#integer(value, verb, flags);
    if (value instanceof List) return this.#list(value, verb, flags, depth);
    if (value instanceof Dict) return this.#dict(value, verb, flags, depth);
    return this.#formatMismatch(value, verb, flags);
  }

  #nil(verb: string, flags: Flags, depth: number): string {
    if (depth > 0) return flags.goSyntax ? 'interface {}(nil)' : '<nil>';
    return verb === 'v' ? pad('<nil>', flags) : `%!${verb}(<nil>)`;
  }

  /** The flags also apply to the replacement. */
  #formatMismatch(value: Value, verb: string, flags: Flags): string {
    return `%!${verb}(${getType(value)}=${this.#value(value, 'v', flags, 0)})`;
  }

  #list({ items, element, isNil }: List, verb: string, flags: Flags, depth: number): string {
    const { goSyntax = false } = flags;
    if (goSyntax && isNil) return `[]${element}(nil)`;
    const parts = items.map((item) => this.#checkLimits(this.#value(item, verb, flags, depth + 1)));
    return goSyntax ? `[]${element}{${parts.join(', ')}}` : `[${parts.join(' ')}]`;
  }

  #dict(dict: Dict, verb: string, flags: Flags, depth: number): string {
    const { goSyntax = false } = flags;
    if (goSyntax && dict.isNil) return `map[string]${dict.element}(nil)`;
    const parts = dict.names().map((name) => {
      const key = this.#value(name, verb, flags, depth + 1);
      return this.#checkLimits(`${key}:${this.#value(dict.entries.get(name), verb, flags, depth + 1)}`);
    });
    return goSyntax ? `map[string]${dict.element}{${parts.join(', ')}}` : `map[${parts.join(' ')}]`;
  }

  #text(bytes: string, verb: string, flags: Flags): string {
    const truncated = flags.precision === undefined ? bytes : takeRunes(bytes, flags.precision);
    switch (verb) {
      case 'v':
        return pad(flags.goSyntax ? quote(bytes) : truncated, flags);
      case 's':
        return pad(truncated, flags);
      case 'q':
        return pad(
          flags.sharp && canUseBackQuotes(truncated)
            ? `\`${truncated}\``
            : quote(truncated, { ascii: flags.plus === true }),
          flags,
        );
      case 'x':
      case 'X':
        return pad(
          formatHex(flags.precision === undefined ? bytes : bytes.slice(0, flags.precision), verb, flags),
          flags,
        );
      default:
        return this.#formatMismatch(bytes, verb, flags);
    }
  }

  #integer(integer: Integer, verb: string, flags: Flags): string {
    const { value } = integer;
    const base = { v: 10, d: 10, b: 2, o: 8, O: 8, x: 16, X: 16 }[verb];
    if (base !== undefined) return formatInteger(value, base, verb, flags);
    if (verb === 'c') return pad(encodeRune(value > 0x10ffffn ? 0xfffd : Number(value)), flags);
    if (verb === 'q') return pad(quoteRune(value, flags.plus === true), flags);
    if (verb === 'U') return pad(`U+${BigInt.asUintN(64, value).toString(16).toUpperCase().padStart(4, '0')}`, flags);
    return this.#formatMismatch(integer, verb, flags);
  }

  #float(value: number, verb: string, flags: Flags): string {
    const kind = { v: 'g', g: 'g', G: 'g', e: 'e', E: 'e', f: 'f', F: 'f' }[verb] as 'e' | 'f' | 'g' | undefined;
    if (kind === undefined) return this.#formatMismatch(value, verb, flags);
    const precision = flags.precision ?? (kind === 'g' ? undefined : 6);
    this.#run.checkLength(precision ?? 0);
    const signed = formatFloat(value, kind, precision);
    const text =
      verb === 'E' || verb === 'G' ? signed.toUpperCase().replace('INF', 'Inf').replace('NAN', 'NaN') : signed;
    const isNumber = Number.isFinite(value);
    const sign = text.startsWith('-') ? '-' : flags.plus ? '+' : flags.space ? ' ' : '';
    const size = text.slice(1);
    if (!flags.zero || flags.minus || !isNumber) return pad(sign + size, { ...flags, zero: false });
    return sign + pad(size, { ...flags, width: (flags.width ?? 0) - sign.length });
  }

  #checkLimits(text: string): string {
    this.#run.checkLength(text.length);
    this.#run.step(Math.ceil(text.length / 256));
    return text;
  }
}

function goDate(moment: Moment): string {
  const { year, month, day, hour, minute, second, nanosecond } = moment.civil();
  const { name } = moment.zone;
  const zone = name === 'UTC' || name === 'Local' ? `time.${name}` : `time.Location(${quote(toBytes(name))})`;
  const numbers = [day, hour, minute, second, nanosecond].join(', ');
  return `time.Date(${String(year)}, time.${months[month - 1] ?? ''}, ${numbers}, ${zone})`;
}

function takeRunes(bytes: string, count: number): string {
  let used = 0;
  for (const { index } of iterateRunes(bytes)) {
    if (used === count) return bytes.slice(0, index);
    used += 1;
  }
  return bytes;
}

function formatHex(bytes: string, verb: 'x' | 'X', { space, sharp }: Flags): string {
  const pairs = [...bytes].map((byte) => byte.charCodeAt(0).toString(16).padStart(2, '0'));
  const prefix = sharp ? '0x' : '';
  const text = space ? pairs.map((pair) => prefix + pair).join(' ') : (pairs.length > 0 ? prefix : '') + pairs.join('');
  return verb === 'X' ? text.toUpperCase() : text;
}

function formatInteger(value: bigint, base: number, verb: string, flags: Flags): string {
  const { precision, width = 0 } = flags;
  const sign = value < 0n ? '-' : flags.plus ? '+' : flags.space ? ' ' : '';
  if (precision === 0 && value === 0n) return ' '.repeat(width);
  let digits = (value < 0n ? -value : value).toString(base);
  if (precision !== undefined) digits = digits.padStart(precision, '0');
  else if (flags.zero && !flags.minus) digits = digits.padStart(width - sign.length, '0');
  if (verb === 'X') digits = digits.toUpperCase();
  if (flags.sharp) {
    if (base === 2) digits = `0b${digits}`;
    else if (base === 16) digits = `0${verb}${digits}`;
    else if (base === 8 && !digits.startsWith('0')) digits = `0${digits}`;
  }
  if (verb === 'O') digits = `0o${digits}`;
  return pad(sign + digits, { ...flags, zero: false });
}

function pad(text: string, { width = 0, minus, zero }: Flags): string {
  const missing = width - countRunes(text);
  if (missing <= 0) return text;
  if (minus) return text + ' '.repeat(missing);
  return (zero ? '0' : ' ').repeat(missing) + text;
}
