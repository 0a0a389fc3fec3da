/** Rate that applies from a minute of the week; minute 0 is Sunday 00:00. */
interface TimetableEntry {
  readonly minute: number;
  readonly rate: string;
}

const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const minutesPerDay = 24 * 60;
const entryPattern = /(?:(sun|mon|tue|wed|thu|fri|sat)-)?(\d\d):(\d\d),(\S+)/gi;

/**
 * Returns the rate of rclone's `--bwlimit` that applies at a time: a fixed rate such as `2M` or `1M:500k`, or the current
 * entry of a timetable such as `08:00,512k 23:00,off`. Returns `off` without a limit.
 */
export function getRate(bandwidth: string, now: Date): string {
  const text = bandwidth.trim();
  if (text === '') return 'off';
  const entries = parseTimetable(text);
  if (entries.length === 0) return text;
  const minute = now.getDay() * minutesPerDay + now.getHours() * 60 + now.getMinutes();
  // Before the first entry of the week, the last entry of the previous week applies.
  return (entries.findLast((slot) => slot.minute <= minute) ?? entries.at(-1))?.rate ?? 'off';
}

function parseTimetable(text: string): readonly TimetableEntry[] {
  return [...text.matchAll(entryPattern)]
    .flatMap(([, day, hours, minutes, rate = 'off']) => {
      const minuteOfDay = Number(hours) * 60 + Number(minutes);
      const dayIndexes = day === undefined ? days.keys() : [days.indexOf(day.toLowerCase())];
      return [...dayIndexes].map((index) => ({ minute: index * minutesPerDay + minuteOfDay, rate }));
    })
    .toSorted((one, other) => one.minute - other.minute);
}
