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

/** Elements of Go's reference time, longer ones first, so that none matches the prefix of another. */
const elementPattern = new RegExp(
  [
    'January',
    'Jan(?![a-z])',
    'Monday',
    'Mon(?![a-z])',
    'MST',
    '002',
    '0[1-6]',
    '15',
    '1',
    '2006',
    '2',
    '__2',
    '_2(?!006)',
    '3',
    '4',
    '5',
    'PM',
    'pm',
    '[-Z]07(?:0000|:00:00|00|:00)?',
    String.raw`[.,](?:0+|9+)(?!\d)`,
  ].join('|'),
  'g',
);

/** Splits a layout into literal texts, each followed by an element, if any. */
export function splitLayout(layout: string): readonly { readonly text: string; readonly part: string }[] {
  const pieces = [];
  let index = 0;
  for (const match of layout.matchAll(elementPattern)) {
    pieces.push({ text: layout.slice(index, match.index), part: match[0] });
    index = match.index + match[0].length;
  }
  pieces.push({ text: layout.slice(index), part: '' });
  return pieces;
}

/** Formats a time with a Go layout, whose reference time is `Mon Jan 2 15:04:05 MST 2006`. */
export function formatMoment(moment: Moment, layout: string): string {
  const civil = moment.civil();
  return splitLayout(layout)
    .map(({ text, part }) => text + (part === '' ? '' : formatElement(part, civil)))
    .join('');
}

function pad(value: number, width: number, fill = '0'): string {
  return value < 0 ? `-${String(-value).padStart(width, fill)}` : String(value).padStart(width, fill);
}

function formatElement(part: string, civil: Civil): string {
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
      return pad(civil.year, 4);
    case '06':
      return pad(Math.abs(civil.year) % 100, 2);
    case '01':
      return pad(civil.month, 2);
    case '1':
      return String(civil.month);
    case '02':
      return pad(civil.day, 2);
    case '_2':
      return pad(civil.day, 2, ' ');
    case '2':
      return String(civil.day);
    case '002':
      return pad(civil.yearDay, 3);
    case '__2':
      return pad(civil.yearDay, 3, ' ');
    case '15':
      return pad(civil.hour, 2);
    case '03':
      return pad(hour, 2);
    case '3':
      return String(hour);
    case '04':
      return pad(civil.minute, 2);
    case '4':
      return String(civil.minute);
    case '05':
      return pad(civil.second, 2);
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
        ? formatFraction(part, civil.nanosecond)
        : formatOffset(part, civil.offset);
  }
}

function formatFraction(part: string, nanosecond: number): string {
  const digits = pad(nanosecond, 9)
    .padEnd(part.length - 1, '0')
    .slice(0, part.length - 1);
  if (part.charAt(1) === '0') return part.charAt(0) + digits;
  const trimmed = digits.replace(/0+$/, '');
  return trimmed === '' ? '' : part.charAt(0) + trimmed;
}

/** Formats an offset such as `-07:00`; with a leading Z, the letter is used for UTC. */
function formatOffset(part: string, seconds: number): string {
  if (part.startsWith('Z') && seconds === 0) return 'Z';
  const size = Math.abs(seconds);
  const [hours, minutes, rest] = [Math.floor(size / 3600), Math.floor(size / 60) % 60, size % 60].map((value) =>
    pad(value, 2),
  );
  const separator = part.includes(':') ? ':' : '';
  const digits = part.replaceAll(/\D/g, '').length;
  return [`${seconds < 0 ? '-' : '+'}${hours ?? ''}`, minutes, rest].slice(0, digits / 2).join(separator);
}
