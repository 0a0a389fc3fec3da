import { iterateRunes } from '../bytes.ts';
import { ExecutionError } from '../errors.ts';
import { Formatter } from '../format/formatter.ts';
import { formatText } from '../format/printf.ts';
import { isPrintable } from '../format/quote.ts';
import type { TemplateRun } from '../run.ts';
import { Moment } from '../time/moment.ts';
import { Dict, Integer, isTrue, List, getType, type Value } from '../values.ts';
import { defineFunction, defineVariadic, type TemplateFunction } from './signature.ts';
import { escapeQuery } from './url-functions.ts';

/** Returns the kind for comparisons; all integer types compare with each other. */
function basicKind(value: Value): string {
  if (value instanceof Integer) return 'int';
  return typeof value === 'object' || value === undefined ? '' : typeof value;
}

function isNil(value: Value): boolean {
  return value === null || value === undefined;
}

function incompatible(a: Value, b: Value): ExecutionError {
  return new ExecutionError(`incompatible types for comparison: ${getType(a)} and ${getType(b)}`);
}

function isEqual(a: Value, b: Value, run: TemplateRun): boolean {
  if (isNil(a) || isNil(b)) return isNil(a) && isNil(b);
  for (const value of [a, b]) {
    if (value instanceof List || value instanceof Dict) {
      throw new ExecutionError(`non-comparable type ${new Formatter(run).write(value, 'v')}: ${getType(value)}`);
    }
  }
  if (a instanceof Moment && b instanceof Moment) return a.nanoseconds === b.nanoseconds && a.zone.name === b.zone.name;
  if (basicKind(a) !== basicKind(b)) throw incompatible(a, b);
  return a instanceof Integer && b instanceof Integer ? a.value === b.value : a === b;
}

function isLess(a: Value, b: Value): boolean {
  const kind = basicKind(a);
  if (isNil(a) || kind === '' || kind === 'boolean') throw new ExecutionError('invalid type for comparison');
  if (kind !== basicKind(b)) throw incompatible(a, b);
  if (a instanceof Integer && b instanceof Integer) return a.value < b.value;
  return (a as number | string) < (b as number | string);
}

function defineComparison(predicate: (a: Value, b: Value, run: TemplateRun) => boolean): TemplateFunction {
  return defineFunction(['any', 'any'], ([a, b], run) => predicate(a, b, run));
}

function getElement(value: Value, keys: readonly Value[]): Value {
  if (isNil(value)) throw new ExecutionError('index of untyped nil');
  let current = value;
  for (const key of keys) {
    if (isNil(current)) throw new ExecutionError('index of nil pointer');
    if (current instanceof Dict) {
      if (typeof key !== 'string') {
        throw new ExecutionError(
          isNil(key) ? 'value is nil; should be string' : `value has type ${getType(key)}; should be string`,
        );
      }
      current = current.entries.get(key);
    } else if (current instanceof List || typeof current === 'string') {
      if (!(key instanceof Integer)) {
        throw new ExecutionError(
          isNil(key) ? 'cannot index slice/array with nil' : `cannot index slice/array with type ${getType(key)}`,
        );
      }
      const position = Number(key.value);
      const size = typeof current === 'string' ? current.length : current.items.length;
      if (position < 0 || position >= size) throw new ExecutionError(`index out of range: ${String(position)}`);
      current =
        typeof current === 'string' ? new Integer(current.charCodeAt(position), 'uint8') : current.items[position];
    } else {
      throw new ExecutionError(`can't index item of type ${getType(current)}`);
    }
  }
  return current;
}

function getLength(value: Value): number {
  if (typeof value === 'string') return value.length;
  if (value instanceof List) return value.items.length;
  if (value instanceof Dict) return value.entries.size;
  throw new ExecutionError(isNil(value) ? 'len of nil pointer' : `len of type ${getType(value)}`);
}

/** Implements Go's Print: adds spaces between operands when neither is a string. */
function print(values: readonly Value[], run: TemplateRun): string {
  const formatter = new Formatter(run);
  let text = '';
  for (const [position, value] of values.entries()) {
    const needsSpace = position > 0 && typeof value !== 'string' && typeof values[position - 1] !== 'string';
    text += `${needsSpace ? ' ' : ''}${formatter.write(value, 'v')}`;
    run.checkLength(text.length);
  }
  return text;
}

function printLine(values: readonly Value[], run: TemplateRun): string {
  const formatter = new Formatter(run);
  const text = `${values.map((value) => formatter.write(value, 'v')).join(' ')}\n`;
  run.checkLength(text.length);
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
  for (const { rune, index: current, size } of iterateRunes(bytes)) {
    const character = bytes.slice(current, current + size);
    if (/^[\\'"]$/.test(character)) text += `\\${character}`;
    else if (/^[<>&=]$/.test(character) || rune < 0x20) text += hexEscape(rune);
    else text += rune < 0x80 || isPrintable(rune) ? character : hexEscape(rune);
  }
  return text;
}

function hexEscape(rune: number): string {
  return `\\u${rune.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Go's built-in functions, except `and` and `or`, which do not evaluate all arguments. */
export const goFunctions: Readonly<Record<string, TemplateFunction>> = {
  eq: defineVariadic(['any'], 'any', ([first], others, run) => {
    if (others.length === 0) throw new ExecutionError('missing argument for comparison');
    return others.some((other) => isEqual(first, other, run));
  }),
  ne: defineComparison((a, b, run) => !isEqual(a, b, run)),
  lt: defineComparison(isLess),
  le: defineComparison((a, b, run) => isLess(a, b) || isEqual(a, b, run)),
  gt: defineComparison((a, b, run) => !isLess(a, b) && !isEqual(a, b, run)),
  ge: defineComparison((a, b) => !isLess(a, b)),
  not: defineFunction(['any'], ([value]) => !isTrue(value)),
  index: defineVariadic(['any'], 'any', ([value], keys) => getElement(value, keys)),
  len: defineFunction(['any'], ([value]) => new Integer(getLength(value))),
  print: defineVariadic([], 'any', (_none, values, run) => print(values, run)),
  println: defineVariadic([], 'any', (_none, values, run) => printLine(values, run)),
  printf: defineVariadic(['string'], 'any', ([format], values, run) => formatText(format, values, run)),
  html: defineVariadic([], 'any', (_none, values, run) =>
    print(values, run).replace(/[\0&<>"']/g, (character) => entities[character] ?? character),
  ),
  js: defineVariadic([], 'any', (_none, values, run) => escapeScript(print(values, run))),
  urlquery: defineVariadic([], 'any', (_none, values, run) => escapeQuery(print(values, run))),
};
