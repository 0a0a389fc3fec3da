import { RunFault } from './arguments.ts';
import { textOf, type Value } from './values.ts';

const months = [
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
];
const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
/** The parts of Go's reference time, longest first, so that none is taken for the beginning of another. */
const parts = /January|Jan|Monday|Mon|2006|Z07:00|-07:00|-0700|MST|01|02|03|04|05|06|15|PM|pm|\.0+|_2|1|2|3|4|5/g;

/**
 * A time in the layout of Go, whose reference is `Mon Jan 2 15:04:05 MST 2006`; a number is unix seconds, a text a date as
 * JSON has it. In the server's own time zone.
 *
 * @throws RunFault for what is no time
 */
export function formatDate(layout: string, value: Value): string {
  const date = new Date(typeof value === 'number' ? value * 1000 : textOf(value, ''));
  if (Number.isNaN(date.getTime())) throw new RunFault(`cannot read ${JSON.stringify(textOf(value))} as a time`);
  return layout.replace(parts, (part) => write(part, date));
}

function write(part: string, date: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const hour = date.getHours() % 12 === 0 ? 12 : date.getHours() % 12;
  switch (part) {
    case 'January':
      return months[date.getMonth()] ?? '';
    case 'Jan':
      return (months[date.getMonth()] ?? '').slice(0, 3);
    case 'Monday':
      return days[date.getDay()] ?? '';
    case 'Mon':
      return (days[date.getDay()] ?? '').slice(0, 3);
    case '2006':
      return String(date.getFullYear());
    case '06':
      return two(date.getFullYear() % 100);
    case '01':
      return two(date.getMonth() + 1);
    case '1':
      return String(date.getMonth() + 1);
    case '02':
      return two(date.getDate());
    case '_2':
      return String(date.getDate()).padStart(2);
    case '2':
      return String(date.getDate());
    case '15':
      return two(date.getHours());
    case '03':
      return two(hour);
    case '3':
      return String(hour);
    case '04':
      return two(date.getMinutes());
    case '4':
      return String(date.getMinutes());
    case '05':
      return two(date.getSeconds());
    case '5':
      return String(date.getSeconds());
    case 'PM':
      return date.getHours() < 12 ? 'AM' : 'PM';
    case 'pm':
      return date.getHours() < 12 ? 'am' : 'pm';
    case 'MST':
      return (
        new Intl.DateTimeFormat('en', { timeZoneName: 'short' })
          .formatToParts(date)
          .find(({ type }) => type === 'timeZoneName')?.value ?? ''
      );
    case 'Z07:00':
      return date.getTimezoneOffset() === 0 ? 'Z' : zone(date, ':');
    case '-07:00':
      return zone(date, ':');
    case '-0700':
      return zone(date, '');
    default:
      return `.${String(date.getMilliseconds())
        .padStart(3, '0')
        .padEnd(part.length - 1, '0')
        .slice(0, part.length - 1)}`;
  }
}

function zone(date: Date, between: string): string {
  const minutes = -date.getTimezoneOffset();
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(Math.abs(minutes) / 60))}${between}${two(Math.abs(minutes) % 60)}`;
}
