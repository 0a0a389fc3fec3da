/** Rate that applies from a minute of the week; minute 0 is Sunday 00:00. */
interface Slot {
  readonly minute: number;
  readonly rate: string;
}

const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const minutesOfDay = 24 * 60;
const entry = /(?:(sun|mon|tue|wed|thu|fri|sat)-)?(\d\d):(\d\d),(\S+)/gi;

/**
 * Returns the rate of rclone's `--bwlimit` that applies at a time: a fixed rate such as `2M` or `1M:500k`, or the current
 * entry of a timetable such as `08:00,512k 23:00,off`. Returns `off` without a limit.
 */
export function rateAt(bandwidth: string, now: Date): string {
  const text = bandwidth.trim();
  if (text === '') return 'off';
  const slots = readSlots(text);
  if (slots.length === 0) return text;
  const minute = now.getDay() * minutesOfDay + now.getHours() * 60 + now.getMinutes();
  // Before the first entry of the week, the last entry of the previous week applies.
  return (slots.findLast((slot) => slot.minute <= minute) ?? slots.at(-1))?.rate ?? 'off';
}

function readSlots(text: string): readonly Slot[] {
  return [...text.matchAll(entry)]
    .flatMap(([, day, hours, minutes, rate = 'off']) => {
      const ofDay = Number(hours) * 60 + Number(minutes);
      const onDays = day === undefined ? days.keys() : [days.indexOf(day.toLowerCase())];
      return [...onDays].map((index) => ({ minute: index * minutesOfDay + ofDay, rate }));
    })
    .toSorted((one, other) => one.minute - other.minute);
}
