import { fromBytes, iterateRunes, splitRunes, toBytes, trimSpace } from '../bytes.ts';
import { ExecutionError } from '../errors.ts';
import { formatText } from '../format/printf.ts';
import { quote } from '../format/quote.ts';
import type { TemplateRun } from '../run.ts';
import { Dict, List, type Value } from '../values.ts';
import { lowerCase, titleCase, upperCase } from './cases.ts';
import { toText, toTexts } from './convert.ts';
import { defineFunction, defineVariadic, type TemplateFunction } from './signature.ts';

const maxRepeats = 10_000;
const maxRepeatedBytes = 100_000;
const maxIndent = 100;

function defineTextFunction(call: (text: string) => Value): TemplateFunction {
  return defineFunction(['string'], ([text]) => call(text));
}

/** Defines a function of a text and a parameter; the text is last, so that it can be piped. */
function defineTextFunctionWithParameter(call: (text: string, parameter: string) => Value): TemplateFunction {
  return defineFunction(['string', 'string'], ([by, text]) => call(text, by));
}

function trimEnds(text: string, characters: string): string {
  const trimmedRunes = new Set(Array.from(iterateRunes(characters), ({ rune }) => rune));
  const runes = [...iterateRunes(text)];
  const first = runes.find(({ rune }) => !trimmedRunes.has(rune));
  const last = runes.findLast(({ rune }) => !trimmedRunes.has(rune));
  return first === undefined || last === undefined ? '' : text.slice(first.index, last.index + last.size);
}

function truncate(text: string, length: number): string {
  if (length < 0 && text.length + length > 0) return text.slice(length);
  return length >= 0 ? text.slice(0, length) : text;
}

function getSubstring(text: string, from: number, to: number): string {
  const end = from >= 0 && (to < 0 || to > text.length) ? text.length : to;
  const start = Math.max(from, 0);
  if (end < start || end > text.length || end < 0) {
    throw new ExecutionError(`runtime error: slice bounds out of range [${String(start)}:${String(end)}]`);
  }
  return text.slice(start, end);
}

function repeat(count: number, text: string): string {
  if (count < 0) throw new ExecutionError('strings: negative Repeat count');
  if (count > maxRepeats || count * text.length >= maxRepeatedBytes) {
    throw new ExecutionError(
      `the text grows too long: ${String(count)} times ${String(text.length)} bytes exceed ${String(maxRepeats)} ` +
        `times or ${String(maxRepeatedBytes)} bytes`,
    );
  }
  return text.repeat(count);
}

function indent(width: number, text: string, run: TemplateRun): string {
  if (width < 0) throw new ExecutionError('strings: negative Repeat count');
  if (width > maxIndent) {
    throw new ExecutionError(`indent ${String(width)} exceeds limit of ${String(maxIndent)}`);
  }
  const margin = ' '.repeat(width);
  return margin + replaceText(text, '\n', `\n${margin}`, run);
}

function replaceText(text: string, from: string, to: string, run: TemplateRun): string {
  // An empty pattern matches between all characters and at both ends.
  const pieces = from === '' ? ['', ...splitRunes(text, Infinity), ''] : text.split(from);
  run.checkLength(text.length + (pieces.length - 1) * (to.length - from.length));
  return pieces.join(to);
}

/** Splits into at most `maxPieces` parts; a negative number means no limit. */
function splitText(text: string, parameter: string, maxPieces: number): readonly string[] {
  if (maxPieces === 0) return [];
  if (parameter === '') return splitRunes(text, maxPieces < 0 ? Infinity : maxPieces);
  const pieces = text.split(parameter);
  return maxPieces < 0 || pieces.length <= maxPieces
    ? pieces
    : [...pieces.slice(0, maxPieces - 1), pieces.slice(maxPieces - 1).join(parameter)];
}

function toNumberedDict(pieces: readonly string[]): Dict {
  return new Dict(
    pieces.map((piece, index) => [`_${String(index)}`, piece] as const),
    'string',
  );
}

function joinTexts(texts: readonly string[], by: string, run: TemplateRun): string {
  run.checkLength(texts.reduce((sum, text) => sum + text.length + by.length, 0));
  return texts.join(by);
}

function isPresent(value: Value): boolean {
  return value !== null && value !== undefined;
}

/** Sprig's functions for text. */
export const textFunctions: Readonly<Record<string, TemplateFunction>> = {
  upper: defineTextFunction(upperCase),
  lower: defineTextFunction(lowerCase),
  title: defineTextFunction(titleCase),
  untitle: defineTextFunction((text) =>
    toBytes(fromBytes(text).replace(/(^|\s)(\p{Lu})/gu, (all: string) => all.toLowerCase())),
  ),
  trim: defineTextFunction(trimSpace),
  nospace: defineTextFunction((text) => toBytes(fromBytes(text).replace(/\s+/g, ''))),
  trimAll: defineTextFunctionWithParameter(trimEnds),
  trimPrefix: defineTextFunctionWithParameter((text, by) => (text.startsWith(by) ? text.slice(by.length) : text)),
  trimSuffix: defineTextFunctionWithParameter((text, by) =>
    text.endsWith(by) ? text.slice(0, text.length - by.length) : text,
  ),
  contains: defineTextFunctionWithParameter((text, by) => text.includes(by)),
  hasPrefix: defineTextFunctionWithParameter((text, by) => text.startsWith(by)),
  hasSuffix: defineTextFunctionWithParameter((text, by) => text.endsWith(by)),
  trunc: defineFunction(['int', 'string'], ([length, text]) => truncate(text, length)),
  abbrev: defineFunction(['int', 'string'], ([room, text]) =>
    room < 4 || text.length <= room ? text : `${truncate(text, room - 3)}...`,
  ),
  substr: defineFunction(['int', 'int', 'string'], ([from, to, text]) => getSubstring(text, from, to)),
  replace: defineFunction(['string', 'string', 'string'], ([from, to, text], run) => replaceText(text, from, to, run)),
  repeat: defineFunction(['int', 'string'], ([count, text]) => repeat(count, text)),
  indent: defineFunction(['int', 'string'], ([width, text], run) => indent(width, text, run)),
  nindent: defineFunction(['int', 'string'], ([width, text], run) => `\n${indent(width, text, run)}`),
  plural: defineFunction(['string', 'string', 'int'], ([one, many, count]) => (count === 1 ? one : many)),
  quote: defineVariadic([], 'any', (_none, values, run) =>
    joinTexts(
      values.filter(isPresent).map((value) => quote(toText(value, run))),
      ' ',
      run,
    ),
  ),
  squote: defineVariadic([], 'any', (_none, values, run) =>
    joinTexts(
      values.filter(isPresent).map((value) => `'${toText(value, run)}'`),
      ' ',
      run,
    ),
  ),
  cat: defineVariadic([], 'any', (_none, values, run) => {
    const present = values.filter(isPresent);
    return formatText(present.map(() => '%v').join(' '), present, run);
  }),
  toString: defineFunction(['any'], ([value], run) => toText(value, run)),
  toStrings: defineFunction(['any'], ([value], run) => new List(toTexts(value, run), 'string')),
  join: defineFunction(['string', 'any'], ([by, value], run) => joinTexts(toTexts(value, run), by, run)),
  sortAlpha: defineFunction(
    ['any'],
    ([value], run) =>
      new List(value instanceof List ? [...toTexts(value, run)].sort() : [toText(value, run)], 'string'),
  ),
  split: defineTextFunctionWithParameter((text, by) => toNumberedDict(splitText(text, by, -1))),
  splitn: defineFunction(['string', 'int', 'string'], ([by, maxPieces, text]) =>
    toNumberedDict(splitText(text, by, maxPieces)),
  ),
  splitList: defineTextFunctionWithParameter((text, by) => new List(splitText(text, by, -1), 'string')),
};
