import { fromBytes, runesOf, toBytes } from '../bytes.ts';
import { RunFault } from '../errors.ts';
import type { Run } from '../run.ts';
import { formatMoment } from '../time/layout.ts';
import { Moment } from '../time/moment.ts';
import { Dict, Integer, List, type Value, valueOf } from '../values.ts';

interface Style {
  /** Escapes what could end a script: `<`, `>` and `&`. */
  readonly html: boolean;
  readonly indent: string;
}

/** JSON as Go writes it: names in order, what JSON does not know refused. @throws RunFault */
export function writeJson(value: Value, style: Style, run: Run): string {
  return write(value, style, run, '\n');
}

function write(value: Value, style: Style, run: Run, line: string): string {
  run.step();
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value))
      throw new RunFault(`json: unsupported value: ${value > 0 ? '+Inf' : value < 0 ? '-Inf' : 'NaN'}`);
    return Object.is(value, -0) ? '-0' : String(value);
  }
  if (typeof value === 'string') return quoted(value, style, run);
  if (value instanceof Integer) return String(value.value);
  if (value instanceof Moment)
    return quoted(toBytes(formatMoment(value, '2006-01-02T15:04:05.999999999Z07:00')), style, run);
  const inner = line + style.indent;
  if (value instanceof List) {
    if (value.isNil) return 'null';
    return wrapped(
      '[]',
      value.items.map((item) => write(item, style, run, inner)),
      { style, line, run },
    );
  }
  if (!(value instanceof Dict) || value.isNil) return 'null';
  const between = style.indent === '' ? ':' : ': ';
  const entries = value
    .names()
    .map((name) => quoted(name, style, run) + between + write(value.entries.get(name), style, run, inner));
  return wrapped('{}', entries, { style, line, run });
}

function wrapped(
  [open = '', close = '']: string,
  parts: readonly string[],
  { style, line, run }: { readonly style: Style; readonly line: string; readonly run: Run },
): string {
  run.fits(parts.reduce((sum, part) => sum + part.length + line.length, 0));
  if (parts.length === 0 || style.indent === '') return open + parts.join(',') + close;
  const inner = line + style.indent;
  return open + inner + parts.join(`,${inner}`) + line + close;
}

const short: Readonly<Record<number, string>> = { 8: 'b', 9: 't', 10: 'n', 12: 'f', 13: 'r' };

function quoted(bytes: string, { html }: Style, run: Run): string {
  run.step(Math.ceil(bytes.length / 64));
  let text = '"';
  for (const { rune, at, size } of runesOf(bytes)) {
    const letter = short[rune];
    if (rune === 0x22 || rune === 0x5c) text += `\\${bytes.charAt(at)}`;
    else if (letter !== undefined) text += `\\${letter}`;
    else if (rune === 0xfffd && size === 1) text += '\\ufffd';
    else if (rune < 0x20 || rune === 0x2028 || rune === 0x2029 || (html && /[<>&]/.test(String.fromCodePoint(rune)))) {
      text += `\\u${rune.toString(16).padStart(4, '0')}`;
    } else text += bytes.slice(at, at + size);
  }
  return `${text}"`;
}

/** What a text of JSON holds. @throws RunFault */
export function readJson(bytes: string): Value {
  try {
    return valueOf(JSON.parse(fromBytes(bytes)));
  } catch (error) {
    if (error instanceof SyntaxError) throw new RunFault(toBytes(`invalid JSON: ${error.message}`));
    throw error;
  }
}
