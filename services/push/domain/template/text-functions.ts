import { list, of, RunFault, text, whole, type TemplateFunction } from './arguments.ts';
import { formatText } from './format.ts';
import { textOf, type Value } from './values.ts';

/** The text comes last, so that it can be piped in. */
function change(call: (text: string) => string): TemplateFunction {
  return of(1, ([value]) => call(text(value)));
}

function changeBy(call: (text: string, by: string) => Value): TemplateFunction {
  return of(2, ([by, value]) => call(text(value), text(by)));
}

function trimEnds(value: string, characters: string): string {
  const letters = [...value];
  let start = 0;
  let end = letters.length;
  while (start < end && characters.includes(letters[start] ?? '')) start += 1;
  while (end > start && characters.includes(letters[end - 1] ?? '')) end -= 1;
  return letters.slice(start, end).join('');
}

function cut(value: string, length: number): string {
  const letters = [...value];
  return (length < 0 ? letters.slice(length) : letters.slice(0, length)).join('');
}

function replaceAll(value: string, from: string, to: string, room: number): string {
  if (from === '') return value;
  const pieces = value.split(from);
  if (value.length + (pieces.length - 1) * (to.length - from.length) > room)
    throw new RunFault('the text grows too long');
  return pieces.join(to);
}

function repeat(value: string, count: number, room: number): string {
  if (value.length * count > room) throw new RunFault('the text grows too long');
  return value.repeat(Math.max(0, count));
}

function indent(value: string, spaces: number): string {
  const margin = ' '.repeat(Math.min(Math.max(spaces, 0), 1000));
  return margin + value.replaceAll('\n', `\n${margin}`);
}

/** Go's Print: a space between two of which neither is a text. */
function printed(given: readonly Value[]): string {
  return given
    .map((each, index) => {
      const apart = index > 0 && typeof each !== 'string' && typeof given[index - 1] !== 'string';
      return `${apart ? ' ' : ''}${textOf(each, '<nil>')}`;
    })
    .join('');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
};

export const textFunctions: Readonly<Record<string, TemplateFunction>> = {
  upper: change((value) => value.toUpperCase()),
  lower: change((value) => value.toLowerCase()),
  title: change((value) => value.replace(/(^|[^\p{L}\p{N}_'])(\p{Ll})/gu, (all) => all.toUpperCase())),
  untitle: change((value) => value.replace(/(^|\s)(\p{Lu})/gu, (all) => all.toLowerCase())),
  trim: change((value) => value.trim()),
  nospace: change((value) => value.replace(/\s+/g, '')),
  quote: of(0, (given) => given.map((each) => JSON.stringify(text(each))).join(' '), Infinity),
  squote: of(0, (given) => given.map((each) => `'${text(each)}'`).join(' '), Infinity),
  cat: of(0, (given) => given.map((each) => textOf(each)).join(' '), Infinity),
  toString: change((value) => value),
  html: change((value) => value.replace(/[&<>"']/g, (letter) => entities[letter] ?? letter)),
  urlquery: change((value) => encodeURIComponent(value).replaceAll('%20', '+')),
  trimAll: changeBy(trimEnds),
  trimPrefix: changeBy((value, by) => (value.startsWith(by) ? value.slice(by.length) : value)),
  trimSuffix: changeBy((value, by) => (by !== '' && value.endsWith(by) ? value.slice(0, -by.length) : value)),
  contains: changeBy((value, by) => value.includes(by)),
  hasPrefix: changeBy((value, by) => value.startsWith(by)),
  hasSuffix: changeBy((value, by) => value.endsWith(by)),
  trunc: of(2, ([length, value]) => cut(text(value), whole(length))),
  abbrev: of(2, ([length, value]) => {
    const [room, whole_] = [whole(length), text(value)];
    return room < 4 || [...whole_].length <= room ? whole_ : `${cut(whole_, room - 3)}...`;
  }),
  substr: of(3, ([start, end, value]) => {
    const to = whole(end);
    return [...text(value)].slice(Math.max(0, whole(start)), to < 0 ? undefined : to).join('');
  }),
  replace: of(3, ([from, to, value], room) => replaceAll(text(value), text(from), text(to), room)),
  repeat: of(2, ([count, value], room) => repeat(text(value), whole(count), room)),
  indent: of(2, ([spaces, value]) => indent(text(value), whole(spaces))),
  nindent: of(2, ([spaces, value]) => `\n${indent(text(value), whole(spaces))}`),
  plural: of(3, ([one = null, many = null, count]) => (whole(count) === 1 ? one : many)),
  splitList: changeBy((value, by) => value.split(by)),
  split: changeBy((value, by) =>
    Object.fromEntries(value.split(by).map((piece, index) => [`_${String(index)}`, piece])),
  ),
  join: of(2, ([by, values]) =>
    Array.isArray(values)
      ? list(values)
          .map((each) => text(each))
          .join(text(by))
      : text(values),
  ),
  print: of(0, printed, Infinity),
  println: of(0, (given) => `${given.map((each) => textOf(each, '<nil>')).join(' ')}\n`, Infinity),
  printf: of(1, ([format, ...given], room) => formatText(text(format), given, room), Infinity),
  b64enc: change((value) => btoa(String.fromCharCode(...new TextEncoder().encode(value.slice(0, 50_000))))),
  b64dec: change((value) => {
    if (!/^[A-Za-z0-9+/\s]*={0,2}$/.test(value) || value.length % 4 === 1) return 'illegal base64 data';
    return new TextDecoder().decode(Uint8Array.from(atob(value), (letter) => letter.charCodeAt(0)));
  }),
};
