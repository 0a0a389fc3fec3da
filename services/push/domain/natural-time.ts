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
/** Hours that words for a time of day stand for. */
const hours: Readonly<Record<string, number>> = {
  midnight: 0,
  morning: 8,
  noon: 12,
  afternoon: 15,
  evening: 18,
  tonight: 21,
  night: 21,
};
const unitOf: Readonly<Record<string, number>> = { sec: 1e3, min: 6e4, hou: 36e5, day: 864e5, wee: 6048e5 };

/** Date and time as programs write it (ISO 8601, RFC 3339, RFC 2822), with an offset or in the server's time zone. */
const timestamp =
  /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)? ?(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?$/i;
const mailDate = /^(?:[a-z]{3}, ?)?\d{1,2} [a-z]{3} \d{4} \d{2}:\d{2}(?::\d{2})? (?:Z|UTC|GMT|[+-]\d{4})$/i;

/** Returns the offset of a time zone from UTC in ms. */
function parseOffset(zone: string): number {
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

/** Returns a timestamp in ms; undefined for anything else and for moments that do not exist. */
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

interface Reading {
  /** Days from today; undefined when no day is told. */
  days?: number;
  /** It is a weekday without `next`: today counts when its time is still to come. */
  thisWeek?: boolean;
  date?: { readonly year: number | undefined; readonly month: number; readonly day: number };
  minutes?: number;
  seconds?: number;
}

/**
 * A moment in words, in ms: a day (`tomorrow`, `Tuesday`, `next friday`, `24 dec`, `2026-12-24`), a time (`10am`, `7:30 pm`,
 * `19:30`, `noon`), or both in any order; or `in 2 hours`. A time without a day that is over means tomorrow; a day without a
 * time means the same time as now. Undefined for anything else. In the server's time zone, so a clock that is turned moves it.
 */
export function parseWordedTime(text: string, now: number): number | undefined {
  const words = text
    .toLowerCase()
    .replace(/[,\s]+/g, ' ')
    .trim();
  const later = /^in (half an|an?|\d{1,6}) (second|sec|minute|min|hour|day|week)s?$/.exec(words);
  if (later !== null) {
    const [, count = '', unit = ''] = later;
    return (
      now +
      (count === 'half an' ? 0.5 : /^an?$/.test(count) ? 1 : Number(count)) * (unitOf[unit.slice(0, 3)] ?? Number.NaN)
    );
  }
  const written = parseTimestamp(text.trim());
  if (written !== undefined) return written;
  if (words === 'next week') return momentOf({ days: 7 }, now);
  const reading: Reading = {};
  let rest = words;
  while (rest !== '') {
    const next = readPart(rest, reading, now);
    if (next === undefined) return undefined;
    rest = next.trim();
  }
  return momentOf(reading, now);
}

/** Takes one part from the front; what follows it, or undefined when nothing fits. */
function readPart(text: string, reading: Reading, now: number): string | undefined {
  const connected = text.replace(/^(at|on|the)\s+/, '');
  return readTime(connected, reading) ?? readDay(connected, reading, now) ?? readDate(connected, reading);
}

function readTime(text: string, reading: Reading): string | undefined {
  if (reading.minutes !== undefined) return undefined;
  const word = /^(?:this |in the )?(midnight|morning|noon|afternoon|evening|tonight|night)\b/.exec(text);
  if (word !== null) {
    reading.minutes = (hours[word[1] ?? ''] ?? 0) * 60;
    if (word[1] === 'tonight') reading.days ??= 0;
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
  reading.minutes = hour * 60 + minute;
  reading.seconds = Number(second24);
  return text.slice(all.length);
}

function readDay(text: string, reading: Reading, now: number): string | undefined {
  if (reading.days !== undefined || reading.date !== undefined) return undefined;
  const near = /^(today|tomorrow)\b/.exec(text);
  if (near !== null) {
    reading.days = near[1] === 'today' ? 0 : 1;
    return text.slice(near[0].length);
  }
  const [all, which, letters = ''] = /^(?:(next|this) )?([a-z]{3,9})\b\.?/.exec(text) ?? [];
  const weekday = weekdays.findIndex((name) => name === letters || (letters.length <= 5 && name.startsWith(letters)));
  if (all === undefined || weekday < 0) return undefined;
  const ahead = (weekday - new Date(now).getDay() + 7) % 7;
  reading.days = which === 'next' && ahead === 0 ? 7 : ahead;
  reading.thisWeek = which !== 'next';
  return text.slice(all.length);
}

function readDate(text: string, reading: Reading): string | undefined {
  if (reading.days !== undefined || reading.date !== undefined) return undefined;
  const iso = /^(\d{4})-(\d{1,2})-(\d{1,2})\b(?:t(?=\d))?/.exec(text);
  if (iso !== null) {
    reading.date = { year: Number(iso[1]), month: Number(iso[2]) - 1, day: Number(iso[3]) };
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
  reading.date = {
    year: named[5] === undefined ? undefined : Number(named[5]),
    month,
    day: Number(named[1] ?? named[4]),
  };
  return text.slice(named[0].length);
}

function momentOf({ days, thisWeek, date, minutes, seconds: written = 0 }: Reading, now: number): number | undefined {
  const today = new Date(now);
  const seconds =
    minutes === undefined
      ? today.getHours() * 3600 + today.getMinutes() * 60 + today.getSeconds()
      : minutes * 60 + written;
  const on = (year: number, month: number, day: number): number => new Date(year, month, day, 0, 0, seconds).getTime();
  if (date !== undefined) {
    const { year, month, day } = date;
    const moment = on(year ?? today.getFullYear(), month, day);
    if (new Date(moment).getMonth() !== month) return undefined;
    return year === undefined && moment <= now ? on(today.getFullYear() + 1, month, day) : moment;
  }
  const after = (ahead: number): number => on(today.getFullYear(), today.getMonth(), today.getDate() + ahead);
  if (days === undefined) return minutes === undefined ? undefined : after(after(0) > now ? 0 : 1);
  const moment = after(days);
  if (moment > now) return moment;
  if (thisWeek === true) return after(days + 7);
  return after(days + 1);
}
