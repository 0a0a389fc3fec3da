import { codeOf, flagOf } from '../languages.ts';
import { formatDatePattern, formatDuration, formatDurationPattern, toMilliseconds } from './durations.ts';
import { question } from './comparisons.ts';
import { toSmallCapitals } from './small-capitals.ts';
import { findField, hasValue, type FieldValue, type FormatValues, type Modifier } from './values.ts';

const onText =
  (change: (text: string) => FieldValue): Modifier =>
  (value) =>
    typeof value === 'string' ? change(value) : undefined;
const onNumber =
  (change: (number: number) => FieldValue): Modifier =>
  (value) =>
    typeof value === 'number' ? change(value) : undefined;
const onList =
  (change: (list: readonly string[]) => FieldValue): Modifier =>
  (value) =>
    Array.isArray(value) ? change(value as readonly string[]) : undefined;
const either =
  (...modifiers: readonly Modifier[]): Modifier =>
  (value, values) => {
    for (const modifier of modifiers) {
      const changed = modifier(value, values);
      if (changed !== undefined) return changed;
    }
    return undefined;
  };

function titleCase(text: string): string {
  return text.replaceAll(/\S+/g, (word) => word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase());
}

const digits = '0123456789+-=()';

function charMap(from: string, to: string): ReadonlyMap<string, string> {
  const target = [...to];
  return new Map([...from].flatMap((char, index) => (target[index] === undefined ? [] : [[char, target[index]]])));
}

function mapChars(text: string, map: ReadonlyMap<string, string>): string {
  return [...text].map((char) => map.get(char) ?? char).join('');
}

const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];
const binaryUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
const rates = ['bps', 'Kbps', 'Mbps', 'Gbps', 'Tbps'];

/** Numbers of digits of a formatted value. */
const roundings = {
  precise: (number: number) => String(Number(number.toFixed(2))),
  whole: (number: number) => String(Math.round(number)),
  /** Three significant digits. */
  smart: (number: number) => String(Number(number.toFixed(number >= 100 ? 0 : number >= 10 ? 1 : 2))),
} as const;

function scaled(base: number, names: readonly string[], rounding: keyof typeof roundings): Modifier {
  return onNumber((number) => {
    if (!Number.isFinite(number) || number <= 0) return `0 ${names[0] ?? ''}`;
    const step = Math.max(0, Math.min(Math.floor(Math.log(number) / Math.log(base)), names.length - 1));
    return `${roundings[rounding](number / base ** step)} ${names[step] ?? ''}`;
  });
}

const stars = (padded: boolean): Modifier =>
  onNumber((score) => {
    const bounded = Math.max(0, Math.min(100, score));
    const full = Math.floor(bounded / 20);
    const half = bounded % 20 >= 10 ? 1 : 0;
    return '★'.repeat(full) + '⯪'.repeat(half) + (padded ? '☆'.repeat(5 - full - half) : '');
  });

const first = onList((list) => list[0] ?? '');
const naturally = (one: string, other: string): number => one.localeCompare(other, 'en', { numeric: true });
const languages = (convert: (language: string) => string): Modifier =>
  either(
    onText(convert),
    onList((list) => [...new Set(list.map(convert))]),
  );

const named: Readonly<Record<string, Modifier>> = {
  upper: onText((text) => text.toUpperCase()),
  lower: onText((text) => text.toLowerCase()),
  title: onText(titleCase),
  base64: onText((text) => Buffer.from(text, 'utf8').toString('base64')),
  length: either(
    onText((text) => text.length),
    onList((list) => list.length),
  ),
  reverse: either(
    onText((text) => [...text].reverse().join('')),
    onList((list) => list.toReversed()),
  ),
  smallcaps: onText(toSmallCapitals),
  subscript: onText((text) => mapChars(text, charMap(digits, '₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎'))),
  superscript: onText((text) => mapChars(text, charMap(digits, '⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾'))),
  languagecode: languages(codeOf),
  languageemoji: languages(flagOf),
  join: onList((list) => list.join(', ')),
  first,
  last: onList((list) => list.at(-1) ?? ''),
  // A stream has the same text in each response, so the first value is used.
  random: first,
  sort: onList((list) => list.toSorted(naturally)),
  rsort: onList((list) => list.toSorted(naturally).reverse()),
  lsort: onList((list) => list.toSorted()),
  comma: onNumber((number) => number.toLocaleString('en-US')),
  hex: onNumber((number) => number.toString(16)),
  octal: onNumber((number) => number.toString(8)),
  binary: onNumber((number) => number.toString(2)),
  string: (value) => (value === null ? undefined : Array.isArray(value) ? value.join(',') : String(value)),
  bytes: scaled(1000, units, 'precise'),
  bytes10: scaled(1000, units, 'precise'),
  bytes2: scaled(1024, binaryUnits, 'precise'),
  sbytes: scaled(1000, units, 'smart'),
  sbytes10: scaled(1000, units, 'smart'),
  sbytes2: scaled(1024, binaryUnits, 'smart'),
  rbytes: scaled(1000, units, 'whole'),
  rbytes10: scaled(1000, units, 'whole'),
  rbytes2: scaled(1024, binaryUnits, 'whole'),
  bitrate: scaled(1000, rates, 'precise'),
  sbitrate: scaled(1000, rates, 'smart'),
  rbitrate: scaled(1000, rates, 'whole'),
  time: onNumber((duration) => formatDuration(toMilliseconds(duration))),
  star: stars(false),
  pstar: stars(true),
};

/** Modifiers with arguments, such as `join(', ')`. */
const calls: Readonly<Record<string, (given: readonly string[]) => Modifier>> = {
  join: ([by = '']) => onList((list) => list.join(withMarks(by))),
  replace: ([from = '', to = '']) => {
    const replacement = withMarks(to);
    return (value, values) => {
      const search = fieldText(from, values);
      if (search === '') return value;
      return either(
        onText((text) => text.replaceAll(search, () => replacement)),
        onList((list) => list.map((item) => item.replaceAll(search, () => replacement))),
      )(value, values);
    };
  },
  remove: (given) =>
    either(
      onText((text) => given.reduce((rest, part) => (part === '' ? rest : rest.replaceAll(part, '')), text)),
      onList((list) => list.filter((item) => !given.includes(item))),
    ),
  truncate: ([most = '']) =>
    onText((text) => {
      const limit = Number.parseInt(most, 10);
      const parts = [...new Intl.Segmenter().segment(text)];
      if (!Number.isFinite(limit) || limit < 0 || parts.length <= limit) return text;
      return `${parts
        .slice(0, limit)
        .map(({ segment }) => segment)
        .join('')
        .trimEnd()}…`;
    }),
  slice: ([from = '0', to]) => {
    const range = [Number.parseInt(from, 10) || 0, to === undefined ? undefined : Number.parseInt(to, 10)] as const;
    return either(
      onText((text) => [...text].slice(...range).join('')),
      onList((list) => list.slice(...range)),
    );
  },
  translate: ([from = '', to = '']) => {
    const map = charMap(from, to);
    return onText((text) => mapChars(text, map));
  },
  default:
    ([otherwise = '']) =>
    (value) =>
      hasValue(value) ? value : otherwise,
  in: (given) => {
    const options = new Set(given.map((option) => option.toLowerCase()));
    return (value) => {
      if (value === null) return false;
      const items = Array.isArray(value) ? (value as readonly string[]) : [String(value)];
      return items.some((item) => options.has(item.toLowerCase()));
    };
  },
  time: ([pattern = '']) => onNumber((duration) => formatDurationPattern(toMilliseconds(duration), pattern)),
  date: ([pattern = '%Y-%m-%d']) =>
    either(
      onText((text) => formatDatePattern(text, pattern)),
      onNumber((time) => (Math.abs(time) > 8.64e15 ? '' : formatDatePattern(new Date(time).toISOString(), pattern))),
    ),
};

/** Resolves a reference such as `{config.addonName}`. Other texts are unchanged. */
function fieldText(text: string, values: FormatValues): string {
  const found = /^\{\s*([A-Za-z]+)\.([A-Za-z]\w*)\s*\}$/.exec(text);
  if (found === null) return text;
  const value = findField(found[1] ?? '', found[2] ?? '')(values);
  return value === null ? '' : Array.isArray(value) ? value.join(',') : String(value);
}

/** Replaces layout instructions within an argument, such as `join('{tools.newLine}- ')`. */
function withMarks(text: string): string {
  return text.replaceAll(/\{tools\.newLine\}/gi, '\u0011').replaceAll(/\{tools\.removeLine\}/gi, '\u0012');
}

/** Returns the modifier with this name, or undefined for unknown modifiers, which have no effect. */
export function compileModifier(text: string): Modifier | undefined {
  const lower = text.trim().toLowerCase();
  if (Object.hasOwn(named, lower)) return named[lower];
  const call = /^\s*([a-z]+)\(([\s\S]*)\)\s*$/i.exec(text);
  const name = call?.[1]?.toLowerCase() ?? '';
  if (call !== null && Object.hasOwn(calls, name)) return calls[name]?.(readArguments(call[2] ?? ''));
  return question(text);
}

/**
 * Parses arguments that are separated by commas. A quote ends before a comma or the end, so that `'Director's Cut'` is
 * one text.
 */
function readArguments(text: string): readonly string[] {
  const pattern = /\s*(?:(['"])([\s\S]*?)\1(?=\s*(?:,|$))|([^,]*))\s*(?:,|$)/y;
  const found: string[] = [];
  while (pattern.lastIndex < text.length) {
    const match = pattern.exec(text);
    if (match === null) break;
    found.push(match[2] === undefined ? (match[3] ?? '').trim() : match[2].replaceAll(String.raw`\n`, '\n'));
  }
  return found;
}
