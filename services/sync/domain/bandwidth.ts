/** A rate that holds from a minute of the week on; 0 is Sunday 00:00. */
interface Slot {
  readonly minute: number;
  readonly rate: string;
}

const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const minutesOfDay = 24 * 60;
const entry = /(?:(sun|mon|tue|wed|thu|fri|sat)-)?(\d\d):(\d\d),(\S+)/gi;

/**
 * Returns the rate of rclone's `--bwlimit` that holds at a time: the only one of `2M` or `1M:500k`, or that of the slot of
 * a timetable such as `08:00,512k 23:00,off`. Without a limit it is `off`.
 */
export function rateAt(bandwidth: string, now: Date): string {
  const text = bandwidth.trim();
  if (text === '') return 'off';
  const slots = readSlots(text);
  if (slots.length === 0) return text;
  const minute = now.getDay() * minutesOfDay + now.getHours() * 60 + now.getMinutes();
  // Before the first slot of the week the last one of the week before holds.
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
