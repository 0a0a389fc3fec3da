import { codeOf, flagOf } from '../languages.ts';
import type { FieldValue } from './values.ts';

/** Changes a value; undefined where it does not fit this kind of value. */
export type Modifier = (value: FieldValue) => FieldValue | undefined;

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

function titleCase(text: string): string {
  return text.replaceAll(/\S+/g, (word) => word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase());
}

const letters = 'abcdefghijklmnopqrstuvwxyz';
const digits = '0123456789';
const plain = [...`${letters}${digits}`];
const smallCaps = [...`ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘǫʀꜱᴛᴜᴠᴡxʏᴢ${digits}`];
const superscripts = [...'ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖᵠʳˢᵗᵘᵛʷˣʸᶻ⁰¹²³⁴⁵⁶⁷⁸⁹'];
const subscripts = [...'ₐᵦ꜀ᑯₑբ₉ₕᵢⱼₖₗₘₙₒₚqᵣₛₜᵤᵥwₓᵧ₂₀₁₂₃₄₅₆₇₈₉'];

function lettered(alphabet: readonly string[]): Modifier {
  const map = new Map(plain.map((letter, at) => [letter, alphabet[at] ?? letter]));
  return onText((text) => [...text].map((letter) => map.get(letter.toLowerCase()) ?? letter).join(''));
}

const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];
const binaryUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

function bytes(base: number, names: readonly string[], decimals = 2): Modifier {
  return onNumber((size) => {
    if (size <= 0) return `0 ${names[0] ?? ''}`;
    const step = Math.min(Math.floor(Math.log(size) / Math.log(base)), names.length - 1);
    return `${String(Number((size / base ** step).toFixed(decimals)))} ${names[step] ?? ''}`;
  });
}

const bits = (decimals: number): Modifier =>
  onNumber((rate) => {
    const names = ['bps', 'Kbps', 'Mbps', 'Gbps'];
    const step = rate <= 0 ? 0 : Math.min(Math.floor(Math.log(rate) / Math.log(1000)), names.length - 1);
    return `${String(Number((rate / 1000 ** step).toFixed(decimals)))} ${names[step] ?? ''}`;
  });

function time(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  return hours > 0
    ? `${String(hours)}h:${String(minutes)}m:${String(seconds % 60)}s`
    : `${String(minutes)}m:${String(seconds % 60)}s`;
}

const stars = (part: boolean): Modifier =>
  onNumber((score) => {
    const halves = Math.max(0, Math.min(10, Math.round(score / 10)));
    const full = Math.floor(halves / 2);
    const half = part && halves % 2 === 1 ? 1 : 0;
    return '★'.repeat(full) + '⯪'.repeat(half) + '☆'.repeat(5 - full - half);
  });

const either =
  (...modifiers: readonly Modifier[]): Modifier =>
  (value) => {
    for (const modifier of modifiers) {
      const changed = modifier(value);
      if (changed !== undefined) return changed;
    }
    return undefined;
  };
const first = onList((list) => list[0] ?? null);
const sorted = (backwards: boolean): Modifier =>
  onList((list) => {
    const result = list.toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true }));
    return backwards ? result.reverse() : result;
  });

const named: Readonly<Record<string, Modifier>> = {
  upper: onText((text) => text.toUpperCase()),
  lower: onText((text) => text.toLowerCase()),
  title: onText(titleCase),
  length: either(
    onText((text) => [...text].length),
    onList((list) => list.length),
  ),
  reverse: either(
    onText((text) => [...text].reverse().join('')),
    onList((list) => list.toReversed()),
  ),
  smallcaps: lettered(smallCaps),
  subscript: lettered(subscripts),
  superscript: lettered(superscripts),
  languagecode: either(
    onText(codeOf),
    onList((list) => list.map(codeOf)),
  ),
  languageemoji: either(
    onText(flagOf),
    onList((list) => list.map(flagOf)),
  ),
  first,
  last: onList((list) => list.at(-1) ?? null),
  // The same stream looks the same each time it is shown.
  random: first,
  sort: sorted(false),
  lsort: sorted(false),
  rsort: sorted(true),
  comma: onNumber((number) => number.toLocaleString('en-US')),
  hex: onNumber((number) => number.toString(16)),
  octal: onNumber((number) => number.toString(8)),
  binary: onNumber((number) => number.toString(2)),
  string: (value) => (value === null ? undefined : Array.isArray(value) ? value.join(', ') : String(value)),
  bytes: bytes(1000, units),
  bytes10: bytes(1000, units),
  bytes2: bytes(1024, binaryUnits),
  sbytes: bytes(1000, units, 1),
  sbytes10: bytes(1000, units, 1),
  sbytes2: bytes(1024, binaryUnits, 1),
  rbytes: bytes(1000, units, 0),
  rbytes10: bytes(1000, units, 0),
  rbytes2: bytes(1024, binaryUnits, 0),
  bitrate: bits(2),
  sbitrate: bits(1),
  rbitrate: bits(0),
  time: onNumber(time),
  star: stars(false),
  pstar: stars(true),
};

/** Modifiers that take something in brackets, such as `join(', ')`. */
const calls: Readonly<Record<string, (given: readonly string[]) => Modifier>> = {
  join: ([by = '']) => onList((list) => list.join(by)),
  replace: ([from = '', to = '']) =>
    either(
      onText((text) => (from === '' ? text : text.replaceAll(from, () => to))),
      onList((list) => (from === '' ? list : list.map((item) => item.replaceAll(from, () => to)))),
    ),
  remove: (given) =>
    either(
      onText((text) => given.reduce((rest, part) => (part === '' ? rest : rest.replaceAll(part, '')), text)),
      onList((list) => list.filter((item) => !given.includes(item))),
    ),
  truncate: ([most = '']) =>
    onText((text) => {
      const limit = Number.parseInt(most, 10);
      const parts = [...text];
      return !Number.isFinite(limit) || parts.length <= limit ? text : `${parts.slice(0, limit).join('').trimEnd()}…`;
    }),
  slice: ([from = '0', to]) => {
    const range = [Number.parseInt(from, 10) || 0, to === undefined ? undefined : Number.parseInt(to, 10)] as const;
    return either(
      onText((text) => [...text].slice(...range).join('')),
      onList((list) => list.slice(...range)),
    );
  },
  translate: ([from = '', to = '']) => {
    const target = [...to];
    const map = new Map([...from].map((letter, at) => [letter, target[at] ?? '']));
    return onText((text) => [...text].map((letter) => map.get(letter) ?? letter).join(''));
  },
  default:
    ([otherwise = '']) =>
    (value) =>
      value === null || value === '' || (Array.isArray(value) && value.length === 0) ? otherwise : value,
  in: (given) => (value) =>
    typeof value === 'string' || typeof value === 'number' ? given.includes(String(value)) : undefined,
  date:
    ([pattern = '%Y-%m-%d']) =>
    (value) => {
      const date = new Date(typeof value === 'number' || typeof value === 'string' ? value : Number.NaN);
      if (Number.isNaN(date.getTime())) return undefined;
      const [day = '', clock = ''] = date.toISOString().split('T');
      const parts: Readonly<Record<string, string>> = {
        Y: day.slice(0, 4),
        m: day.slice(5, 7),
        d: day.slice(8),
        H: clock.slice(0, 2),
        M: clock.slice(3, 5),
        S: clock.slice(6, 8),
      };
      return pattern.replaceAll(/%([YmdHMS])/g, (_all, letter: string) => parts[letter] ?? '');
    },
};

const isEmpty = (value: FieldValue): boolean =>
  value === null || value === '' || (Array.isArray(value) && value.length === 0);

/** Questions, which make a value true or false; of what is not known nothing is known. */
function question(text: string): Modifier | undefined {
  if (text === 'exists') return (value) => !isEmpty(value);
  if (text === 'istrue') return (value) => value === true;
  if (text === 'isfalse') return (value) => value === false;
  const found = /^(>=|<=|=|>|<|~|\$|\^)(.*)$/s.exec(text);
  if (found === null) return undefined;
  const [, sign = '', wanted = ''] = found;
  return (value) => {
    if (value === null) return null;
    const lower = wanted.toLowerCase();
    if (sign === '~' && Array.isArray(value)) return value.some((item: string) => item.toLowerCase() === lower);
    const text = (Array.isArray(value) ? value.join(', ') : String(value)).toLowerCase();
    if (sign === '=') return text === lower;
    if (sign === '~') return text.includes(lower);
    if (sign === '$') return text.startsWith(lower);
    if (sign === '^') return text.endsWith(lower);
    const [left, right] = [Number(value), Number(wanted)];
    if (Number.isNaN(left) || Number.isNaN(right)) return false;
    return sign === '>' ? left > right : sign === '<' ? left < right : sign === '>=' ? left >= right : left <= right;
  };
}

/** The modifier of this text, undefined when there is none. */
export function modifierOf(text: string): Modifier | undefined {
  const lower = text.toLowerCase();
  if (Object.hasOwn(named, lower)) return named[lower];
  const call = /^([a-z]+)\((.*)\)$/is.exec(text);
  const name = call?.[1]?.toLowerCase() ?? '';
  if (call !== null && Object.hasOwn(calls, name)) return calls[name]?.(argumentsOf(call[2] ?? ''));
  return question(/^(?:exists|istrue|isfalse)$/i.test(text) ? lower : text);
}

/** Quoted texts between commas, or one number. */
function argumentsOf(text: string): readonly string[] {
  const quoted = [...text.matchAll(/'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"/gs)].map((found) =>
    (found[1] ?? found[2] ?? '').replaceAll(/\\(.)/gs, (_all, letter: string) => (letter === 'n' ? '\n' : letter)),
  );
  return quoted.length > 0 ? quoted : text.split(',').map((part) => part.trim());
}
