const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const months = [
  ...['', 'January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
];
const short: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
};

/** A rule that can be read, in English words: `30 8 * * 1-5` is "Monday to Friday at 08:30". */
export function ruleWords(rule: string): string {
  const fields = (short[rule.toLowerCase()] ?? rule).trim().toUpperCase().replaceAll('?', '*').split(/\s+/);
  const [minute = '*', hour = '*', day = '*', month = '*', weekday = '*'] = fields;
  const days = daysOf(day, weekday);
  const inMonths = month === '*' ? '' : ` in ${list(month, (text) => nameOf(text, months))}`;
  const words = `${timesOf(minute, hour, days)}${inMonths}`;
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

function timesOf(minute: string, hour: string, days: string): string {
  const on = days === '' ? '' : `, ${days}`;
  if (/^[\d,]+$/.test(minute) && /^[\d,]+$/.test(hour)) {
    const times = hour.split(',').flatMap((each) => minute.split(',').map((part) => `${two(each)}:${two(part)}`));
    return `${days === '' ? 'every day' : days} at ${joined(times)}`;
  }
  const step = stepOf(minute);
  const minutes =
    minute === '*' || step === 1
      ? 'every minute'
      : step !== undefined
        ? `every ${String(step)} minutes`
        : `at minute ${list(minute, plainNumber)}`;
  if (hour === '*') {
    if (minute === '0') return `every hour, on the hour${on}`;
    return (/^[\d,-]+$/.test(minute) ? `every hour ${minutes}` : minutes) + on;
  }
  const hours = stepOf(hour);
  if (hours !== undefined) {
    if (/^\d+$/.test(minute)) return `every ${hours === 1 ? 'hour' : `${String(hours)} hours`}${at(minute)}${on}`;
    return `${minutes} in every ${ordinal(hours)} hour${on}`;
  }
  return `${minutes} in the hours ${list(hour, plainNumber)}${on}`;
}

function at(minute: string): string {
  return minute === '0' ? ', on the hour' : ` at minute ${minute}`;
}

function daysOf(day: string, weekday: string): string {
  const both = [day === '*' ? '' : dayWords(day), weekday === '*' ? '' : weekdayWords(weekday)];
  // As in cron: with both, one of them is enough.
  return both.filter((words) => words !== '').join(' or ');
}

function dayWords(day: string): string {
  if (day === 'L') return 'the last day of each month';
  if (day === 'LW') return 'the last working day of each month';
  const step = stepOf(day);
  if (step !== undefined) return `every ${ordinal(step)} day of the month`;
  if (/^\d+W$/.test(day)) return `the working day next to the ${ordinal(Number.parseInt(day, 10))} of each month`;
  return `the ${list(day, (text) => ordinal(Number(text)))} of each month`;
}

function weekdayWords(weekday: string): string {
  const [, which = '', turn] = /^(\w+)#(\d|L)$/.exec(weekday) ?? [];
  if (turn !== undefined) {
    const place = turn === 'L' ? 'last' : ordinal(Number(turn));
    return `the ${place} ${nameOf(which, weekdays)} of each month`;
  }
  const words = list(weekday, (text) => nameOf(text, weekdays));
  return words.includes(' to ') ? words : `every ${words}`;
}

/** Names of a list with ranges. */
function list(field: string, name: (text: string) => string): string {
  const parts = field.split(',').map((part) => {
    const [range = '', step] = part.split('/');
    const [from = '', to] = range.split('-');
    const words = from === '*' ? 'all' : to === undefined ? name(from) : `${name(from)} to ${name(to)}`;
    return step === undefined ? words : `every ${ordinal(Number(step))} of ${words}`;
  });
  return joined(parts);
}

function joined(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1) ?? ''}`;
}

function nameOf(text: string, names: readonly string[]): string {
  if (/^\d+$/.test(text)) return names[Number(text)] ?? text;
  return names.find((name) => name !== '' && name.slice(0, 3).toUpperCase() === text.slice(0, 3)) ?? text;
}

function stepOf(field: string): number | undefined {
  const step = /^\*\/(\d+)$/.exec(field)?.[1];
  return step === undefined ? undefined : Number(step);
}

function plainNumber(text: string): string {
  return text;
}

function two(text: string): string {
  return text.padStart(2, '0');
}

function ordinal(count: number): string {
  const tens = count % 100;
  const ending = tens >= 11 && tens <= 13 ? 'th' : (['th', 'st', 'nd', 'rd'][count % 10] ?? 'th');
  return `${String(count)}${ending}`;
}
