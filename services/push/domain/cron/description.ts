import { findOwn } from '../../../contracts/find-own.ts';

const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const months = [
  ...['', 'January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
];
const shortForms: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
};

/** Describes a valid rule in English: `30 8 * * 1-5` is "Monday to Friday at 08:30". */
export function describeRecurrence(rule: string): string {
  const fields = (findOwn(shortForms, rule.toLowerCase()) ?? rule)
    .trim()
    .toUpperCase()
    .replaceAll('?', '*')
    .split(/\s+/);
  const [minute = '*', hour = '*', day = '*', month = '*', weekday = '*'] = fields;
  const days = describeDays(day, weekday);
  const monthSuffix = month === '*' ? '' : ` in ${describeList(month, (text) => getName(text, months))}`;
  const description = `${describeTimes(minute, hour, days)}${monthSuffix}`;
  return description.slice(0, 1).toUpperCase() + description.slice(1);
}

function describeTimes(minute: string, hour: string, days: string): string {
  const daySuffix = days === '' ? '' : `, ${days}`;
  if (/^[\d,]+$/.test(minute) && /^[\d,]+$/.test(hour)) {
    const times = hour
      .split(',')
      .flatMap((each) => minute.split(',').map((part) => `${padHour(each)}:${padHour(part)}`));
    return `${days === '' ? 'every day' : days} at ${joinNames(times)}`;
  }
  const step = parseStep(minute);
  const minutes =
    minute === '*' || step === 1
      ? 'every minute'
      : step !== undefined
        ? `every ${String(step)} minutes`
        : `at minute ${describeList(minute, identity)}`;
  if (hour === '*') {
    if (minute === '0') return `every hour, on the hour${daySuffix}`;
    return (/^[\d,-]+$/.test(minute) ? `every hour ${minutes}` : minutes) + daySuffix;
  }
  const hourStep = parseStep(hour);
  if (hourStep !== undefined) {
    if (/^\d+$/.test(minute))
      return `every ${hourStep === 1 ? 'hour' : `${String(hourStep)} hours`}${describeMinute(minute)}${daySuffix}`;
    return `${minutes} in every ${formatOrdinal(hourStep)} hour${daySuffix}`;
  }
  return `${minutes} in the hours ${describeList(hour, identity)}${daySuffix}`;
}

function describeMinute(minute: string): string {
  return minute === '0' ? ', on the hour' : ` at minute ${minute}`;
}

function describeDays(day: string, weekday: string): string {
  const descriptions = [day === '*' ? '' : describeDayOfMonth(day), weekday === '*' ? '' : describeWeekday(weekday)];
  // When both fields are set, cron requires only one of them to match.
  return descriptions.filter((description) => description !== '').join(' or ');
}

function describeDayOfMonth(day: string): string {
  if (day === 'L') return 'the last day of each month';
  if (day === 'LW') return 'the last working day of each month';
  const step = parseStep(day);
  if (step !== undefined) return `every ${formatOrdinal(step)} day of the month`;
  if (/^\d+W$/.test(day)) return `the working day next to the ${formatOrdinal(Number.parseInt(day, 10))} of each month`;
  return `the ${describeList(day, (text) => formatOrdinal(Number(text)))} of each month`;
}

function describeWeekday(weekday: string): string {
  const [, weekdayName = '', occurrence] = /^(\w+)#(\d|L)$/.exec(weekday) ?? [];
  if (occurrence !== undefined) {
    const occurrenceLabel = occurrence === 'L' ? 'last' : formatOrdinal(Number(occurrence));
    return `the ${occurrenceLabel} ${getName(weekdayName, weekdays)} of each month`;
  }
  const description = describeList(weekday, (text) => getName(text, weekdays));
  return description.includes(' to ') ? description : `every ${description}`;
}

/** Describes a list with ranges. */
function describeList(field: string, formatName: (text: string) => string): string {
  const parts = field.split(',').map((part) => {
    const [range = '', step] = part.split('/');
    const [from = '', to] = range.split('-');
    const description =
      from === '*' ? 'all' : to === undefined ? formatName(from) : `${formatName(from)} to ${formatName(to)}`;
    return step === undefined ? description : `every ${formatOrdinal(Number(step))} of ${description}`;
  });
  return joinNames(parts);
}

function joinNames(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1) ?? ''}`;
}

function getName(text: string, names: readonly string[]): string {
  if (/^\d+$/.test(text)) return names[Number(text)] ?? text;
  return (
    names.find((formatName) => formatName !== '' && formatName.slice(0, 3).toUpperCase() === text.slice(0, 3)) ?? text
  );
}

function parseStep(field: string): number | undefined {
  const step = /^\*\/(\d+)$/.exec(field)?.[1];
  return step === undefined ? undefined : Number(step);
}

function identity(text: string): string {
  return text;
}

function padHour(text: string): string {
  return text.padStart(2, '0');
}

function formatOrdinal(count: number): string {
  const tens = count % 100;
  const suffix = tens >= 11 && tens <= 13 ? 'th' : (['th', 'st', 'nd', 'rd'][count % 10] ?? 'th');
  return `${String(count)}${suffix}`;
}
