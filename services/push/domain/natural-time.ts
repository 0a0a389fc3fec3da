const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const months = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
];
/** Hours of words for a time of day. */
const hoursByWord: Readonly<Record<string, number>> = {
  midnight: 0,
  morning: 8,
  noon: 12,
  afternoon: 15,
  evening: 18,
  tonight: 21,
  night: 21,
};
const msByUnit: Readonly<Record<string, number>> = { sec: 1e3, min: 6e4, hou: 36e5, day: 864e5, wee: 6048e5 };
const numberWords = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve'];
const relativeTime = new RegExp(
  `^(?:in|within) (half an?|an?|a few|few|${numberWords.join('|')}|\\d{1,6}) ` +
    '(second|sec|minute|min|hour|day|week|month|year)s?$',
);

/** Timestamp formats of programs (ISO 8601, RFC 3339, RFC 2822), with an offset or in the server's time zone. */
const timestamp =
  /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)? ?(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?$/i;
const mailDate = /^(?:[a-z]{3}, ?)?\d{1,2} [a-z]{3} \d{4} \d{2}:\d{2}(?::\d{2})? (?:Z|UTC|GMT|[+-]\d{4})$/i;

/** Returns the offset of a time zone from UTC in ms. */
function parseOffset(zone: string): number {
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

/** Returns a timestamp in ms; undefined for other text and for invalid dates. */
function parseTimestamp(text: string): number | undefined {
  if (mailDate.test(text)) return Date.parse(text);
  const match = timestamp.exec(text);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const isValid = month >= 1 && month <= 12 && day >= 1 && hour <= 23 && minute <= 59 && second <= 60;
  if (!isValid || day > new Date(year, month, 0).getDate()) return undefined;
  const zone = match[7];
  if (zone === undefined) return new Date(year, month - 1, day, hour, minute, second).getTime();
  return Date.UTC(year, month - 1, day, hour, minute, second) - parseOffset(zone);
}

interface ParsedTime {
  /** Days from today; undefined without a day. */
  days?: number;
  /** True for a weekday without `next`: today is possible when its time is in the future. */
  allowsToday?: boolean;
  date?: { readonly year: number | undefined; readonly month: number; readonly day: number };
  minutes?: number;
  seconds?: number;
}

/**
 * Parses a time in natural language into ms: a day (`tomorrow`, `Tuesday`, `next friday`, `24 dec`, `2026-12-24`), a
 * time (`10am`, `7:30 pm`, `19:30`, `noon`), or both in any order, or `in 2 hours`. A past time without a day means
 * tomorrow; a day without a time means the current time of day. Returns undefined for other text. Uses the server's
 * time zone, so daylight saving changes apply.
 */
export function parseNaturalTime(text: string, now: number): number | undefined {
  const normalized = text
    .toLowerCase()
    .replace(/[,\s]+/g, ' ')
    .trim();
  const [, count, unit = ''] = relativeTime.exec(normalized) ?? [];
  if (count !== undefined) return addDuration(now, parseCount(count), unit);
  const timestampMs = parseTimestamp(text.trim());
  if (timestampMs !== undefined) return timestampMs;
  if (normalized === 'next week') return toTimestamp({ days: 7 }, now);
  const parsed: ParsedTime = {};
  let rest = normalized;
  while (rest !== '') {
    const next = parseElement(rest, parsed, now);
    if (next === undefined) return undefined;
    rest = next.trim();
  }
  return toTimestamp(parsed, now);
}

/** Parses the number in `in two hours`; a few are three. */
function parseCount(text: string): number {
  if (text.startsWith('half')) return 0.5;
  if (text.endsWith('few')) return 3;
  if (/^an?$/.test(text)) return 1;
  const index = numberWords.indexOf(text);
  return index < 0 ? Number(text) : index + 1;
}

function addDuration(now: number, count: number, unit: string): number | undefined {
  const ms = msByUnit[unit.slice(0, 3)];
  if (ms !== undefined) return now + count * ms;
  if (!Number.isInteger(count)) return undefined;
  const months = unit === 'year' ? count * 12 : count;
  const moment = new Date(now);
  const day = moment.getDate();
  moment.setMonth(moment.getMonth() + months);
  // The last day of a shorter month, not the first of the one after it.
  if (moment.getDate() !== day) moment.setDate(0);
  return moment.getTime();
}

/** Parses one element at the beginning; returns the remaining text, or undefined when nothing matches. */
function parseElement(text: string, parsed: ParsedTime, now: number): string | undefined {
  const connected = text.replace(/^(at|on|the)\s+/, '');
  return parseTimeOfDay(connected, parsed) ?? parseDay(connected, parsed, now) ?? parseDate(connected, parsed);
}

function parseTimeOfDay(text: string, parsed: ParsedTime): string | undefined {
  if (parsed.minutes !== undefined) return undefined;
  const word = /^(?:this |in the )?(midnight|morning|noon|afternoon|evening|tonight|night)\b/.exec(text);
  if (word !== null) {
    parsed.minutes = (hoursByWord[word[1] ?? ''] ?? 0) * 60;
    if (word[1] === 'tonight') parsed.days ??= 0;
    return text.slice(word[0].length);
  }
  const clock = /^(\d{1,2})(?::(\d{2}))?\s*(am|pm|a\.m\.|p\.m\.|h\b)|^(\d{1,2}):(\d{2})(?::(\d{2}))?(?!\d)/.exec(text);
  if (clock === null) return undefined;
  const [all, hour12, minute12 = '0', half = '', hour24, minute24, second24 = '0'] = clock;
  const minute = Number(minute24 ?? minute12);
  let hour = Number(hour24 ?? hour12);
  if (hour24 === undefined && half !== 'h') {
    if (hour < 1 || hour > 12) return undefined;
    hour = (hour % 12) + (half.startsWith('p') ? 12 : 0);
  }
  if (hour > 23 || minute > 59 || Number(second24) > 59) return undefined;
  parsed.minutes = hour * 60 + minute;
  parsed.seconds = Number(second24);
  return text.slice(all.length);
}

function parseDay(text: string, parsed: ParsedTime, now: number): string | undefined {
  if (parsed.days !== undefined || parsed.date !== undefined) return undefined;
  const relativeDay = /^(today|tomorrow)\b/.exec(text);
  if (relativeDay !== null) {
    parsed.days = relativeDay[1] === 'today' ? 0 : 1;
    return text.slice(relativeDay[0].length);
  }
  const [matched, modifier, letters = ''] = /^(?:(next|this) )?([a-z]{3,9})\b\.?/.exec(text) ?? [];
  const weekday = weekdays.findIndex((name) => name === letters || (letters.length <= 5 && name.startsWith(letters)));
  if (matched === undefined || weekday < 0) return undefined;
  const daysAhead = (weekday - new Date(now).getDay() + 7) % 7;
  parsed.days = modifier === 'next' && daysAhead === 0 ? 7 : daysAhead;
  parsed.allowsToday = modifier !== 'next';
  return text.slice(matched.length);
}

function parseDate(text: string, parsed: ParsedTime): string | undefined {
  if (parsed.days !== undefined || parsed.date !== undefined) return undefined;
  const iso = /^(\d{4})-(\d{1,2})-(\d{1,2})\b(?:t(?=\d))?/.exec(text);
  if (iso !== null) {
    parsed.date = { year: Number(iso[1]), month: Number(iso[2]) - 1, day: Number(iso[3]) };
    return text.slice(iso[0].length);
  }
  const named =
    /^(?:(\d{1,2})(?:st|nd|rd|th)?\.? (?:of )?([a-z]{3,9})|([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?)\b(?: (\d{4})\b)?/.exec(
      text,
    );
  if (named === null) return undefined;
  const letters = named[2] ?? named[3] ?? '';
  const month = months.findIndex((name) => name === letters || (letters.length <= 4 && name.startsWith(letters)));
  if (month < 0) return undefined;
  parsed.date = {
    year: named[5] === undefined ? undefined : Number(named[5]),
    month,
    day: Number(named[1] ?? named[4]),
  };
  return text.slice(named[0].length);
}

function toTimestamp(
  { days, allowsToday, date, minutes, seconds: timestampMs = 0 }: ParsedTime,
  now: number,
): number | undefined {
  const today = new Date(now);
  const seconds =
    minutes === undefined
      ? today.getHours() * 3600 + today.getMinutes() * 60 + today.getSeconds()
      : minutes * 60 + timestampMs;
  const toTime = (year: number, month: number, day: number): number =>
    new Date(year, month, day, 0, 0, seconds).getTime();
  if (date !== undefined) {
    const { year, month, day } = date;
    const moment = toTime(year ?? today.getFullYear(), month, day);
    if (new Date(moment).getMonth() !== month) return undefined;
    return year === undefined && moment <= now ? toTime(today.getFullYear() + 1, month, day) : moment;
  }
  const toDay = (dayOffset: number): number =>
    toTime(today.getFullYear(), today.getMonth(), today.getDate() + dayOffset);
  if (days === undefined) return minutes === undefined ? undefined : toDay(toDay(0) > now ? 0 : 1);
  const moment = toDay(days);
  if (moment > now) return moment;
  if (allowsToday === true) return toDay(days + 7);
  return toDay(days + 1);
}
