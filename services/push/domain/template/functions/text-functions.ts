import { fromBytes, runesOf, splitRunes, toBytes, trimSpace } from '../bytes.ts';
import { RunFault } from '../errors.ts';
import { formatText } from '../format/printf.ts';
import { quote } from '../format/quote.ts';
import type { Run } from '../run.ts';
import { Dict, List, type Value } from '../values.ts';
import { lowerCase, titleCase, upperCase } from './cases.ts';
import { toText, toTexts } from './convert.ts';
import { takes, takesMore, type TemplateFunction } from './signature.ts';

const mostRepeats = 10_000;
const longestRepeated = 100_000;
const deepestIndent = 100;

function change(call: (text: string) => Value): TemplateFunction {
  return takes(['string'], ([text]) => call(text));
}

/** The text comes last, so that it can be piped in. */
function changeBy(call: (text: string, by: string) => Value): TemplateFunction {
  return takes(['string', 'string'], ([by, text]) => call(text, by));
}

function trimEnds(text: string, characters: string): string {
  const unwanted = new Set(Array.from(runesOf(characters), ({ rune }) => rune));
  const runes = [...runesOf(text)];
  const first = runes.find(({ rune }) => !unwanted.has(rune));
  const last = runes.findLast(({ rune }) => !unwanted.has(rune));
  return first === undefined || last === undefined ? '' : text.slice(first.at, last.at + last.size);
}

function truncate(text: string, length: number): string {
  if (length < 0 && text.length + length > 0) return text.slice(length);
  return length >= 0 ? text.slice(0, length) : text;
}

function part(text: string, from: number, to: number): string {
  const end = from >= 0 && (to < 0 || to > text.length) ? text.length : to;
  const start = Math.max(from, 0);
  if (end < start || end > text.length || end < 0) {
    throw new RunFault(`runtime error: slice bounds out of range [${String(start)}:${String(end)}]`);
  }
  return text.slice(start, end);
}

function repeat(count: number, text: string): string {
  if (count < 0) throw new RunFault('strings: negative Repeat count');
  if (count > mostRepeats || count * text.length >= longestRepeated) {
    throw new RunFault(
      `the text grows too long: ${String(count)} times ${String(text.length)} bytes exceed ${String(mostRepeats)} times or ${String(longestRepeated)} bytes`,
    );
  }
  return text.repeat(count);
}

function indent(spaces: number, text: string, run: Run): string {
  if (spaces < 0) throw new RunFault('strings: negative Repeat count');
  if (spaces > deepestIndent) {
    throw new RunFault(`indent ${String(spaces)} exceeds limit of ${String(deepestIndent)}`);
  }
  const margin = ' '.repeat(spaces);
  return margin + replace(text, '\n', `\n${margin}`, run);
}

function replace(text: string, from: string, to: string, run: Run): string {
  // Between all characters, and at both ends.
  const pieces = from === '' ? ['', ...splitRunes(text, Infinity), ''] : text.split(from);
  run.fits(text.length + (pieces.length - 1) * (to.length - from.length));
  return pieces.join(to);
}

/** At most so many pieces; a negative number is no limit. */
function split(text: string, by: string, most: number): readonly string[] {
  if (most === 0) return [];
  if (by === '') return splitRunes(text, most < 0 ? Infinity : most);
  const pieces = text.split(by);
  return most < 0 || pieces.length <= most ? pieces : [...pieces.slice(0, most - 1), pieces.slice(most - 1).join(by)];
}

function numbered(pieces: readonly string[]): Dict {
  return new Dict(
    pieces.map((piece, index) => [`_${String(index)}`, piece] as const),
    'string',
  );
}

function joined(texts: readonly string[], by: string, run: Run): string {
  run.fits(texts.reduce((sum, text) => sum + text.length + by.length, 0));
  return texts.join(by);
}

function isThere(value: Value): boolean {
  return value !== null && value !== undefined;
}

/** Sprig's functions for texts. */
export const textFunctions: Readonly<Record<string, TemplateFunction>> = {
  upper: change(upperCase),
  lower: change(lowerCase),
  title: change(titleCase),
  untitle: change((text) => toBytes(fromBytes(text).replace(/(^|\s)(\p{Lu})/gu, (all: string) => all.toLowerCase()))),
  trim: change(trimSpace),
  nospace: change((text) => toBytes(fromBytes(text).replace(/\s+/g, ''))),
  trimAll: changeBy(trimEnds),
  trimPrefix: changeBy((text, by) => (text.startsWith(by) ? text.slice(by.length) : text)),
  trimSuffix: changeBy((text, by) => (text.endsWith(by) ? text.slice(0, text.length - by.length) : text)),
  contains: changeBy((text, by) => text.includes(by)),
  hasPrefix: changeBy((text, by) => text.startsWith(by)),
  hasSuffix: changeBy((text, by) => text.endsWith(by)),
  trunc: takes(['int', 'string'], ([length, text]) => truncate(text, length)),
  abbrev: takes(['int', 'string'], ([room, text]) =>
    room < 4 || text.length <= room ? text : `${truncate(text, room - 3)}...`,
  ),
  substr: takes(['int', 'int', 'string'], ([from, to, text]) => part(text, from, to)),
  replace: takes(['string', 'string', 'string'], ([from, to, text], run) => replace(text, from, to, run)),
  repeat: takes(['int', 'string'], ([count, text]) => repeat(count, text)),
  indent: takes(['int', 'string'], ([spaces, text], run) => indent(spaces, text, run)),
  nindent: takes(['int', 'string'], ([spaces, text], run) => `\n${indent(spaces, text, run)}`),
  plural: takes(['string', 'string', 'int'], ([one, many, count]) => (count === 1 ? one : many)),
  quote: takesMore([], 'any', (_none, values, run) =>
    joined(
      values.filter(isThere).map((value) => quote(toText(value, run))),
      ' ',
      run,
    ),
  ),
  squote: takesMore([], 'any', (_none, values, run) =>
    joined(
      values.filter(isThere).map((value) => `'${toText(value, run)}'`),
      ' ',
      run,
    ),
  ),
  cat: takesMore([], 'any', (_none, values, run) => {
    const there = values.filter(isThere);
    return formatText(there.map(() => '%v').join(' '), there, run);
  }),
  toString: takes(['any'], ([value], run) => toText(value, run)),
  toStrings: takes(['any'], ([value], run) => new List(toTexts(value, run), 'string')),
  join: takes(['string', 'any'], ([by, value], run) => joined(toTexts(value, run), by, run)),
  sortAlpha: takes(
    ['any'],
    ([value], run) =>
      new List(value instanceof List ? [...toTexts(value, run)].sort() : [toText(value, run)], 'string'),
  ),
  split: changeBy((text, by) => numbered(split(text, by, -1))),
  splitn: takes(['string', 'int', 'string'], ([by, most, text]) => numbered(split(text, by, most))),
  splitList: changeBy((text, by) => new List(split(text, by, -1), 'string')),
};
