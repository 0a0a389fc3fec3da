import type { Civil, Moment } from './moment.ts';

export const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const;
export const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;

/** The parts of Go's reference time, the longer ones first, so that none is taken for the beginning of another. */
const parts =
  /January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|002|0[1-6]|15|1|2006|2|__2|_2(?!006)|3|4|5|PM|pm|[-Z]07(?:0000|:00:00|00|:00)?|[.,](?:0+|9+)(?!\d)/g;

/** A layout in pieces: each a text that stands for itself and the part that follows it, if any. */
export function piecesOf(layout: string): readonly { readonly text: string; readonly part: string }[] {
  const pieces = [];
  let at = 0;
  for (const found of layout.matchAll(parts)) {
    pieces.push({ text: layout.slice(at, found.index), part: found[0] });
    at = found.index + found[0].length;
  }
  pieces.push({ text: layout.slice(at), part: '' });
  return pieces;
}

/** A time in the layout of Go, whose reference is `Mon Jan 2 15:04:05 MST 2006`. */
export function formatMoment(moment: Moment, layout: string): string {
  const civil = moment.civil();
  return piecesOf(layout)
    .map(({ text, part }) => text + (part === '' ? '' : write(part, civil)))
    .join('');
}

function padded(value: number, width: number, by = '0'): string {
  return value < 0 ? `-${String(-value).padStart(width, by)}` : String(value).padStart(width, by);
}

function write(part: string, civil: Civil): string {
  const hour = civil.hour % 12 === 0 ? 12 : civil.hour % 12;
  switch (part) {
    case 'January':
      return months[civil.month - 1] ?? '';
    case 'Jan':
      return (months[civil.month - 1] ?? '').slice(0, 3);
    case 'Monday':
      return days[civil.weekday] ?? '';
    case 'Mon':
      return (days[civil.weekday] ?? '').slice(0, 3);
    case '2006':
      return padded(civil.year, 4);
    case '06':
      return padded(Math.abs(civil.year) % 100, 2);
    case '01':
      return padded(civil.month, 2);
    case '1':
      return String(civil.month);
    case '02':
      return padded(civil.day, 2);
    case '_2':
      return padded(civil.day, 2, ' ');
    case '2':
      return String(civil.day);
    case '002':
      return padded(civil.yearDay, 3);
    case '__2':
      return padded(civil.yearDay, 3, ' ');
    case '15':
      return padded(civil.hour, 2);
    case '03':
      return padded(hour, 2);
    case '3':
      return String(hour);
    case '04':
      return padded(civil.minute, 2);
    case '4':
      return String(civil.minute);
    case '05':
      return padded(civil.second, 2);
    case '5':
      return String(civil.second);
    case 'PM':
      return civil.hour < 12 ? 'AM' : 'PM';
    case 'pm':
      return civil.hour < 12 ? 'am' : 'pm';
    case 'MST':
      return civil.abbreviation;
    default:
      return part.startsWith('.') || part.startsWith(',')
        ? fraction(part, civil.nanosecond)
        : offset(part, civil.offset);
  }
}

function fraction(part: string, nanosecond: number): string {
  const digits = padded(nanosecond, 9)
    .padEnd(part.length - 1, '0')
    .slice(0, part.length - 1);
  if (part.charAt(1) === '0') return part.charAt(0) + digits;
  const short = digits.replace(/0+$/, '');
  return short === '' ? '' : part.charAt(0) + short;
}

/** `-07:00` and its like; with a Z in front that letter stands for no offset. */
function offset(part: string, seconds: number): string {
  if (part.startsWith('Z') && seconds === 0) return 'Z';
  const size = Math.abs(seconds);
  const [hours, minutes, rest] = [Math.floor(size / 3600), Math.floor(size / 60) % 60, size % 60].map((each) =>
    padded(each, 2),
  );
  const between = part.includes(':') ? ':' : '';
  const digits = part.replaceAll(/\D/g, '').length;
  return [`${seconds < 0 ? '-' : '+'}${hours ?? ''}`, minutes, rest].slice(0, digits / 2).join(between);
}
