import { getLanguageCode, getFlag } from '../languages.ts';
import { formatDatePattern, formatDuration, formatDurationPattern, toMilliseconds } from './durations.ts';
import { compileComparison } from './comparisons.ts';
import { toSmallCapitals } from './small-capitals.ts';
import { findField, hasValue, type FieldValue, type FormatValues, type Modifier } from './values.ts';

const forText =
  (change: (text: string) => FieldValue): Modifier =>
  (value) =>
    typeof value === 'string' ? change(value) : undefined;
const forNumber =
  (change: (number: number) => FieldValue): Modifier =>
  (value) =>
    typeof value === 'number' ? change(value) : undefined;
const forList =
  (change: (list: readonly string[]) => FieldValue): Modifier =>
  (value) =>
    Array.isArray(value) ? change(value as readonly string[]) : undefined;
const firstMatching =
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

function scaleUnits(unitBase: number, names: readonly string[], rounding: keyof typeof roundings): Modifier {
  return forNumber((number) => {
    if (!Number.isFinite(number) || number <= 0) return `0 ${names[0] ?? ''}`;
    const unitIndex = Math.max(0, Math.min(Math.floor(Math.log(number) / Math.log(unitBase)), names.length - 1));
    return `${roundings[rounding](number / unitBase ** unitIndex)} ${names[unitIndex] ?? ''}`;
  });
}

const stars = (padded: boolean): Modifier =>
  forNumber((score) => {
    const bounded = Math.max(0, Math.min(100, score));
    const fullStars = Math.floor(bounded / 20);
    const halfStars = bounded % 20 >= 10 ? 1 : 0;
    return '★'.repeat(fullStars) + '⯪'.repeat(halfStars) + (padded ? '☆'.repeat(5 - fullStars - halfStars) : '');
  });

const firstItem = forList((list) => list[0] ?? '');
const compareNaturally = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });
const languages = (convert: (language: string) => string): Modifier =>
  firstMatching(
    forText(convert),
    forList((list) => [...new Set(list.map(convert))]),
  );

const simpleModifiers: Readonly<Record<string, Modifier>> = {
  upper: forText((text) => text.toUpperCase()),
  lower: forText((text) => text.toLowerCase()),
  title: forText(titleCase),
  base64: forText((text) => Buffer.from(text, 'utf8').toString('base64')),
  length: firstMatching(
    forText((text) => text.length),
    forList((list) => list.length),
  ),
  reverse: firstMatching(
    forText((text) => [...text].reverse().join('')),
    forList((list) => list.toReversed()),
  ),
  smallcaps: forText(toSmallCapitals),
  subscript: forText((text) => mapChars(text, charMap(digits, '₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎'))),
  superscript: forText((text) => mapChars(text, charMap(digits, '⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾'))),
  languagecode: languages(getLanguageCode),
  languageemoji: languages(getFlag),
  join: forList((list) => list.join(', ')),
  first: firstItem,
  last: forList((list) => list.at(-1) ?? ''),
  // A stream has the same text in each response, so the first value is used.
  random: firstItem,
  sort: forList((list) => list.toSorted(compareNaturally)),
  rsort: forList((list) => list.toSorted(compareNaturally).reverse()),
  lsort: forList((list) => list.toSorted()),
  comma: forNumber((number) => number.toLocaleString('en-US')),
  hex: forNumber((number) => number.toString(16)),
  octal: forNumber((number) => number.toString(8)),
  binary: forNumber((number) => number.toString(2)),
  string: (value) => (value === null ? undefined : Array.isArray(value) ? value.join(',') : String(value)),
  bytes: scaleUnits(1000, units, 'precise'),
  bytes10: scaleUnits(1000, units, 'precise'),
  bytes2: scaleUnits(1024, binaryUnits, 'precise'),
  sbytes: scaleUnits(1000, units, 'smart'),
  sbytes10: scaleUnits(1000, units, 'smart'),
  sbytes2: scaleUnits(1024, binaryUnits, 'smart'),
  rbytes: scaleUnits(1000, units, 'whole'),
  rbytes10: scaleUnits(1000, units, 'whole'),
  rbytes2: scaleUnits(1024, binaryUnits, 'whole'),
  bitrate: scaleUnits(1000, rates, 'precise'),
  sbitrate: scaleUnits(1000, rates, 'smart'),
  rbitrate: scaleUnits(1000, rates, 'whole'),
  time: forNumber((duration) => formatDuration(toMilliseconds(duration))),
  star: stars(false),
  pstar: stars(true),
};

/** Modifiers with arguments, such as `join(', ')`. */
const callModifiers: Readonly<Record<string, (args: readonly string[]) => Modifier>> = {
  join: ([separator = '']) => forList((list) => list.join(replaceLayoutMarks(separator))),
  replace: ([from = '', to = '']) => {
    const replacement = replaceLayoutMarks(to);
    return (value, values) => {
      const search = resolveField(from, values);
      if (search === '') return value;
      return firstMatching(
        forText((text) => text.replaceAll(search, () => replacement)),
        forList((list) => list.map((item) => item.replaceAll(search, () => replacement))),
      )(value, values);
    };
  },
  remove: (args) =>
    firstMatching(
      forText((text) => args.reduce((rest, part) => (part === '' ? rest : rest.replaceAll(part, '')), text)),
      forList((list) => list.filter((item) => !args.includes(item))),
    ),
  truncate: ([maxLength = '']) =>
    forText((text) => {
      const limit = Number.parseInt(maxLength, 10);
      const segments = [...new Intl.Segmenter().segment(text)];
      if (!Number.isFinite(limit) || limit < 0 || segments.length <= limit) return text;
      return `${segments
        .slice(0, limit)
        .map(({ segment }) => segment)
        .join('')
        .trimEnd()}…`;
    }),
  slice: ([from = '0', to]) => {
    const range = [Number.parseInt(from, 10) || 0, to === undefined ? undefined : Number.parseInt(to, 10)] as const;
    return firstMatching(
      forText((text) => [...text].slice(...range).join('')),
      forList((list) => list.slice(...range)),
    );
  },
  translate: ([from = '', to = '']) => {
    const map = charMap(from, to);
    return forText((text) => mapChars(text, map));
  },
  default:
    ([fallback = '']) =>
    (value) =>
      hasValue(value) ? value : fallback,
  in: (args) => {
    const options = new Set(args.map((option) => option.toLowerCase()));
    return (value) => {
      if (value === null) return false;
      const items = Array.isArray(value) ? (value as readonly string[]) : [String(value)];
      return items.some((item) => options.has(item.toLowerCase()));
    };
  },
  time: ([pattern = '']) => forNumber((duration) => formatDurationPattern(toMilliseconds(duration), pattern)),
  date: ([pattern = '%Y-%m-%d']) =>
    firstMatching(
      forText((text) => formatDatePattern(text, pattern)),
      forNumber((time) => (Math.abs(time) > 8.64e15 ? '' : formatDatePattern(new Date(time).toISOString(), pattern))),
    ),
};

/** Resolves a reference such as `{config.addonName}`. Other texts are unchanged. */
function resolveField(text: string, values: FormatValues): string {
  const match = /^\{\s*([A-Za-z]+)\.([A-Za-z]\w*)\s*\}$/.exec(text);
  if (match === null) return text;
  const value = findField(match[1] ?? '', match[2] ?? '')(values);
  return value === null ? '' : Array.isArray(value) ? value.join(',') : String(value);
}

/** Replaces layout instructions within an argument, such as `join('{tools.newLine}- ')`. */
function replaceLayoutMarks(text: string): string {
  return text.replaceAll(/\{tools\.newLine\}/gi, '\u0011').replaceAll(/\{tools\.removeLine\}/gi, '\u0012');
}

/** Returns the modifier with this name, or undefined for unknown modifiers, which have no effect. */
export function compileModifier(text: string): Modifier | undefined {
  const lower = text.trim().toLowerCase();
  if (Object.hasOwn(simpleModifiers, lower)) return simpleModifiers[lower];
  const call = /^\s*([a-z]+)\(([\s\S]*)\)\s*$/i.exec(text);
  const name = call?.[1]?.toLowerCase() ?? '';
  if (call !== null && Object.hasOwn(callModifiers, name)) return callModifiers[name]?.(readArguments(call[2] ?? ''));
  return compileComparison(text);
}

/**
 * Parses arguments that are separated by commas. A quote ends before a comma or the end, so that `'Director's Cut'` is
 * one text.
 */
function readArguments(text: string): readonly string[] {
  const pattern = /\s*(?:(['"])([\s\S]*?)\1(?=\s*(?:,|$))|([^,]*))\s*(?:,|$)/y;
  const args: string[] = [];
  while (pattern.lastIndex < text.length) {
    const match = pattern.exec(text);
    if (match === null) break;
    args.push(match[2] === undefined ? (match[3] ?? '').trim() : match[2].replaceAll(String.raw`\n`, '\n'));
  }
  return args;
}
