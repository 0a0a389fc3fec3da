import { runesOf } from '../bytes.ts';
import { RunFault } from '../errors.ts';
import { Formatter } from '../format/formatter.ts';
import { formatText } from '../format/printf.ts';
import { isPrintable } from '../format/quote.ts';
import type { Run } from '../run.ts';
import { Moment } from '../time/moment.ts';
import { Dict, Integer, isTrue, List, typeOf, type Value } from '../values.ts';
import { takes, takesMore, type TemplateFunction } from './signature.ts';
import { escapeQuery } from './url-functions.ts';

/** Kinds that compare with each other; integers do whatever their type. */
function basicKind(value: Value): string {
  if (value instanceof Integer) return 'int';
  return typeof value === 'object' || value === undefined ? '' : typeof value;
}

function isNil(value: Value): boolean {
  return value === null || value === undefined;
}

function incompatible(a: Value, b: Value): RunFault {
  return new RunFault(`incompatible types for comparison: ${typeOf(a)} and ${typeOf(b)}`);
}

function isEqual(a: Value, b: Value, run: Run): boolean {
  if (isNil(a) || isNil(b)) return isNil(a) && isNil(b);
  for (const value of [a, b]) {
    if (value instanceof List || value instanceof Dict) {
      throw new RunFault(`non-comparable type ${new Formatter(run).write(value, 'v')}: ${typeOf(value)}`);
    }
  }
  if (a instanceof Moment && b instanceof Moment) return a.nanoseconds === b.nanoseconds && a.zone.name === b.zone.name;
  if (basicKind(a) !== basicKind(b)) throw incompatible(a, b);
  return a instanceof Integer && b instanceof Integer ? a.value === b.value : a === b;
}

function isLess(a: Value, b: Value): boolean {
  const kind = basicKind(a);
  if (isNil(a) || kind === '' || kind === 'boolean') throw new RunFault('invalid type for comparison');
  if (kind !== basicKind(b)) throw incompatible(a, b);
  if (a instanceof Integer && b instanceof Integer) return a.value < b.value;
  return (a as number | string) < (b as number | string);
}

function compare(decide: (a: Value, b: Value, run: Run) => boolean): TemplateFunction {
  return takes(['any', 'any'], ([a, b], run) => decide(a, b, run));
}

function index(value: Value, keys: readonly Value[]): Value {
  if (isNil(value)) throw new RunFault('index of untyped nil');
  let at = value;
  for (const key of keys) {
    if (isNil(at)) throw new RunFault('index of nil pointer');
    if (at instanceof Dict) {
      if (typeof key !== 'string') {
        throw new RunFault(
          isNil(key) ? 'value is nil; should be string' : `value has type ${typeOf(key)}; should be string`,
        );
      }
      at = at.entries.get(key);
    } else if (at instanceof List || typeof at === 'string') {
      if (!(key instanceof Integer)) {
        throw new RunFault(
          isNil(key) ? 'cannot index slice/array with nil' : `cannot index slice/array with type ${typeOf(key)}`,
        );
      }
      const place = Number(key.value);
      const length = typeof at === 'string' ? at.length : at.items.length;
      if (place < 0 || place >= length) throw new RunFault(`index out of range: ${String(place)}`);
      at = typeof at === 'string' ? new Integer(at.charCodeAt(place), 'uint8') : at.items[place];
    } else {
      throw new RunFault(`can't index item of type ${typeOf(at)}`);
    }
  }
  return at;
}

function length(value: Value): number {
  if (typeof value === 'string') return value.length;
  if (value instanceof List) return value.items.length;
  if (value instanceof Dict) return value.entries.size;
  throw new RunFault(isNil(value) ? 'len of nil pointer' : `len of type ${typeOf(value)}`);
}

/** Go's Print: a space between two of which neither is a text. */
function printed(values: readonly Value[], run: Run): string {
  const formatter = new Formatter(run);
  let text = '';
  for (const [place, value] of values.entries()) {
    const isApart = place > 0 && typeof value !== 'string' && typeof values[place - 1] !== 'string';
    text += `${isApart ? ' ' : ''}${formatter.write(value, 'v')}`;
    run.fits(text.length);
  }
  return text;
}

function printedLine(values: readonly Value[], run: Run): string {
  const formatter = new Formatter(run);
  const text = `${values.map((value) => formatter.write(value, 'v')).join(' ')}\n`;
  run.fits(text.length);
  return text;
}

const entities: Readonly<Record<string, string>> = {
  '\0': '\xef\xbf\xbd',
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
};

function escapeScript(bytes: string): string {
  let text = '';
  for (const { rune, at, size } of runesOf(bytes)) {
    const letter = bytes.slice(at, at + size);
    if (/^[\\'"]$/.test(letter)) text += `\\${letter}`;
    else if (/^[<>&=]$/.test(letter) || rune < 0x20) text += hexEscape(rune);
    else text += rune < 0x80 || isPrintable(rune) ? letter : hexEscape(rune);
  }
  return text;
}

function hexEscape(rune: number): string {
  return `\\u${rune.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Go's own functions. `and` and `or` are not among them, since they do not look at all of their arguments. */
export const goFunctions: Readonly<Record<string, TemplateFunction>> = {
  eq: takesMore(['any'], 'any', ([first], others, run) => {
    if (others.length === 0) throw new RunFault('missing argument for comparison');
    return others.some((other) => isEqual(first, other, run));
  }),
  ne: compare((a, b, run) => !isEqual(a, b, run)),
  lt: compare(isLess),
  le: compare((a, b, run) => isLess(a, b) || isEqual(a, b, run)),
  gt: compare((a, b, run) => !isLess(a, b) && !isEqual(a, b, run)),
  ge: compare((a, b) => !isLess(a, b)),
  not: takes(['any'], ([value]) => !isTrue(value)),
  index: takesMore(['any'], 'any', ([value], keys) => index(value, keys)),
  len: takes(['any'], ([value]) => new Integer(length(value))),
  print: takesMore([], 'any', (_none, values, run) => printed(values, run)),
  println: takesMore([], 'any', (_none, values, run) => printedLine(values, run)),
  printf: takesMore(['string'], 'any', ([format], values, run) => formatText(format, values, run)),
  html: takesMore([], 'any', (_none, values, run) =>
    printed(values, run).replace(/[\0&<>"']/g, (letter) => entities[letter] ?? letter),
  ),
  js: takesMore([], 'any', (_none, values, run) => escapeScript(printed(values, run))),
  urlquery: takesMore([], 'any', (_none, values, run) => escapeQuery(printed(values, run))),
};
