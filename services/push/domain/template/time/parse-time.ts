import { toBytes } from '../bytes.ts';
import { ExecutionError } from '../errors.ts';
import { days, months, splitLayout } from './layout.ts';
import { toMoment, type Moment } from './moment.ts';
import { fixedZone, utc, type Zone } from './zone.ts';

/** Fields of a partially parsed time. */
interface Fields {
  year: number;
  month: number;
  day: number;
  yearDay: number;
  hour: number;
  minute: number;
  second: number;
  nanosecond: number;
  isAfternoon: boolean | undefined;
  offset: number | undefined;
  abbreviation: string;
  /** True when `Z` or `UTC` was parsed. */
  isUtc: boolean;
}

/** Parser of a layout element: the text it matches and how it sets fields; returns false when out of range. */
interface ElementParser {
  readonly pattern: RegExp;
  readonly apply: (fields: Fields, text: string) => boolean;
}

function parseNumber(pattern: RegExp, name: keyof Fields, min: number, max: number): ElementParser {
  return {
    pattern,
    apply: (fields, text) => {
      const value = Number(text.trim());
      Object.assign(fields, { [name]: value });
      return value >= min && value <= max;
    },
  };
}

function parseName(
  names: readonly string[],
  length: number | undefined,
  apply: (fields: Fields, index: number) => void,
): ElementParser {
  const abbreviations = names.map((name) => name.slice(0, length));
  return {
    pattern: new RegExp(`^(?:${abbreviations.join('|')})`, 'i'),
    apply: (fields, text) => {
      apply(
        fields,
        abbreviations.findIndex((name) => name.toLowerCase() === text.toLowerCase()),
      );
      return true;
    },
  };
}

const parseHalfDay = (pattern: RegExp): ElementParser => ({
  pattern,
  apply: (fields, text) => {
    fields.isAfternoon = text.toLowerCase() === 'pm';
    return true;
  },
});
const setMonth = (fields: Fields, index: number): void => {
  fields.month = index + 1;
};
const ignoreValue = (): void => undefined;

const elementParsers: Readonly<Record<string, ElementParser>> = {
  January: parseName(months, undefined, setMonth),
  Jan: parseName(months, 3, setMonth),
  Monday: parseName(days, undefined, ignoreValue),
  Mon: parseName(days, 3, ignoreValue),
  '2006': parseNumber(/^\d{4}/, 'year', 0, 9999),
  '06': {
    pattern: /^\d\d/,
    apply: (fields, text) => {
      fields.year = Number(text) + (Number(text) >= 69 ? 1900 : 2000);
      return true;
    },
  },
  '01': parseNumber(/^\d\d/, 'month', 1, 12),
  '1': parseNumber(/^\d\d?/, 'month', 1, 12),
  '02': parseNumber(/^\d\d/, 'day', 1, 31),
  _2: parseNumber(/^ ?\d\d?/, 'day', 1, 31),
  '2': parseNumber(/^\d\d?/, 'day', 1, 31),
  '002': parseNumber(/^\d{3}/, 'yearDay', 1, 366),
  __2: parseNumber(/^(?:\d{3}| \d\d| {2}\d)/, 'yearDay', 1, 366),
  '15': parseNumber(/^\d\d?/, 'hour', 0, 23),
  '03': parseNumber(/^\d\d/, 'hour', 0, 12),
  '3': parseNumber(/^\d\d?/, 'hour', 0, 12),
  '04': parseNumber(/^\d\d/, 'minute', 0, 59),
  '4': parseNumber(/^\d\d?/, 'minute', 0, 59),
  '05': parseNumber(/^\d\d/, 'second', 0, 59),
  '5': parseNumber(/^\d\d?/, 'second', 0, 59),
  PM: parseHalfDay(/^[AP]M/),
  pm: parseHalfDay(/^[ap]m/),
  MST: {
    pattern: /^(?:UTC|ChST|MeST|GMT(?:[+-]\d{1,2})?|[+-](?:[01]?\d|2[0-3])(?!\d)|[A-Z]{3,5})/,
    apply: (fields, text) => {
      fields.abbreviation = text;
      fields.isUtc = text === 'UTC';
      return true;
    },
  },
};

const offsets: ElementParser = {
  pattern: /^(?:Z|[+-]\d\d(?::?\d\d){0,2})/,
  apply: (fields, text) => {
    const [hours = 0, minutes = 0, seconds = 0] = (text.match(/\d\d/g) ?? []).map(Number);
    fields.isUtc = text === 'Z';
    fields.offset = (hours * 3600 + minutes * 60 + seconds) * (text.startsWith('-') ? -1 : 1);
    return hours <= 24 && minutes < 60 && seconds < 60;
  },
};
const fractions: ElementParser = {
  pattern: /^[.,]\d{1,9}/,
  apply: (fields, text) => {
    fields.nanosecond = Number(text.slice(1).padEnd(9, '0'));
    return true;
  },
};

/** Returns the parser of a layout element. */
function getElementParser(part: string): ElementParser {
  const parser = elementParsers[part];
  if (parser !== undefined) return parser;
  if (!/^[.,]/.test(part)) {
    const { length } = part.replaceAll(/\D/g, '');
    const separator = part.includes(':') ? ':' : '';
    const pattern = `[+-]\\d\\d${`${separator}\\d\\d`.repeat(length / 2 - 1)}`;
    return { ...offsets, pattern: new RegExp(part.startsWith('Z') ? `^(?:Z|${pattern})` : `^${pattern}`) };
  }
  return part.charAt(1) === '0'
    ? { ...fractions, pattern: new RegExp(`^[.,]\\d{${String(part.length - 1)}}`) }
    : { ...fractions, pattern: /^(?:[.,]\d{1,9})?/ };
}

/**
 * Parses a time with a Go layout; missing fields default to the start of the year 0.
 *
 * @throws ExecutionError with Go's message
 */
export function parseMoment(layout: string, text: string, local: Zone): Moment {
  const createError = (reason: string): ExecutionError =>
    new ExecutionError(toBytes(`parsing time ${JSON.stringify(text)}${reason}`));
  const createMismatch = (rest: string, part: string): ExecutionError =>
    createError(` as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(rest)} as ${JSON.stringify(part)}`);
  const fields: Fields = {
    year: 0,
    month: 0,
    day: 0,
    yearDay: 0,
    hour: 0,
    minute: 0,
    second: 0,
    nanosecond: 0,
    isAfternoon: undefined,
    offset: undefined,
    abbreviation: '',
    isUtc: false,
  };
  let rest = text;
  const pieces = splitLayout(layout);
  for (const [index, piece] of pieces.entries()) {
    if (!rest.startsWith(piece.text)) throw createMismatch(rest, piece.text);
    rest = rest.slice(piece.text.length);
    if (piece.part === '') break;
    const { pattern, apply } = getElementParser(piece.part);
    const matched = pattern.exec(rest)?.[0];
    if (matched === undefined) throw createMismatch(rest, piece.part);
    if (matched !== '' && !apply(fields, matched)) throw createError(`: ${getRangeName(piece.part)} out of range`);
    rest = rest.slice(matched.length);
    // A fraction may follow the seconds even when the layout has none.
    if (/^0?5$/.test(piece.part) && !/^[.,]/.test(pieces[index + 1]?.part ?? '')) {
      const fraction = fractions.pattern.exec(rest)?.[0];
      if (fraction !== undefined) {
        fractions.apply(fields, fraction);
        rest = rest.slice(fraction.length);
      }
    }
  }
  if (rest !== '') throw createError(`: extra text: ${JSON.stringify(rest)}`);
  return resolveFields(fields, local, () => createError(': day out of range'));
}

function getRangeName(part: string): string {
  if (/^0?1$/.test(part)) return 'month';
  if (/^(?:0?2|_2)$/.test(part)) return 'day';
  if (/^(?:15|0?3)$/.test(part)) return 'hour';
  if (/^0?4$/.test(part)) return 'minute';
  if (/^0?5$/.test(part)) return 'second';
  return /002|__2/.test(part) ? 'day-of-year' : 'time zone offset hour';
}

function resolveFields(fields: Fields, local: Zone, createError: () => ExecutionError): Moment {
  const { year, isAfternoon } = fields;
  let { hour, month, day } = fields;
  if (isAfternoon === true && hour < 12) hour += 12;
  else if (isAfternoon === false && hour === 12) hour = 0;
  if (fields.yearDay > 0) {
    const date = new Date(0);
    date.setUTCFullYear(year, 0, fields.yearDay);
    if (date.getUTCFullYear() !== year) throw createError();
    [month, day] = [date.getUTCMonth() + 1, date.getUTCDate()];
  }
  month ||= 1;
  day ||= 1;
  const lastDay = new Date(0);
  lastDay.setUTCFullYear(year, month, 0);
  if (day > lastDay.getUTCDate()) throw createError();
  return resolveZone({ ...fields, hour, month, day }, local);
}

/** Resolves the zone: the parsed offset, or the local zone when it agrees. */
function resolveZone(fields: Fields, local: Zone): Moment {
  const { offset, abbreviation, isUtc } = fields;
  if (isUtc) return toMoment(fields, utc);
  if (offset !== undefined) {
    const parsed = toMoment(fields, fixedZone(offset, abbreviation));
    const localInfo = local.getInfo(Number(parsed.unix));
    return localInfo.offset === offset && (abbreviation === '' || abbreviation === localInfo.abbreviation)
      ? parsed.in(local)
      : parsed;
  }
  if (abbreviation === '') return toMoment(fields, local);
  const localMoment = toMoment(fields, local);
  if (localMoment.civil().abbreviation === abbreviation) return localMoment;
  const hours = /^GMT([+-]\d+)$/.exec(abbreviation)?.[1];
  return toMoment(fields, fixedZone(hours === undefined ? 0 : Number(hours) * 3600, abbreviation));
}
