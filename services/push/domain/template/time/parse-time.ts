import { toBytes } from '../bytes.ts';
import { RunFault } from '../errors.ts';
import { days, months, piecesOf } from './layout.ts';
import { momentOf, type Moment } from './moment.ts';
import { fixedZone, utc, type Zone } from './zone.ts';

/** What was read of a time so far. */
interface Fields {
  year: number;
  month: number;
  day: number;
  yearDay: number;
  hour: number;
  minute: number;
  second: number;
  nanosecond: number;
  afternoon: boolean | undefined;
  offset: number | undefined;
  abbreviation: string;
  /** `Z` or `UTC` was read. */
  isUtc: boolean;
}

/** How a part reads from the beginning of a text: what it takes, and what to do with it; false when it is out of range. */
interface Reader {
  readonly shape: RegExp;
  readonly take: (fields: Fields, text: string) => boolean;
}

function number(shape: RegExp, name: keyof Fields, least: number, most: number): Reader {
  return {
    shape,
    take: (fields, text) => {
      const value = Number(text.trim());
      Object.assign(fields, { [name]: value });
      return value >= least && value <= most;
    },
  };
}

function word(
  words: readonly string[],
  length: number | undefined,
  take: (fields: Fields, index: number) => void,
): Reader {
  const shapes = words.map((each) => each.slice(0, length));
  return {
    shape: new RegExp(`^(?:${shapes.join('|')})`, 'i'),
    take: (fields, text) => {
      take(
        fields,
        shapes.findIndex((each) => each.toLowerCase() === text.toLowerCase()),
      );
      return true;
    },
  };
}

const half = (shape: RegExp): Reader => ({
  shape,
  take: (fields, text) => {
    fields.afternoon = text.toLowerCase() === 'pm';
    return true;
  },
});
const setMonth = (fields: Fields, index: number): void => {
  fields.month = index + 1;
};
const nothing = (): void => undefined;

const readers: Readonly<Record<string, Reader>> = {
  January: word(months, undefined, setMonth),
  Jan: word(months, 3, setMonth),
  Monday: word(days, undefined, nothing),
  Mon: word(days, 3, nothing),
  '2006': number(/^\d{4}/, 'year', 0, 9999),
  '06': {
    shape: /^\d\d/,
    take: (fields, text) => {
      fields.year = Number(text) + (Number(text) >= 69 ? 1900 : 2000);
      return true;
    },
  },
  '01': number(/^\d\d/, 'month', 1, 12),
  '1': number(/^\d\d?/, 'month', 1, 12),
  '02': number(/^\d\d/, 'day', 1, 31),
  _2: number(/^ ?\d\d?/, 'day', 1, 31),
  '2': number(/^\d\d?/, 'day', 1, 31),
  '002': number(/^\d{3}/, 'yearDay', 1, 366),
  __2: number(/^(?:\d{3}| \d\d| {2}\d)/, 'yearDay', 1, 366),
  '15': number(/^\d\d?/, 'hour', 0, 23),
  '03': number(/^\d\d/, 'hour', 0, 12),
  '3': number(/^\d\d?/, 'hour', 0, 12),
  '04': number(/^\d\d/, 'minute', 0, 59),
  '4': number(/^\d\d?/, 'minute', 0, 59),
  '05': number(/^\d\d/, 'second', 0, 59),
  '5': number(/^\d\d?/, 'second', 0, 59),
  PM: half(/^[AP]M/),
  pm: half(/^[ap]m/),
  MST: {
    shape: /^(?:UTC|ChST|MeST|GMT(?:[+-]\d{1,2})?|[+-](?:[01]?\d|2[0-3])(?!\d)|[A-Z]{3,5})/,
    take: (fields, text) => {
      fields.abbreviation = text;
      fields.isUtc = text === 'UTC';
      return true;
    },
  },
};

const offsets: Reader = {
  shape: /^(?:Z|[+-]\d\d(?::?\d\d){0,2})/,
  take: (fields, text) => {
    const [hours = 0, minutes = 0, seconds = 0] = (text.match(/\d\d/g) ?? []).map(Number);
    fields.isUtc = text === 'Z';
    fields.offset = (hours * 3600 + minutes * 60 + seconds) * (text.startsWith('-') ? -1 : 1);
    return hours <= 24 && minutes < 60 && seconds < 60;
  },
};
const fractions: Reader = {
  shape: /^[.,]\d{1,9}/,
  take: (fields, text) => {
    fields.nanosecond = Number(text.slice(1).padEnd(9, '0'));
    return true;
  },
};

/** How a part of a layout that has no reader of its own is read. */
function readerOf(part: string): Reader {
  const known = readers[part];
  if (known !== undefined) return known;
  if (!/^[.,]/.test(part)) {
    const { length } = part.replaceAll(/\D/g, '');
    const between = part.includes(':') ? ':' : '';
    const shape = `[+-]\\d\\d${`${between}\\d\\d`.repeat(length / 2 - 1)}`;
    return { ...offsets, shape: new RegExp(part.startsWith('Z') ? `^(?:Z|${shape})` : `^${shape}`) };
  }
  return part.charAt(1) === '0'
    ? { ...fractions, shape: new RegExp(`^[.,]\\d{${String(part.length - 1)}}`) }
    : { ...fractions, shape: /^(?:[.,]\d{1,9})?/ };
}

/**
 * Reads a time by a layout of Go; what the layout does not tell is as it was at the beginning of the year 0.
 *
 * @throws RunFault with Go's words
 */
export function parseMoment(layout: string, text: string, local: Zone): Moment {
  const fault = (reason: string): RunFault => new RunFault(toBytes(`parsing time ${JSON.stringify(text)}${reason}`));
  const failed = (rest: string, part: string): RunFault =>
    fault(` as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(rest)} as ${JSON.stringify(part)}`);
  const fields: Fields = {
    year: 0,
    month: 0,
    day: 0,
    yearDay: 0,
    hour: 0,
    minute: 0,
    second: 0,
    nanosecond: 0,
    afternoon: undefined,
    offset: undefined,
    abbreviation: '',
    isUtc: false,
  };
  let rest = text;
  const pieces = piecesOf(layout);
  for (const [index, piece] of pieces.entries()) {
    if (!rest.startsWith(piece.text)) throw failed(rest, piece.text);
    rest = rest.slice(piece.text.length);
    if (piece.part === '') break;
    const { shape, take } = readerOf(piece.part);
    const found = shape.exec(rest)?.[0];
    if (found === undefined) throw failed(rest, piece.part);
    if (found !== '' && !take(fields, found)) throw fault(`: ${rangeOf(piece.part)} out of range`);
    rest = rest.slice(found.length);
    // A fraction may follow the seconds even where the layout has none.
    if (/^0?5$/.test(piece.part) && !/^[.,]/.test(pieces[index + 1]?.part ?? '')) {
      const fraction = fractions.shape.exec(rest)?.[0];
      if (fraction !== undefined) {
        fractions.take(fields, fraction);
        rest = rest.slice(fraction.length);
      }
    }
  }
  if (rest !== '') throw fault(`: extra text: ${JSON.stringify(rest)}`);
  return settle(fields, local, () => fault(': day out of range'));
}

function rangeOf(part: string): string {
  if (/^0?1$/.test(part)) return 'month';
  if (/^(?:0?2|_2)$/.test(part)) return 'day';
  if (/^(?:15|0?3)$/.test(part)) return 'hour';
  if (/^0?4$/.test(part)) return 'minute';
  if (/^0?5$/.test(part)) return 'second';
  return /002|__2/.test(part) ? 'day-of-year' : 'time zone offset hour';
}

function settle(fields: Fields, local: Zone, fault: () => RunFault): Moment {
  const { year, afternoon } = fields;
  let { hour, month, day } = fields;
  if (afternoon === true && hour < 12) hour += 12;
  else if (afternoon === false && hour === 12) hour = 0;
  if (fields.yearDay > 0) {
    const date = new Date(0);
    date.setUTCFullYear(year, 0, fields.yearDay);
    if (date.getUTCFullYear() !== year) throw fault();
    [month, day] = [date.getUTCMonth() + 1, date.getUTCDate()];
  }
  month ||= 1;
  day ||= 1;
  const end = new Date(0);
  end.setUTCFullYear(year, month, 0);
  if (day > end.getUTCDate()) throw fault();
  return inZone({ ...fields, hour, month, day }, local);
}

/** The zone that was told; the local one where that agrees with it. */
function inZone(fields: Fields, local: Zone): Moment {
  const { offset, abbreviation, isUtc } = fields;
  if (isUtc) return momentOf(fields, utc);
  if (offset !== undefined) {
    const told = momentOf(fields, fixedZone(offset, abbreviation));
    const here = local.at(Number(told.unix));
    return here.offset === offset && (abbreviation === '' || abbreviation === here.abbreviation)
      ? told.in(local)
      : told;
  }
  if (abbreviation === '') return momentOf(fields, local);
  const here = momentOf(fields, local);
  if (here.civil().abbreviation === abbreviation) return here;
  const hours = /^GMT([+-]\d+)$/.exec(abbreviation)?.[1];
  return momentOf(fields, fixedZone(hours === undefined ? 0 : Number(hours) * 3600, abbreviation));
}
