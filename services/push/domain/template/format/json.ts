import { fromBytes, iterateRunes, toBytes } from '../bytes.ts';
import { ExecutionError } from '../errors.ts';
import type { TemplateRun } from '../run.ts';
import { formatMoment } from '../time/layout.ts';
import { Moment } from '../time/moment.ts';
import { Dict, Integer, List, type Value, toValue } from '../values.ts';
import { parseJsonOrThrow } from '../../../../contracts/parse-json.ts';

interface Style {
  /** Escapes `<`, `>` and `&` for use in HTML. */
  readonly escapeHtml: boolean;
  readonly indent: string;
}

/**
 * Formats JSON like Go: sorted names; unsupported values are refused.
 *
 * @throws ExecutionError
 */
export function writeJson(value: Value, style: Style, run: TemplateRun): string {
  return write(value, style, run, '\n');
}

function write(value: Value, style: Style, run: TemplateRun, line: string): string {
  run.step();
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value))
      throw new ExecutionError(`json: unsupported value: ${value > 0 ? '+Inf' : value < 0 ? '-Inf' : 'NaN'}`);
    return Object.is(value, -0) ? '-0' : String(value);
  }
  if (typeof value === 'string') return quoteJson(value, style, run);
  if (value instanceof Integer) return String(value.value);
  if (value instanceof Moment)
    return quoteJson(toBytes(formatMoment(value, '2006-01-02T15:04:05.999999999Z07:00')), style, run);
  const innerLine = line + style.indent;
  if (value instanceof List) {
    if (value.isNil) return 'null';
    return joinItems(
      '[]',
      value.items.map((item) => write(item, style, run, innerLine)),
      { style, line, run },
    );
  }
  if (!(value instanceof Dict) || value.isNil) return 'null';
  const separator = style.indent === '' ? ':' : ': ';
  const entries = value
    .names()
    .map((name) => quoteJson(name, style, run) + separator + write(value.entries.get(name), style, run, innerLine));
  return joinItems('{}', entries, { style, line, run });
}

function joinItems(
  [open = '', close = '']: string,
  parts: readonly string[],
  { style, line, run }: { readonly style: Style; readonly line: string; readonly run: TemplateRun },
): string {
  run.checkLength(parts.reduce((sum, part) => sum + part.length + line.length, 0));
  if (parts.length === 0 || style.indent === '') return open + parts.join(',') + close;
  const innerLine = line + style.indent;
  return open + innerLine + parts.join(`,${innerLine}`) + line + close;
}

const shortEscapes: Readonly<Record<number, string>> = { 8: 'b', 9: 't', 10: 'n', 12: 'f', 13: 'r' };

function quoteJson(bytes: string, { escapeHtml }: Style, run: TemplateRun): string {
  run.step(Math.ceil(bytes.length / 64));
  let text = '"';
  for (const { rune, index, size } of iterateRunes(bytes)) {
    const escape = shortEscapes[rune];
    if (rune === 0x22 || rune === 0x5c) text += `\\${bytes.charAt(index)}`;
    else if (escape !== undefined) text += `\\${escape}`;
    else if (rune === 0xfffd && size === 1) text += '\\ufffd';
    else if (
      rune < 0x20 ||
      rune === 0x2028 ||
      rune === 0x2029 ||
      (escapeHtml && /[<>&]/.test(String.fromCodePoint(rune)))
    ) {
      text += `\\u${rune.toString(16).padStart(4, '0')}`;
    } else text += bytes.slice(index, index + size);
  }
  return `${text}"`;
}

/**
 * Parses JSON into a template value.
 *
 * @throws ExecutionError
 */
export function readJson(bytes: string): Value {
  const toError = (cause: unknown): ExecutionError =>
    new ExecutionError(toBytes(`invalid JSON: ${cause instanceof Error ? cause.message : ''}`));
  return toValue(parseJsonOrThrow(fromBytes(bytes), toError));
}
